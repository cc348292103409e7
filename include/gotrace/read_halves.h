// Reads the two halves of a trace at once, for programs that can use the events of both so.
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

// Takes the next events, which are good until it returns. Must not throw.
using TakeEvents = std::function<void(absl::Span<const Event>)>;

// Gives all events of `source`, which must stand at its beginning, and returns the status that a
// Reader in strict mode ends with, whatever options.mode is.
//
// Where options.jobs allows for two cores and SplitTrace::Find() finds halves of
// options.jobs_from_bytes, `first` takes the events of the first half while `second`, on a thread
// of its own, takes those of the second one: see SplitTrace for what the latter may tell less of.
// If the second half turns out to be something else than what follows the first one, or to have a
// fault, `drop_second` is called on the caller's thread, and `first` takes the rest, as if `second`
// had never taken any. Everywhere else `first` takes all. What both took is then all events, in
// order. options.on_generation_end is not called.
absl::Status ReadHalves(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                        const TakeEvents& first, const TakeEvents& second,
                        const std::function<void()>& drop_second);

}  // namespace gotrace

#endif  // GOTRACE_READ_HALVES_H_
