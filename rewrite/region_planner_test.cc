#include "rewrite/region_planner.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace region_planner_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr RegionEventFate kStays = RegionEventFate::kStays;
constexpr RegionEventFate kMoves = RegionEventFate::kMoves;
constexpr RegionEventFate kDropped = RegionEventFate::kDropped;
constexpr size_t kOwn = RegionWrite::kOwnGoroutine;

// Events a millisecond apart, unless At() says otherwise.
class Trace {
 public:
  Trace& Begin(uint64_t task, int64_t goroutine = 1, uint32_t type = 0) {
    return Add({RegionEventKind::kBegin, type, 0, goroutine, task});
  }
  Trace& End(uint64_t task, int64_t goroutine = 1, uint32_t type = 0) {
    return Add({RegionEventKind::kEnd, type, 0, goroutine, task});
  }
  Trace& GoroutineEnd(int64_t goroutine) {
    return Add({RegionEventKind::kGoroutineEnd, 0, 0, goroutine, 0});
  }
  // Sets the time of the last event.
  Trace& At(int64_t time) {
    events_.back().time = time_ = time;
    return *this;
  }

  const std::vector<RegionEvent>& events() const { return events_; }
  RegionPlan Plan() const { return PlanRegions(events_); }

 private:
  Trace& Add(RegionEvent event) {
    time_ += std::min<int64_t>(1'000'000, std::numeric_limits<int64_t>::max() - time_);
    event.time = time_;
    events_.push_back(event);
    return *this;
  }

  std::vector<RegionEvent> events_;
  int64_t time_ = 0;
};

std::vector<int64_t> Owners(const RegionPlan& plan) {
  std::vector<int64_t> owners;
  for (const RegionLane& lane : plan.lanes) owners.push_back(lane.owner);
  return owners;
}

TEST(PlanRegionsTest, AcceptsNoEvents) {
  const RegionPlan plan = PlanRegions({});
  EXPECT_TRUE(plan.nothing());
  EXPECT_THAT(plan.fates, IsEmpty());
}

TEST(PlanRegionsTest, LeavesNestedRegionsAlone) {
  const RegionPlan plan =
      Trace().Begin(1).Begin(2).Begin(3, 7).End(2).Begin(2).End(3, 7).End(2).End(1).Plan();
  EXPECT_TRUE(plan.nothing());
  EXPECT_THAT(plan.fates,
              ElementsAre(kStays, kStays, kStays, kStays, kStays, kStays, kStays, kStays));
}

TEST(PlanRegionsTest, EndsTheInnermostOfEqualRegionsFirst) {
  EXPECT_TRUE(Trace().Begin(1).Begin(2).Begin(1).End(1).End(2).End(1).Plan().nothing());
  // The second region of task 1 ends before that of task 2 does, the first one after it.
  EXPECT_TRUE(Trace().Begin(1).Begin(1).End(1).End(1).Plan().nothing());
}

TEST(PlanRegionsTest, DelaysEndsThatFollowEachOtherClosely) {
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .Begin(2)
                              .Begin(3)
                              .End(1)  // 3
                              .At(5'000'000)
                              .End(2)
                              .At(5'004'000)
                              .End(3)
                              .At(5'009'000)
                              .Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kStays, kStays, kMoves, kMoves, kStays));
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{5, 4, kOwn}, RegionWrite{5, 3, kOwn}));
  EXPECT_THAT(plan.lanes, IsEmpty());
  EXPECT_EQ(plan.ends_delayed, 2);
  EXPECT_EQ(plan.max_delay_ns, 9'000);
  EXPECT_EQ(plan.regions_moved, 0);
}

TEST(PlanRegionsTest, DelaysByNoMoreThanTheLimit) {
  const auto overlap_by = [](int64_t ns) {
    return Trace().Begin(1).Begin(2).End(1).At(9'000'000).End(2).At(9'000'000 + ns).Plan();
  };
  const RegionPlan at_limit = overlap_by(kMaxRegionDelayNs);
  EXPECT_EQ(at_limit.ends_delayed, 1);
  EXPECT_EQ(at_limit.max_delay_ns, kMaxRegionDelayNs);
  EXPECT_EQ(at_limit.regions_moved, 0);
  const RegionPlan above = overlap_by(kMaxRegionDelayNs + 1);
  EXPECT_EQ(above.ends_delayed, 0);
  EXPECT_EQ(above.regions_moved, 1);
}

