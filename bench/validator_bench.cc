// How fast traces are read and judged, in events per second.
//
//   validator_bench [BENCHMARK FLAGS] [TRACE ...]
//
// Without a TRACE it takes one of testdata/traces. For numbers that can be compared on a busy
// machine let the benchmarks take turns, and look at the medians:
//
//   --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true
//   --benchmark_report_aggregates_only=true
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "parser/byte_source.h"
#include "parser/reader.h"
#include "testdata/test_data.h"
#include "validator/report.h"
#include "validator/validator.h"

namespace gotrace {
namespace {

// Reads `bytes` to their end, and counts the events of all runs.
template <class OnEvent>
void ReadAll(benchmark::State& state, const std::string& bytes, ReadMode mode,
             OnEvent on_event_maker) {
  uint64_t events = 0;
  for (auto _ : state) {
    ReaderOptions options;
    options.mode = mode;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
    if (!reader.ok()) return state.SkipWithError(reader.status().ToString().c_str());
    auto on_event = on_event_maker();
    while (const Event* event = reader->Next()) on_event(*event);
    if (!reader->status().ok()) return state.SkipWithError(reader->status().ToString().c_str());
    events += reader->event_count();
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
}

void ReadOnly(benchmark::State& state, const std::string& bytes, ReadMode mode) {
  ReadAll(state, bytes, mode,
          [] { return [](const Event& event) { benchmark::DoNotOptimize(&event); }; });
}

void ReadAndCheck(benchmark::State& state, const std::string& bytes, ReadMode mode) {
  uint64_t findings = 0;
  ReadAll(state, bytes, mode, [&findings] {
    auto validator = std::make_unique<Validator>(ValidatorOptions(),
                                                 [&findings](const Finding&) { ++findings; });
    return [validator = std::move(validator)](const Event& event) { validator->Check(event); };
  });
  benchmark::DoNotOptimize(findings);
}

void Report(benchmark::State& state, const std::string& bytes) {
  uint64_t events = 0;
  for (auto _ : state) {
    events += ValidateTrace(*SourceFromBytes(bytes), ValidateOptions()).events;
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
}

// `bytes` must outlive the run.
void Register(const std::string& name, const std::string& bytes) {
  const auto add = [&name](const char* what, auto function) {
    benchmark::RegisterBenchmark(absl::StrCat(what, "/", name).c_str(), function)
        ->Unit(benchmark::kMillisecond);
  };
  add("read_strict",
      [&bytes](benchmark::State& state) { ReadOnly(state, bytes, ReadMode::kStrict); });
  add("read_collect",
      [&bytes](benchmark::State& state) { ReadOnly(state, bytes, ReadMode::kCollect); });
  add("read_strict_and_check",
      [&bytes](benchmark::State& state) { ReadAndCheck(state, bytes, ReadMode::kStrict); });
  add("validate", [&bytes](benchmark::State& state) { Report(state, bytes); });
}

// All of the file at `path`, decompressed.
absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path);
  if (!source.ok()) return source.status();
  std::string bytes;
  while (true) {
    const absl::Status status = (*source)->Fill(1);
    if (!status.ok()) return status;
    const absl::string_view window = (*source)->window();
    if (window.empty()) return bytes;
    bytes.append(window.data(), window.size());
    (*source)->Skip(window.size());
    (*source)->Release((*source)->offset());
  }
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::pair<std::string, std::string>> traces;
  for (int i = 1; i < argc; ++i) {
    absl::StatusOr<std::string> bytes = ReadWhole(argv[i]);
    if (!bytes.ok()) return std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str()), 1;
    traces.emplace_back(argv[i], *std::move(bytes));
  }
  if (traces.empty()) traces.emplace_back("go1.27-gc", ReadTestTrace("go1.27-gc.trace"));
  for (const auto& [name, bytes] : traces) Register(name, bytes);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace gotrace

int main(int argc, char** argv) { return gotrace::Main(argc, argv); }
