// Tests that traces designed to be expensive are not: the number of attempts stays in proportion to
// the size of the trace.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bench/hostile_traces.h"
#include "bench/synthetic_traces.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace hostile_test {

struct Cost {
  uint64_t events = 0;
  uint64_t attempts = 0;
};

Cost ReadAll(const std::string& bytes, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  uint64_t attempts = 0;
  options.tuning.attempts = &attempts;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  while (reader->Next() != nullptr) continue;
  // Regions that were dropped were tried too.
  return {reader->event_count() + reader->losses().dropped_events, attempts};
}

class HostileTest : public testing::TestWithParam<ReadMode> {};

TEST_P(HostileTest, AttemptsStayInProportion) {
  for (const HostileTrace& trace : HostileTraces()) {
    SCOPED_TRACE(trace.name);
    uint64_t last_attempts = 0;
    for (const uint64_t count : {250, 500, 1000, 2000}) {
      const std::string bytes = trace.make(count);
      const Cost cost = ReadAll(bytes, GetParam());
      EXPECT_GT(cost.events, count / 2);
      // Up to this number of threads, each thread is tried.
      EXPECT_LT(cost.attempts, Tuning().exact_ties_threads * (cost.events + 1)) << count;
      if (last_attempts > 0) {
        EXPECT_LT(cost.attempts, 2.1 * last_attempts) << count;
      }
      last_attempts = cost.attempts;
    }
  }
}

TEST_P(HostileTest, ManyThreadsAreNotTriedOneByOne) {
  constexpr uint64_t kCount = 1000;
  for (const HostileTrace& trace : HostileTraces()) {
    if (std::string(trace.name) == "top 60 never advance") continue;
    const Cost cost = ReadAll(trace.make(kCount), GetParam());
    EXPECT_LT(cost.attempts, 3 * cost.events + 3 * kCount) << trace.name;
  }
}

// Returns descriptions of all events, and the final status.
std::vector<std::string> Describe(const std::string& bytes, ReadMode mode, size_t exact) {
  ReaderOptions options;
  options.mode = mode;
  options.tuning.exact_ties_threads = exact;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<std::string> lines;
  while (const Event* event = reader->Next()) {
    lines.push_back(absl::StrCat(event->time(), " ", event->offset(), " ",
                                 static_cast<int>(event->kind()), " ", event->goroutine().value,
                                 " ", event->proc().value, " ", event->thread().value));
  }
  lines.push_back(std::string(reader->status().message()));
  return lines;
}

void ExpectSameOrder(const std::string& bytes, ReadMode mode) {
  const std::vector<std::string> expected = Describe(bytes, mode, /*exact=*/1 << 20);
  const std::vector<std::string> found = Describe(bytes, mode, /*exact=*/0);
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(expected[i], found[i]) << i;
}

// If no two events have the same time, parking threads must not change the order.
TEST_P(HostileTest, TheOrderIsTheSameAsWhenTryingAllThreads) {
  for (const HostileTrace& trace : HostileTraces()) {
    SCOPED_TRACE(trace.name);
    ExpectSameOrder(trace.make(80), GetParam());
  }
}

TEST_P(HostileTest, TheOrderIsTheSameIfClocksDisagree) {
  for (const int threads : {2, 5, 30, 100}) {
    SyntheticTraceOptions options;
    options.threads = threads;
    options.goroutines = 3 * threads;
    options.generations = 2;
    options.events = 500;
    options.skew = 101;
    TraceMaker maker(options);
    std::string bytes;
    for (absl::string_view part = maker.NextGeneration(); !part.empty();
         part = maker.NextGeneration()) {
      absl::StrAppend(&bytes, part);
    }
    SCOPED_TRACE(threads);
    ExpectSameOrder(bytes, GetParam());
    // Damage makes some threads wait forever, and others fail instead of waiting.
    std::mt19937 random(threads);
    for (int i = 0; i < 10; ++i) {
      std::string damaged = bytes;
      damaged[100 + random() % (bytes.size() - 100)] ^= 1 << random() % 8;
      SCOPED_TRACE(i);
      ExpectSameOrder(damaged, GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileTest,
                         testing::Values(ReadMode::kStrict, ReadMode::kCollect,
                                         ReadMode::kSalvage));

}  // namespace hostile_test
}  // namespace gotrace::internal