// Each end is close to the next, but the first is not close to the last.
TEST(PlanRegionsTest, DoesNotAddUpDelays) {
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .Begin(2)
                              .Begin(3)
                              .End(1)  // 3
                              .At(5'000'000)
                              .End(2)
                              .At(5'008'000)
                              .End(3)
                              .At(5'016'000)
                              .Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kStays, kMoves, kMoves, kStays, kMoves));
  EXPECT_THAT(plan.writes,
              ElementsAre(RegionWrite{2, 2, 0}, RegionWrite{4, 3, kOwn}, RegionWrite{5, 5, 0}));
  EXPECT_EQ(plan.max_delay_ns, 8'000);
}

TEST(PlanRegionsTest, MovesARegionThatOutlivesAnOuterOne) {
  const RegionPlan plan = Trace().Begin(1, 12).Begin(2, 12).End(1, 12).End(2, 12).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kMoves, kStays, kMoves));
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{1, 1, 0}, RegionWrite{3, 3, 0}));
  EXPECT_THAT(Owners(plan), ElementsAre(12));
  EXPECT_EQ(plan.regions_moved, 1);
  EXPECT_EQ(plan.ends_delayed, 0);
  EXPECT_EQ(plan.max_delay_ns, 0);
}

TEST(PlanRegionsTest, UsesALaneAgainAndNestsThere) {
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .Begin(2)  // 1: to lane 0
                              .Begin(3)  // 2: to lane 1, as it outlives 2
                              .Begin(4)  // 3: to lane 0, inside 2
                              .End(1)    // 4
                              .End(4)
                              .End(2)  // 6
                              .End(3)
                              .Begin(5)  // 8
                              .Begin(6)  // 9: to lane 0
                              .End(5)
                              .End(6)  // 11
                              .Plan();
  EXPECT_THAT(plan.writes,
              ElementsAre(RegionWrite{1, 1, 0}, RegionWrite{2, 2, 1}, RegionWrite{3, 3, 0},
                          RegionWrite{5, 5, 0}, RegionWrite{6, 6, 0}, RegionWrite{7, 7, 1},
                          RegionWrite{9, 9, 0}, RegionWrite{11, 11, 0}));
  EXPECT_THAT(Owners(plan), ElementsAre(1, 1));
  EXPECT_EQ(plan.regions_moved, 4);
}

TEST(PlanRegionsTest, DelaysEndsOnLanes) {
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .Begin(2)
                              .Begin(3)
                              .End(1)  // 3
                              .End(2)
                              .At(9'000'000)
                              .End(3)
                              .At(9'000'100)
                              .Plan();
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{1, 1, 0}, RegionWrite{2, 2, 0},
                                       RegionWrite{5, 5, 0}, RegionWrite{5, 4, 0}));
  EXPECT_EQ(plan.max_delay_ns, 100);
}

TEST(PlanRegionsTest, KeepsGoroutinesApart) {
  const RegionPlan plan =
      Trace().Begin(1, 5).Begin(1, 6).Begin(2, 6).End(1, 5).End(1, 6).End(2, 6).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kStays, kMoves, kStays, kStays, kMoves));
  EXPECT_THAT(Owners(plan), ElementsAre(6));
}

TEST(PlanRegionsTest, DropsASecondEnd) {
  const RegionPlan plan = Trace().Begin(1).Begin(2).End(2).End(2).End(1).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kStays, kStays, kDropped, kStays));
  EXPECT_THAT(plan.writes, IsEmpty());
  EXPECT_EQ(plan.ends_dropped, 1);
  EXPECT_FALSE(plan.nothing());
}

TEST(PlanRegionsTest, DropsASecondEndWhereAMovedRegionIsOpen) {
  const RegionPlan plan = Trace().Begin(1).Begin(2).End(1).End(1).End(2).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kMoves, kStays, kDropped, kMoves));
}

// Go's reader accepts it: the region may have begun before the trace.
TEST(PlanRegionsTest, KeepsASecondEndWhereNoRegionIsOpen) {
  EXPECT_TRUE(Trace().Begin(1).End(1).End(1).Plan().nothing());
}

TEST(PlanRegionsTest, KeepsEndsOfRegionsThatBeganBeforeTheTrace) {
  EXPECT_TRUE(Trace().End(1).Begin(2).End(2).End(3).Begin(4).End(4).Plan().nothing());
  const RegionPlan plan = Trace().Begin(4).Begin(5).End(1).End(5).End(4).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kMoves, kMoves, kStays, kMoves, kMoves));
  EXPECT_THAT(Owners(plan), ElementsAre(1));
}

