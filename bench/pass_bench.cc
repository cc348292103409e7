// Measures how fast whole traces are decoded, read, validated, and formatted as text and JSON.
//
//   pass_bench [BENCHMARK FLAGS] [TRACE ...]
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/bench_traces.h"
#include "bench/passes.h"
#include "benchmark/benchmark.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "validator/event_validator.h"

namespace gotrace::internal {
namespace {

void Run(benchmark::State& state, const std::string& bytes, PassKind kind,
         const ReaderOptions& options) {
  PassCounts counts;
  for (auto _ : state) {
    const absl::StatusOr<PassCounts> result = RunPass(kind, *SourceFromBytes(bytes), options);
    if (!result.ok()) return state.SkipWithError(result.status().ToString().c_str());
    counts = *result;
  }
  SetCounters(state, counts.events, counts.bytes);
}

// Reads the same events in blocks.
void RunBlocks(benchmark::State& state, const std::string& bytes) {
  uint64_t events = 0;
  for (auto _ : state) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    if (!reader.ok()) return state.SkipWithError(reader.status().ToString().c_str());
    events = 0;
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      benchmark::DoNotOptimize(block.data());
      events += block.size();
    }
    if (!reader->status().ok()) {
      return state.SkipWithError(reader->status().ToString().c_str());
    }
  }
  SetCounters(state, events, bytes.size());
}

// Measures the cost of validating, in addition to reading in a mode that continues after faults.
void RunValidator(benchmark::State& state, const std::string& bytes) {
  uint64_t events = 0;
  uint64_t findings = 0;
  for (auto _ : state) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    if (!reader.ok()) return state.SkipWithError(reader.status().ToString().c_str());
    EventValidator validator(ValidatorOptions(), [&findings](const Finding&) { ++findings; });
    while (const Event* event = reader->Next()) validator.Check(*event);
    events = reader->event_count();
  }
  benchmark::DoNotOptimize(findings);
  SetCounters(state, events, bytes.size());
}

int Main(int argc, char** argv) {
  const std::vector<BenchTrace>& traces = TakeBenchTraces(argc, argv);
  const auto add = [&traces](const std::string& name, PassKind kind, ReadMode mode) {
    ReaderOptions options;
    options.mode = mode;
    RegisterForAll(traces, name,
                   [kind, options](benchmark::State& state, const std::string& bytes) {
                     Run(state, bytes, kind, options);
                   });
  };
  add("decode", PassKind::kDecode, ReadMode::kStrict);
  add("read", PassKind::kRead, ReadMode::kStrict);
  RegisterForAll(traces, "read_blocks", RunBlocks);
  add("read_collect", PassKind::kRead, ReadMode::kCollect);
  RegisterForAll(traces, "read_and_check", RunValidator);
  add("validate", PassKind::kValidate, ReadMode::kStrict);
  add("text", PassKind::kText, ReadMode::kStrict);
  add("json", PassKind::kJson, ReadMode::kStrict);
  add("track", PassKind::kTrack, ReadMode::kStrict);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) { return gotrace::internal::Main(argc, argv); }
