// Counts the bytes of each event type, with a callback for progress.
#ifndef GOTRACE_ANALYSIS_SUMMARY_FOOTPRINT_H_
#define GOTRACE_ANALYSIS_SUMMARY_FOOTPRINT_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/trace_info.h"
#include "parser/framing/raw_reader.h"

namespace gotrace::internal {

// Called after each event or batch, with the source of the bytes and the number of events so far.
using FootprintProgress = absl::FunctionRef<void(const ByteSource& source, uint64_t events)>;

// Counts the raw events of `reader` in `*footprint`. Returns the failure of reading, if any, and
// also stores it in `footprint->status`; everything before it is counted.
absl::Status CollectFootprint(RawReader* reader, FootprintProgress progress, Footprint* footprint);

// The same for a trace that may be damaged: counts everything that can be read. `source` must be at
// the beginning of the trace. Reports faults to `on_fault`. Returns an error only if the header
// cannot be read, or on an I/O error.
absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              FootprintProgress progress, Footprint* footprint);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_FOOTPRINT_H_