TEST(PlanRegionsTest, MovesARegionThatNeverEndsInsideOneThatDoes) {
  const RegionPlan plan = Trace().Begin(1).Begin(2).End(1).Begin(3).End(3).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kMoves, kStays, kStays, kStays));
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{1, 1, 0}));
}

TEST(PlanRegionsTest, LeavesRegionsThatNeverEndOpen) {
  EXPECT_TRUE(Trace().Begin(1).Begin(2).Begin(3).End(3).GoroutineEnd(1).Plan().nothing());
}

TEST(PlanRegionsTest, EndsLanesWithTheirGoroutine) {
  const RegionPlan plan =
      Trace().Begin(1).Begin(2).Begin(3, 2).End(1).GoroutineEnd(1).GoroutineEnd(2).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kStays, kMoves, kStays, kStays, kStays, kStays));
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{1, 1, 0}, RegionWrite{4, 4, 0}));
}

TEST(PlanRegionsTest, DistinguishesGoroutinesWithTheSameId) {
  // No region of the second goroutine 1 is open at the last end.
  EXPECT_TRUE(Trace().Begin(9).GoroutineEnd(1).Begin(1).End(1).End(1).Plan().nothing());
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .Begin(2)
                              .End(1)
                              .GoroutineEnd(1)
                              .Begin(1)  // 4
                              .Begin(2)
                              .End(1)  // 6
                              .End(2)
                              .Plan();
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{1, 1, 0}, RegionWrite{3, 3, 0},
                                       RegionWrite{5, 5, 1}, RegionWrite{7, 7, 1}));
}

TEST(PlanRegionsTest, MovesARegionThatEndsOnAnotherGoroutine) {
  const RegionPlan plan = Trace().Begin(1, 5).Begin(2, 6).End(1, 6).End(2, 6).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kMoves, kStays, kMoves, kStays));
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{0, 0, 0}, RegionWrite{2, 2, 0}));
  EXPECT_THAT(Owners(plan), ElementsAre(RegionLane::kNoOwner));
}

// A lane on which a region has just ended has room for a region that ends later.
TEST(PlanRegionsTest, NestsRegionsThatEndOnAnotherGoroutine) {
  const RegionPlan plan = Trace()
                              .Begin(1, 5)
                              .Begin(2, 5)
                              .End(2, 6)  // 2
                              .At(9'000'000)
                              .Begin(3, 5)
                              .At(9'001'000)
                              .Begin(4, 5)  // 4: outlives 3
                              .At(9'002'000)
                              .End(3, 6)
                              .At(9'005'000)
                              .End(4, 6)  // 6
                              .End(1, 6)
                              .Plan();
  EXPECT_THAT(plan.writes,
              ElementsAre(RegionWrite{0, 0, 0}, RegionWrite{1, 1, 0}, RegionWrite{2, 2, 0},
                          RegionWrite{3, 3, 0}, RegionWrite{4, 4, 1}, RegionWrite{5, 5, 0},
                          RegionWrite{6, 6, 1}, RegionWrite{7, 7, 0}));
}

TEST(PlanRegionsTest, ARegionMayEndAfterTheGoroutineOnWhichItBegan) {
  const RegionPlan plan = Trace().Begin(1, 5).GoroutineEnd(5).End(1, 6).Plan();
  EXPECT_THAT(plan.writes, ElementsAre(RegionWrite{0, 0, 0}, RegionWrite{2, 2, 0}));
}

TEST(PlanRegionsTest, DoesNotGuessWhichRegionEndsOnAnotherGoroutine) {
  EXPECT_TRUE(Trace().Begin(1, 5).Begin(1, 6).End(1, 7).Plan().nothing());
  // The region on goroutine 6 ends there.
  const RegionPlan plan = Trace().Begin(1, 5).Begin(1, 6).End(1, 7).End(1, 6).Plan();
  EXPECT_THAT(plan.fates, ElementsAre(kMoves, kStays, kMoves, kStays));
  // Task and type must agree, and the begin comes first.
  EXPECT_TRUE(Trace().Begin(1, 5).End(2, 7).Plan().nothing());
  EXPECT_TRUE(Trace().Begin(1, 5, 1).End(1, 7, 2).Plan().nothing());
  EXPECT_TRUE(Trace().End(1, 7).Begin(1, 5).Plan().nothing());
}

