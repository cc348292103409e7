#include "gotrace/event_times.h"

#include <limits>

#include "gotrace/event_builder.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace event_times_test {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

EventBuilder SyncAt(int64_t time) {
  EventBuilder sync = EventBuilder::MakeSync(1);
  sync.Time(time);
  return sync;
}

TEST(EventTimesTest, CountsFromTheFirstSync) {
  EventTimes times;
  EXPECT_EQ(times.SinceStart(7), absl::ZeroDuration());
  EventBuilder early(EventType::kGoBlock);
  times.Add(early.Time(50).Build());
  times.Add(SyncAt(100).Build());
  times.Add(SyncAt(200).Build());
  EXPECT_EQ(times.SinceStart(100), absl::ZeroDuration());
  EXPECT_EQ(times.SinceStart(350), absl::Nanoseconds(250));
  EXPECT_EQ(times.SinceStart(99), absl::Nanoseconds(-1));
}

TEST(EventTimesTest, TheWallClockIsThatOfTheLatestSnapshot) {
  const absl::Time wall = absl::FromUnixSeconds(1'700'000'000);
  EventTimes times;
  EXPECT_EQ(times.WallTime(5), std::nullopt);
  EXPECT_EQ(times.TraceTime(wall), std::nullopt);
  times.Add(SyncAt(100).Build());
  EXPECT_EQ(times.WallTime(5), std::nullopt);

  const BuiltTables tables, later_tables;
  EventBuilder sync = EventBuilder::MakeSync(2, tables);
  times.Add(sync.Clocks({1000, 1, wall}).Build());
  EXPECT_EQ(times.WallTime(1000), wall);
  EXPECT_EQ(times.WallTime(1500), wall + absl::Nanoseconds(500));
  EXPECT_EQ(times.WallTime(400), wall - absl::Nanoseconds(600));
  EXPECT_EQ(times.TraceTime(wall + absl::Nanoseconds(500)), 1500);

  // The clock was set back an hour. The end of the trace says nothing new.
  EventBuilder later = EventBuilder::MakeSync(3, later_tables);
  times.Add(later.Clocks({2000, 2, wall - absl::Hours(1)}).Build());
  times.Add(SyncAt(3000).Build());
  times.Add(EventBuilder::MakeSync(4, BuiltTables()).Build());
  EXPECT_EQ(times.WallTime(2000), wall - absl::Hours(1));
  EXPECT_EQ(times.TraceTime(wall - absl::Hours(1)), 2000);

  times.Add(ClockSnapshot{5000, 3, wall});
  EXPECT_EQ(times.WallTime(5001), wall + absl::Nanoseconds(1));
}

TEST(EventTimesTest, TimesOutOfRangeSaturate) {
  EventTimes times;
  EventBuilder sync = EventBuilder::MakeSync(1);
  times.Add(sync.Clocks({1000, 1, absl::UnixEpoch()}).Build());
  EXPECT_EQ(times.TraceTime(absl::InfiniteFuture()), kMax);
  EXPECT_EQ(times.TraceTime(absl::InfinitePast()), kMin + 1000);
  EventBuilder early = EventBuilder::MakeSync(2);
  times.Add(early.Clocks({-1000, 1, absl::UnixEpoch()}).Build());
  EXPECT_EQ(times.TraceTime(absl::InfinitePast()), kMin);
}

}  // namespace event_times_test
}  // namespace gotrace::internal
