// Hints to the processor about the memory that comes next.
#ifndef GOTRACE_UTIL_PREFETCH_H_
#define GOTRACE_UTIL_PREFETCH_H_

#include <cstddef>
#include <cstdint>

namespace gotrace::internal {

// Lets the processor fetch the cache line `distance` bytes behind `address` for writing, be there
// memory or not: to ask costs more. What another core read last is slow to write otherwise: it has
// to be taken away from that core first.
inline void PrefetchForWrite(const void* address, size_t distance) {
  const auto* const line =
      reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(address) + distance);
#if defined(__x86_64__)
  // The builtin gives this only where the compiler may use instructions of later processors. Those
  // that do not know it take it for a nop.
  asm volatile("prefetchw %0" ::"m"(*line));
#else
  __builtin_prefetch(line, /*rw=*/1);
#endif
}

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_PREFETCH_H_