TEST(PlanRegionsTest, AcceptsTimesNearTheLimits) {
  const int64_t last = std::numeric_limits<int64_t>::max();
  const RegionPlan plan = Trace()
                              .Begin(1)
                              .At(last - 3)
                              .Begin(2)
                              .At(last - 2)
                              .End(1)
                              .At(last - 1)
                              .End(2)
                              .At(last)
                              .Plan();
  EXPECT_EQ(plan.max_delay_ns, 1);
  EXPECT_EQ(plan.regions_moved, 0);
}

// Regions that all overlap each other, by more than can be delayed. Each needs a lane of its own.
TEST(PlanRegionsTest, AcceptsManyRegionsInStartOrder) {
  constexpr uint64_t kRegions = 200'000;
  Trace trace;
  for (uint64_t i = 0; i < kRegions; ++i) trace.Begin(i);
  for (uint64_t i = 0; i < kRegions; ++i) trace.End(i);
  const RegionPlan plan = trace.Plan();
  EXPECT_EQ(plan.regions_moved, kRegions - 1);
  EXPECT_EQ(plan.lanes.size(), kRegions - 1);
  EXPECT_EQ(plan.writes.size(), 2 * (kRegions - 1));
}

// An event of a trace after applying a plan.
struct Written {
  bool on_lane;
  int64_t place;  // The number of a goroutine, or of a lane.
  RegionEvent event;
  int64_t time;
};

// Applies the plan. Checks that it writes each event at most once, and none before its time.
std::vector<Written> Apply(const std::vector<RegionEvent>& events, const RegionPlan& plan) {
  std::vector<Written> written;
  std::vector<int> count(events.size());
  std::set<size_t> ended_lanes;
  auto write = plan.writes.begin();
  EXPECT_EQ(plan.fates.size(), events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    if (plan.fates[i] == kStays) {
      ++count[i];
      written.push_back({false, events[i].goroutine, events[i], events[i].time});
    }
    for (; write != plan.writes.end() && write->at == i; ++write) {
      EXPECT_LE(write->event, i);
      const bool on_lane = write->lane != kOwn;
      const RegionEvent& event = events[write->event];
      if (on_lane) {
        EXPECT_LT(write->lane, plan.lanes.size());
        EXPECT_FALSE(ended_lanes.contains(write->lane));
      }
      if (event.kind == RegionEventKind::kGoroutineEnd) {
        EXPECT_TRUE(on_lane);
        ended_lanes.insert(write->lane);
      } else {
        ++count[write->event];
      }
      const int64_t place = on_lane ? static_cast<int64_t>(write->lane) : events[i].goroutine;
      written.push_back({on_lane, place, event, events[i].time});
    }
  }
  EXPECT_EQ(write, plan.writes.end()) << "writes are not in order";
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(count[i], plan.fates[i] != kDropped);
  return written;
}

using Durations = std::multiset<std::tuple<uint64_t, uint32_t, int64_t>>;  // Task, type, ns.

// Reads regions like Go's reader, and returns their durations; -1 for regions that never end.
Durations ReadStrictly(const std::vector<Written>& written) {
  std::map<std::pair<bool, int64_t>, std::vector<const Written*>> open;
  Durations durations;
  const auto end = [&](const Written& begin, int64_t duration) {
    durations.insert({begin.event.task, begin.event.type, duration});
  };
  for (const Written& each : written) {
    std::vector<const Written*>& regions = open[{each.on_lane, each.place}];
    switch (each.event.kind) {
      case RegionEventKind::kBegin:
        regions.push_back(&each);
        break;
      case RegionEventKind::kEnd:
        if (regions.empty()) break;
        EXPECT_EQ(std::pair(regions.back()->event.task, regions.back()->event.type),
                  std::pair(each.event.task, each.event.type));
        end(*regions.back(), each.time - regions.back()->time);
        regions.pop_back();
        break;
      case RegionEventKind::kGoroutineEnd:
        for (const Written* const region : regions) end(*region, -1);
        regions.clear();
    }
  }
  for (const auto& [place, regions] : open) {
    for (const Written* const region : regions) end(*region, -1);
  }
  return durations;
}

constexpr int64_t kOther = 1000;  // A goroutine that ends regions of others.

