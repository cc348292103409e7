// Traces that have much of one thing, one for each quantity of the format.
#ifndef GOTRACE_BENCH_QUANTITY_TRACES_H_
#define GOTRACE_BENCH_QUANTITY_TRACES_H_

#include "absl/types/span.h"
#include "bench/hostile_traces.h"

namespace gotrace::internal {

// Returns them all. They are sound, and have static lifetime.
absl::Span<const HostileTrace> QuantityTraces();

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_QUANTITY_TRACES_H_
