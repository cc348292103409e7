// Measures traces that are designed to be expensive, each at five sizes, every one twice the last:
//
//   bazel run --config=opt //bench:hostile_bench -- [FIRST_COUNT]
//
// Prints a line for each trace and way of reading it, and exits with 1 if twice the size took more
// than 2.5 times as long, or more than 2.1 times the attempts.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "bench/hostile_traces.h"
#include "gotrace/reader.h"
#include "gotrace/repair.h"
#include "gotrace/validate.h"

namespace gotrace::internal {
namespace {

constexpr int kDoublings = 4;
constexpr int kRepetitions = 5;

uint64_t Read(const std::string& bytes, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  uint64_t attempts = 0;
  options.tuning.attempts = &attempts;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  while (reader->Next() != nullptr) continue;
  return attempts;
}

uint64_t Validate(const std::string& bytes) {
  ValidateOptions options;
  options.jobs = 1;
  if (ValidateTrace(*SourceFromBytes(bytes), options).bytes == 0) std::abort();
  return 0;
}

uint64_t Repair(const std::string& bytes) {
  if (!PlanRepair([&bytes] { return SourceFromBytes(bytes); }).ok()) std::abort();
  return 0;
}

// A way to read a trace. Returns the number of attempts, or 0 if it is not known.
struct Way {
  const char* name;
  uint64_t (*run)(const std::string& bytes);
};
constexpr Way kWays[] = {
    {"strict", [](const std::string& bytes) { return Read(bytes, ReadMode::kStrict); }},
    {"salvage", [](const std::string& bytes) { return Read(bytes, ReadMode::kSalvage); }},
    {"validate", Validate},
    {"repair", Repair},
};

struct Measured {
  double seconds = 0;
  uint64_t attempts = 0;
};

Measured Measure(const Way& way, const std::string& bytes) {
  Measured best = {1e9, 0};
  for (int i = 0; i < kRepetitions; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    best.attempts = way.run(bytes);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    best.seconds = std::min(best.seconds, time.count());
  }
  return best;
}

// Returns whether the cost stays in proportion to the size.
bool RunAll(const HostileTrace& trace, uint64_t first_count) {
  std::vector<std::string> traces;
  for (int i = 0; i <= kDoublings; ++i) traces.push_back(trace.make(first_count << i));
  bool linear = true;
  for (const Way& way : kWays) {
    std::printf("%-24s %-8s", trace.name, way.name);
    Measured last;
    for (const std::string& bytes : traces) {
      const Measured measured = Measure(way, bytes);
      std::printf(" %8.2f ms", measured.seconds * 1e3);
      if (last.seconds > 0) {
        const double factor = measured.seconds / last.seconds;
        std::printf(" (x%.2f)", factor);
        linear &= factor <= 2.5 && measured.attempts <= 2.1 * last.attempts + 100;
      }
      last = measured;
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return linear;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  uint64_t first_count = 5000;  // So that no trace exceeds the limit on threads.
  if (argc > 2 || (argc == 2 && !absl::SimpleAtoi(argv[1], &first_count))) {
    std::fprintf(stderr, "usage: hostile_bench [FIRST_COUNT]\n");
    return 2;
  }
  bool linear = true;
  for (const gotrace::internal::HostileTrace& trace : gotrace::internal::HostileTraces()) {
    linear &= gotrace::internal::RunAll(trace, first_count);
  }
  return linear ? 0 : 1;
}
