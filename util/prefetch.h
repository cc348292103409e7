// Hints to the processor about memory that will be used soon.
#ifndef GOTRACE_UTIL_PREFETCH_H_
#define GOTRACE_UTIL_PREFETCH_H_

#include <cstddef>
#include <cstdint>

namespace gotrace::internal {

// Asks the processor to fetch the cache line `distance` bytes after `address` for writing. The
// address need not be valid; checking it would cost more. Without this, writing to a line that
// another core read last is slow, because the line must first be taken from that core.
inline void PrefetchForWrite(const void* address, size_t distance) {
  const auto* const line =
      reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(address) + distance);
#if defined(__x86_64__)
  // __builtin_prefetch emits this instruction only when compiling for newer processors. Processors
  // that do not support it treat it as a nop.
  asm volatile("prefetchw %0" ::"m"(*line));
#else
  __builtin_prefetch(line, /*rw=*/1);
#endif
}

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_PREFETCH_H_
