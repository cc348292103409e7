// Tells of a fault of reading what a user can do something about.
#ifndef GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_
#define GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_

#include <cstdint>
#include <string>

#include "gotrace/fault.h"
#include "gotrace/finding.h"
#include "validator/shown_source.h"

namespace gotrace::internal {

// The finding for `fault`, which `source` showed the bytes of unless it is nullptr: a second trace
// or text that stands there, or else the fault itself. Where the trace was cut off the message says
// so.
Finding ExplainFault(const Fault& fault, const ShownSource* source);

// The limit that an input of `size` bytes, which ends where it should not, seems to have run into:
// "64 KiB", "3 MiB", "1000000 bytes"; "" if it is no round number.
std::string SizeLimitOf(uint64_t size);

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_EXPLAIN_FAULT_H_
