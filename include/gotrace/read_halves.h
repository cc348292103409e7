// Reads both halves of a trace at the same time, for programs that can process them independently.
#ifndef GOTRACE_READ_HALVES_H_
#define GOTRACE_READ_HALVES_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/read_mode.h"

namespace gotrace {

// Receives the next events, which are valid until it returns. Must not throw.
using TakeEvents = std::function<void(absl::Span<const Event>)>;

// Reads all events of `source`, which must be positioned at its beginning. Returns the final status
// of a Reader in strict mode, whatever options.mode is.
//
// If options.jobs allows two cores, and SplitTrace::Find() finds halves of options.jobs_from_bytes,
// `first` gets the events of the first half while `second`, on another thread, gets those of the
// second half, some of whose details may be missing: see SplitTrace. If the second half does not
// continue the first one after all, or has a fault, `drop_second` is called on the caller's thread,
// and `first` gets the rest, as if `second` had never been called. Otherwise `first` gets all
// events. Together, the two get all events in order. options.on_generation_end is not called.
absl::Status ReadHalves(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                        const TakeEvents& first, const TakeEvents& second,
                        const std::function<void()>& drop_second);

}  // namespace gotrace

#endif  // GOTRACE_READ_HALVES_H_
