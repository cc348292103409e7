// Hints to the processor about the memory that comes next.
#ifndef GOTRACE_PARSER_PREFETCH_H_
#define GOTRACE_PARSER_PREFETCH_H_

namespace gotrace {

// Lets the processor fetch the cache line of `address`, which may be any, for writing. What another
// core read last is slow to write otherwise: it has to be taken away from that core first.
inline void PrefetchForWrite(const void* address) {
#if defined(__x86_64__)
  // The builtin gives this only where the compiler may use instructions of later processors. Those
  // that do not know it take it for a nop.
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, /*rw=*/1);
#endif
}

}  // namespace gotrace

#endif  // GOTRACE_PARSER_PREFETCH_H_
