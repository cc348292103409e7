// Traces that no program writes, designed to be expensive to read for their size.
#ifndef GOTRACE_BENCH_HOSTILE_TRACES_H_
#define GOTRACE_BENCH_HOSTILE_TRACES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace gotrace::internal {

struct HostileTrace {
  const char* name;
  // Returns the bytes of the trace, whose size is in proportion to `count`.
  std::string (*make)(uint64_t count);
};

// Returns all hostile traces. They have static lifetime.
absl::Span<const HostileTrace> HostileTraces();

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_HOSTILE_TRACES_H_
