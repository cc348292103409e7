#include "parser/event/trace_clock.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace trace_clock_test {

constexpr uint64_t kMax = ~uint64_t{0};
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(TraceClockTest, ConvertsAsGoDoes) {
  // Computed by Go 1.27 on x86-64.
  struct {
    uint64_t frequency;
    uint64_t ticks;
    int64_t ns;
  } const cases[] = {
      {15625000u, 0u, 0},
      {15625000u, 1u, 64},
      {15625000u, 39758253134u, 2544528200576},
      {15625000u, 9007199254740993u, 576460752303423488},
      {15625000u, 1234567890123456789u, kMin},
      {15625000u, kMax, kMin},
      {1000000000u, 3u, 3},
      {1000000000u, 9007199254740993u, 9007199254740992},
      {1000000000u, 1234567890123456789u, 1234567890123456768},
      {1000000000u, kMax, kMin},
      {3000000000u, 1u, 0},
      {3000000000u, 3u, 1},
      {3000000000u, 39758253134u, 13252751044},
      {3000000000u, 9007199254740993u, 3002399751580330},
      {3000000000u, 1234567890123456789u, 411522630041152256},
      {3000000000u, kMax, 6148914691236516864},
      {7u, 1u, 142857142},
      {7u, 3u, 428571428},
      {7u, 39758253134u, 5679750447714285568},
      {7u, 9007199254740993u, kMin},
      {10937500u, 1u, 91},
      {10937500u, 3u, 274},
      {10937500u, 39758253134u, 3635040286537},
      {10937500u, 9007199254740993u, 823515360433462144},
      {2893437u, 1u, 345},
      {2893437u, 3u, 1036},
      {2893437u, 39758253134u, 13740839401030},
      {2893437u, 9007199254740993u, 3112975763682081792},
      {kMax, 3u, 0},
      {kMax, 39758253134u, 2},
      {kMax, kMax, 999999999},
      {1u, 1u, 999999999},
      {1u, 3u, 2999999999},
      {1u, 39758253134u, kMin},
      {999999937u, 39758253134u, 39758255638},
      {999999937u, 1234567890123456789u, 1234567967901238528},
      {33333333u, 1u, 30},
      {33333333u, 39758253134u, 1192747605947},
      {33333333u, 9007199254740993u, 270215980344389568},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(TraceClock(c.frequency).ToNs(c.ticks), c.ns) << c.frequency << " " << c.ticks;
  }
}

TEST(TraceClockTest, IsKnownForAnyFrequency) {
  EXPECT_FALSE(TraceClock().known());
  for (const uint64_t frequency : {uint64_t{0}, uint64_t{1}, uint64_t{15625000}, kMax}) {
    EXPECT_TRUE(TraceClock(frequency).known());
  }
}

TEST(TraceClockTest, AFrequencyOfZeroGivesTheSmallestTime) {
  const TraceClock clock(0);
  EXPECT_EQ(clock.ToNs(0), kMin);
  EXPECT_EQ(clock.ToNs(1), kMin);
  EXPECT_EQ(clock.ToNs(kMax), kMin);
}

TEST(TraceClockTest, FewTicksAndManyAreTheSameProduct) {
  for (const uint64_t frequency : {uint64_t{1}, uint64_t{7}, uint64_t{15625000},
                                   uint64_t{1000000000}, uint64_t{2893437}, kMax}) {
    const TraceClock clock(frequency);
    const double ns_per_tick = 1.0 / (static_cast<double>(frequency) / 1e9);
    for (double ticks = 1; ticks < 1.8e19; ticks *= 1.1) {
      const uint64_t whole = static_cast<uint64_t>(ticks);
      const double ns = static_cast<double>(whole) * ns_per_tick;
      EXPECT_EQ(clock.ToNs(whole), ns < 9223372036854775808.0 ? static_cast<int64_t>(ns) : kMin)
          << frequency << " " << whole;
    }
  }
}

TEST(TraceClockTest, SumsWrapAround) {
  EXPECT_EQ(TraceClock::Add(1, 2), 3);
  EXPECT_EQ(TraceClock::Add(-1, 2), 1);
  EXPECT_EQ(TraceClock::Add(INT64_MAX, 1), kMin);
  EXPECT_EQ(TraceClock::Add(kMin, -1), INT64_MAX);
  EXPECT_EQ(TraceClock::Add(kMin, kMin), 0);
}

}  // namespace trace_clock_test
}  // namespace gotrace::internal
