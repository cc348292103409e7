// Measures how many bytes are allocated, for tests of bounds on memory.
#ifndef GOTRACE_TESTING_MEMORY_METER_H_
#define GOTRACE_TESTING_MEMORY_METER_H_

#include <cstdint>

namespace gotrace::internal {

// Counts what this process allocates after the construction of this object, in any library: with
// malloc() and its variants, and so with operator new. There may be only one MemoryMeter at a time.
class MemoryMeter {
 public:
  MemoryMeter();

  // Returns the maximum number of bytes allocated at a time, except for those allocated before the
  // construction of this object.
  uint64_t peak() const;

 private:
  const int64_t base_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_MEMORY_METER_H_
