// The traces that benchmarks read, and the numbers that they report.
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

// Removes Google Benchmark's flags, and returns the traces at the remaining paths; if there are
// none, real traces of testdata/traces and synthetic ones. Ends the program if a file cannot be
// read. The traces have static lifetime.
const std::vector<BenchTrace>& TakeBenchTraces(int argc, char** argv);

// Registers NAME/TRACE for each trace. `run` does all of the work on `bytes` once for each
// iteration of the state, and reports its size with SetCounters().
using BenchFunction = std::function<void(benchmark::State& state, const std::string& bytes)>;
void RegisterForAll(const std::vector<BenchTrace>& traces, const std::string& name,
                    const BenchFunction& run);

// Makes the benchmark report the events and bytes per second as items_per_second and
// bytes_per_second. Takes the numbers of one iteration; 0 is not reported.
void SetCounters(benchmark::State& state, uint64_t events, uint64_t bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_BENCH_TRACES_H_