// Random regions. If `unique`, no two regions of a task are equal.
struct RandomTrace {
  RandomTrace(uint32_t seed, bool unique) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % n); };
    std::vector<int64_t> goroutines;
    int64_t last_goroutine = below(4);
    for (int64_t i = 0; i <= last_goroutine; ++i) goroutines.push_back(i);
    const int max_open = 1 + below(8);
    const int max_step = below(2) == 0 ? 3'000 : 30'000;
    const bool all_end = below(2) == 0;
    struct Open {
      int64_t goroutine;
      uint64_t task;
      int64_t begin;
    };
    std::vector<Open> open;
    uint64_t last_task = 0;
    int64_t time = 0;
    for (int left = 1 + below(60); left > 0 || (all_end && !open.empty()); --left) {
      time += 1 + below(max_step);
      if (left > 0 && open.size() < static_cast<size_t>(max_open) && below(2) == 0) {
        const uint64_t task = unique ? ++last_task : below(3);
        open.push_back({goroutines[below(goroutines.size())], task, time});
        events.push_back({RegionEventKind::kBegin, 4, time, open.back().goroutine, task});
        continue;
      }
      if (open.empty()) continue;
      if (below(20) == 0) {
        const int64_t ended = open[below(open.size())].goroutine;
        events.push_back({RegionEventKind::kGoroutineEnd, 0, time, ended, 0});
        for (const Open& region : open) {
          if (region.goroutine == ended) durations.insert({region.task, 4, -1});
        }
        open.erase(std::remove_if(open.begin(), open.end(),
                                  [&](const Open& region) { return region.goroutine == ended; }),
                   open.end());
        std::replace(goroutines.begin(), goroutines.end(), ended, ++last_goroutine);
        continue;
      }
      const size_t i = below(3) == 0 ? below(open.size()) : open.size() - 1;
      const Open region = open[i];
      open.erase(open.begin() + i);
      const bool crosses = unique && below(8) == 0;
      const int64_t goroutine = crosses ? kOther : region.goroutine;
      events.push_back({RegionEventKind::kEnd, 4, time, goroutine, region.task});
      durations.insert({region.task, 4, time - region.begin});
      if (!crosses && below(16) == 0) {
        time += 1 + below(max_step);
        events.push_back({RegionEventKind::kEnd, 4, time, goroutine, region.task});
      }
    }
    for (const Open& region : open) durations.insert({region.task, 4, -1});
  }

  std::vector<RegionEvent> events;
  Durations durations;
};

TEST(PlanRegionsTest, KeepsDurationsOfRandomRegions) {
  size_t moved = 0, delayed = 0, dropped = 0;
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomTrace trace(seed, /*unique=*/true);
    const RegionPlan plan = PlanRegions(trace.events);
    const Durations durations = ReadStrictly(Apply(trace.events, plan));
    ASSERT_EQ(durations.size(), trace.durations.size());
    int64_t max_delay = 0;
    auto actual = durations.begin();
    for (const auto& [task, type, duration] : trace.durations) {
      EXPECT_EQ(std::get<0>(*actual), task);
      const int64_t delay = std::get<2>(*actual++) - duration;
      EXPECT_GE(delay, 0);
      max_delay = std::max(max_delay, delay);
    }
    EXPECT_EQ(max_delay, plan.max_delay_ns);
    EXPECT_LE(max_delay, kMaxRegionDelayNs);
    ASSERT_FALSE(testing::Test::HasFailure());
    moved += plan.regions_moved;
    delayed += plan.ends_delayed;
    dropped += plan.ends_dropped;
  }
  // All kinds of changes occurred.
  EXPECT_GT(moved, 10'000);
  EXPECT_GT(delayed, 5'000);
  EXPECT_GT(dropped, 1'000);
}

// With equal regions, which end belongs to which begin is a matter of the rules.
TEST(PlanRegionsTest, NestsRandomRegionsWithEqualOnesAmongThem) {
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    const RandomTrace trace(seed, /*unique=*/false);
    const RegionPlan plan = PlanRegions(trace.events);
    const Durations durations = ReadStrictly(Apply(trace.events, plan));
    const auto begins = std::count_if(
        trace.events.begin(), trace.events.end(),
        [](const RegionEvent& event) { return event.kind == RegionEventKind::kBegin; });
    EXPECT_EQ(durations.size(), begins);
    EXPECT_LE(plan.max_delay_ns, kMaxRegionDelayNs);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

}  // namespace region_planner_test
}  // namespace gotrace::internal
