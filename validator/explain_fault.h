// Explains faults of reading in terms that a user can act on.
#ifndef GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_
#define GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_

#include <cstdint>
#include <string>

#include "gotrace/fault.h"
#include "gotrace/finding.h"
#include "validator/retaining_source.h"

namespace gotrace::internal {

// Returns the finding for `fault`: a second trace or text at that place, if there is any in the
// bytes of `source`; otherwise the fault itself. `source` may be nullptr. If the trace is cut off
// at a round size, the message says so.
Finding ExplainFault(const Fault& fault, const RetainingSource* source);

// Returns the size limit that seems to have cut off an input of `size` bytes: "64 KiB", "3 MiB",
// "1000000 bytes"; "" if `size` is not a round number.
std::string SizeLimitOf(uint64_t size);

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_
