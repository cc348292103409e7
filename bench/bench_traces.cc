#include "bench/bench_traces.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bench/passes.h"
#include "bench/synthetic_traces.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace {

std::string Make(int threads, uint64_t goroutines, uint64_t generations, uint64_t events) {
  SyntheticTraceOptions options;
  options.threads = threads;
  options.goroutines = goroutines;
  options.generations = generations;
  options.events = events;
  return MakeTrace(options);
}

std::vector<BenchTrace> StandardTraces() {
  std::vector<BenchTrace> traces;
  for (const char* name : {"go1.22-gc", "go1.27-gc", "go1.27-threads", "go1.27-alloc"}) {
    traces.push_back({name, ReadTestTrace(absl::StrCat(name, ".trace"))});
  }
  for (const int threads : {2, 16, 128, 1024}) {
    traces.push_back({absl::StrCat("threads:", threads), Make(threads, 10'000, 1, 500'000)});
  }
  traces.push_back({"goroutines:1000000", Make(16, 1'000'000, 1, 500'000)});
  for (const int generations : {1, 4, 16, 64}) {
    traces.push_back({absl::StrCat("generations:", generations),
                      Make(16, 1000, static_cast<uint64_t>(generations), 20'000)});
  }
  SyntheticTraceOptions skewed;
  skewed.threads = 16;
  skewed.events = 500'000;
  skewed.skew = 101;
  traces.push_back({"skew:101", MakeTrace(skewed)});
  return traces;
}

std::vector<BenchTrace> TracesOf(int argc, char** argv) {
  std::vector<BenchTrace> traces;
  for (int i = 1; i < argc; ++i) {
    absl::StatusOr<std::string> bytes = ReadWholeFile(argv[i]);
    if (!bytes.ok()) {
      std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str());
      std::exit(1);
    }
    traces.push_back({argv[i], *std::move(bytes)});
  }
  return traces;
}

}  // namespace

const std::vector<BenchTrace>& TakeBenchTraces(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  static const auto* const traces =
      new std::vector<BenchTrace>(argc > 1 ? TracesOf(argc, argv) : StandardTraces());
  return *traces;
}

void RegisterForAll(const std::vector<BenchTrace>& traces, const std::string& name,
                    const BenchFunction& run) {
  for (const BenchTrace& trace : traces) {
    benchmark::RegisterBenchmark(
        absl::StrCat(name, "/", trace.name).c_str(),
        [&trace, run](benchmark::State& state) { run(state, trace.bytes); })
        ->Unit(benchmark::kMillisecond);
  }
}

void SetCounters(benchmark::State& state, uint64_t events, uint64_t bytes) {
  const int64_t iterations = static_cast<int64_t>(state.iterations());
  if (events > 0) state.SetItemsProcessed(iterations * static_cast<int64_t>(events));
  if (bytes > 0) state.SetBytesProcessed(iterations * static_cast<int64_t>(bytes));
}

}  // namespace gotrace::internal
