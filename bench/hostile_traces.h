// Traces that no program writes, made to cost a reader more than their size is worth.
#ifndef GOTRACE_BENCH_HOSTILE_TRACES_H_
#define GOTRACE_BENCH_HOSTILE_TRACES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace gotrace::internal {

struct HostileTrace {
  const char* name;
  // The bytes of the trace, whose size is in proportion to `count`.
  std::string (*make)(uint64_t count);
};

// Every kind of them. Static lifetime.
absl::Span<const HostileTrace> HostileTraces();

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_HOSTILE_TRACES_H_
