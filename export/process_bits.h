// Makes the ids in files of different processes distinct, so that such files can be joined.
#ifndef GOTRACE_EXPORT_PROCESS_BITS_H_
#define GOTRACE_EXPORT_PROCESS_BITS_H_

#include <cstdint>

namespace gotrace::internal {

// Returns the value that is combined, by exclusive or, with ids of `bits` bits in the file of the
// process `pid`: 0 for process 1. Since ids and the differences between pids are mostly small, the
// bits of the pid are reversed: ids of two processes are different as long as they are smaller than
// 2^bits divided by the first power of two above both pids.
constexpr uint64_t ProcessBits(uint64_t pid, int bits) {
  uint64_t reversed = 0;
  for (int i = 0; i < bits; ++i) reversed |= ((pid - 1) >> i & 1) << (bits - 1 - i);
  return reversed;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PROCESS_BITS_H_
