// Shortens the output of a repair.
#ifndef GOTRACE_REWRITE_KEEP_BEFORE_H_
#define GOTRACE_REWRITE_KEEP_BEFORE_H_

#include <cstdint>

#include "gotrace/fault.h"
#include "gotrace/repair.h"

namespace gotrace::internal {

// Returns the size of the piece in the output, in bytes.
inline uint64_t SizeOf(const RepairPiece& piece) {
  return piece.bytes.empty() ? piece.size : piece.bytes.size();
}

// Drops the generation of the output that has `fault`, found by reading the output, and all later
// generations. Drops the last one if the fault has no place.
void KeepBefore(const Fault& fault, RepairPlan* plan);

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_KEEP_BEFORE_H_
