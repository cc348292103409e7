// How many bytes the allocator has given out, for tests of what memory is bounded by.
#ifndef GOTRACE_TESTING_MEMORY_METER_H_
#define GOTRACE_TESTING_MEMORY_METER_H_

#include <cstdint>

namespace gotrace::internal {

// Counts from its making on what this process allocates, by whatever library: malloc() and its like
// are counted, and with them operator new. There may be one at a time.
class MemoryMeter {
 public:
  MemoryMeter();

  // The most bytes that were allocated at one time, besides those that were when it was made.
  uint64_t peak() const;

 private:
  const int64_t base_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_MEMORY_METER_H_
