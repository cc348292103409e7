// The traces that benchmarks run over, and the numbers that they report of them.
#ifndef GOTRACE_BENCH_BENCH_TRACES_H_
#define GOTRACE_BENCH_BENCH_TRACES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"

namespace gotrace::internal {

struct BenchTrace {
  std::string name;
  std::string bytes;
};

// Takes Google Benchmark's flags away, and returns the traces at the paths that are left; if none
// are, real traces of testdata/traces and made ones. Ends the program where a path cannot be read.
// They live for ever.
const std::vector<BenchTrace>& TakeBenchTraces(int argc, char** argv);

// Registers NAME/TRACE for each trace. `run` does all of the work on `bytes` once for each
// iteration of the state, and says what that was with SetCounters().
using BenchFunction = std::function<void(benchmark::State& state, const std::string& bytes)>;
void RegisterForAll(const std::vector<BenchTrace>& traces, const std::string& name,
                    const BenchFunction& run);

// Makes the benchmark report how many events and bytes are dealt with in a second, as
// items_per_second and bytes_per_second. The numbers are of one iteration; 0 is not reported.
void SetCounters(benchmark::State& state, uint64_t events, uint64_t bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_BENCH_TRACES_H_
