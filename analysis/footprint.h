// Adds up what takes how many bytes of a trace, for those who watch how far that has come.
#ifndef GOTRACE_ANALYSIS_FOOTPRINT_H_
#define GOTRACE_ANALYSIS_FOOTPRINT_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/trace_info.h"
#include "parser/framing/raw_reader.h"

namespace gotrace::internal {

// Called after each event or batch, with what the bytes come from and the number of events so far.
using FootprintProgress = absl::FunctionRef<void(const ByteSource& source, uint64_t events)>;

// Adds up the raw events of `reader` into `*footprint`. Returns the failure of reading, if any,
// which is then in `footprint->status` too; what comes before it is counted.
absl::Status CollectFootprint(RawReader* reader, FootprintProgress progress, Footprint* footprint);

// The same for a trace that may be damaged: counts what can be read of it. `source` must be at the
// beginning of the trace. Reports faults to `on_fault`; the status returned is for a header that
// cannot be read and for errors of I/O.
absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              FootprintProgress progress, Footprint* footprint);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_FOOTPRINT_H_
