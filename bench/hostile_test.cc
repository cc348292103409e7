// What is made to be expensive must not be: the steps stay in proportion to the size of the trace.
#include <cstdint>
#include <string>

#include "bench/hostile_traces.h"
#include "gtest/gtest.h"
#include "parser/reader.h"

namespace gotrace {
namespace {

struct Cost {
  uint64_t events = 0;
  uint64_t attempts = 0;
};

Cost ReadAll(const std::string& bytes, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  while (reader->Next() != nullptr) continue;
  // Regions that are left out were tried too.
  return {reader->event_count() + reader->losses().dropped_events, reader->attempts()};
}

class HostileTest : public testing::TestWithParam<ReadMode> {};

TEST_P(HostileTest, AttemptsStayInProportion) {
  for (const HostileTrace& trace : HostileTraces()) {
    SCOPED_TRACE(trace.name);
    uint64_t last_attempts = 0;
    for (const uint64_t count : {500, 1000, 2000, 4000}) {
      const std::string bytes = trace.make(count);
      const Cost cost = ReadAll(bytes, GetParam());
      EXPECT_GT(cost.events, count / 2);
      // Up to 64 threads are tried one by one.
      EXPECT_LT(cost.attempts, 64 * cost.events + 64) << count;
      if (last_attempts > 0) {
        EXPECT_LT(cost.attempts, 2.1 * last_attempts) << count;
      }
      last_attempts = cost.attempts;
    }
  }
}

TEST_P(HostileTest, ManyThreadsAreNotTriedOneByOne) {
  constexpr uint64_t kCount = 2000;
  for (const HostileTrace& trace : HostileTraces()) {
    if (std::string(trace.name) == "top 60 never advance") continue;
    const Cost cost = ReadAll(trace.make(kCount), GetParam());
    EXPECT_LT(cost.attempts, 3 * cost.events + 3 * kCount) << trace.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileTest,
                         testing::Values(ReadMode::kStrict, ReadMode::kCollect,
                                         ReadMode::kSalvage));

}  // namespace
}  // namespace gotrace
