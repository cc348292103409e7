// Reads a trace on several cores.
#ifndef GOTRACE_READ_PARALLEL_H_
#define GOTRACE_READ_PARALLEL_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_sink.h"
#include "gotrace/read_mode.h"

namespace gotrace {

// Reads `source`, which must be positioned at its beginning, into a sink that `make_sink` returns,
// finishes that sink, and stores it in `*result`. Returns the status of reading if it is not OK,
// and otherwise that of the sink's Finish().
//
// Uses up to options.jobs cores: it cuts the trace into as many segments of whole generations, none
// smaller than options.tuning.jobs_from_bytes, and reads each into a sink of its own. `make_sink`
// is called once for each segment, from several threads. These also call Add(), one thread at a
// time for each sink. StartInMiddle() is called for all sinks but the first. Then the sinks are
// merged, in order, on the calling thread. A segment is read again sequentially if it does not
// continue the previous one, if it has a fault, or if its sink wants no more events. So the result
// does not depend on the number of cores or segments. Reading ends once the first sink, into which
// the others are merged, wants no more events; by then it may have received up to a segment too
// much.
//
// An exception thrown by the sink of the first segment propagates to the caller, after all threads
// have ended. If another sink throws, its segment is read again sequentially.
//
// Memory holds all sinks, and a generation for each segment that is being read. The trace is read
// sequentially if its bytes can be read only once (see ByteSource::Fork()), if it has a single
// generation, or if any callback of `options` other than on_fault and keep_going is set. on_fault
// is called on the calling thread only.
absl::Status ReadParallel(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                          absl::FunctionRef<std::unique_ptr<MergeableSink>()> make_sink,
                          std::unique_ptr<MergeableSink>* result);

}  // namespace gotrace

#endif  // GOTRACE_READ_PARALLEL_H_
