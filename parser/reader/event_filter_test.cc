#include "gotrace/event_filter.h"

#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gotrace/stack_filter.h"
#include "gtest/gtest.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace event_filter_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Events are identified by their times since the first event, which is at 1000.
constexpr char kTrace[] = R"(Trace Go1.23
EventBatch gen=1 m=0 time=1000 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1000 size=auto
Strings
String id=1
	data="a label"
EventBatch gen=1 m=0 time=1000 size=auto
CPUSamples
CPUSample time=1006 m=9 p=1 g=2 stack=0
EventBatch gen=1 m=7 time=1001 size=auto
ProcStatus dt=0 p=0 pstatus=1
ProcStatus dt=1 p=1 pstatus=2
GoStatus dt=1 g=1 m=7 gstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GoLabel dt=1 label_string=1
GCSweepActive dt=2 p=1
GCMarkAssistActive dt=1 g=2
GCBegin dt=1 gc_seq=1 stack=0
HeapAlloc dt=1 heapalloc_value=1
GoUnblock dt=1 g=2 g_seq=1 stack=0
EventBatch gen=1 m=8 time=1012 size=auto
ProcStart dt=0 p=1 p_seq=1
GoStart dt=1 g=2 g_seq=2
HeapAlloc dt=1 heapalloc_value=2
)";
// The context of each:
//    0 Sync              none
//    1 P 0 appears       m 7
//    2 P 1 appears       m 7, p 0
//    3 goroutine 1       m 7, p 0
//    4 goroutine 2       m 7, p 0, g 1
//    5 Label on g 1      m 7, p 0, g 1
//    6 StackSample       m 9, p 1, g 2
//    7 sweep on p 1      m 7, p 0, g 1
//    8 assist of g 2     m 7, p 0, g 1
//    9 GC                m 7, p 0, g 1
//   10 Metric            m 7, p 0, g 1
//   11 goroutine 2 wakes m 7, p 0, g 1
//   12 P 1 starts        m 8
//   13 goroutine 2 runs  m 8, p 1
//   14 Metric            m 8, p 1, g 2
//   15 Sync              none

// Returns the times of the events that `filter` selects.
std::vector<int64_t> Select(const EventFilter& filter) {
  const absl::StatusOr<std::string> bytes = AssembleText(kTrace);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  absl::StatusOr<Reader> reader = Reader::FromBytes(*bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<int64_t> times;
  while (const Event* event = reader->Next()) {
    if (filter.Matches(*event, 1000)) times.push_back(event->time() - 1000);
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return times;
}

TEST(EventFilter, LetsEverythingThroughByDefault) {
  EXPECT_THAT(Select({}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

TEST(EventFilter, ByKind) {
  EventFilter filter;
  filter.kinds = {EventKind::kSync};
  EXPECT_THAT(Select(filter), ElementsAre(0, 15));
  filter.kinds = {EventKind::kMetric, EventKind::kLabel};
  EXPECT_THAT(Select(filter), ElementsAre(5, 10, 14));
  filter.kinds = {EventKind::kRangeBegin};
  EXPECT_THAT(Select(filter), ElementsAre(9));
  filter.kinds = {EventKind::kRangeActive};
  EXPECT_THAT(Select(filter), ElementsAre(7, 8));
  filter.kinds = {EventKind::kStackSample};
  EXPECT_THAT(Select(filter), ElementsAre(6));
  filter.kinds = {EventKind::kStateTransition};
  EXPECT_THAT(Select(filter), ElementsAre(1, 2, 3, 4, 11, 12, 13));
  filter.kinds = {EventKind::kLog};
  EXPECT_THAT(Select(filter), IsEmpty());
}

TEST(EventFilter, ByGoroutineOfTheContextOrOfTheSubject) {
  EventFilter filter;
  filter.goroutines = {GoId{1}};
  EXPECT_THAT(Select(filter), ElementsAre(3, 4, 5, 7, 8, 9, 10, 11));
  filter.goroutines = {GoId{2}};
  EXPECT_THAT(Select(filter), ElementsAre(4, 6, 8, 11, 13, 14));
  filter.goroutines = {GoId{1}, GoId{2}};
  EXPECT_THAT(Select(filter), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14));
  filter.goroutines = {GoId{3}};
  EXPECT_THAT(Select(filter), IsEmpty());
}

// No goroutine is goroutine -1, as printed.
TEST(EventFilter, ByNoGoroutine) {
  EventFilter filter;
  filter.goroutines = {GoId{-1}};
  EXPECT_THAT(Select(filter), ElementsAre(0, 1, 2, 3, 12, 13, 15));
}

TEST(EventFilter, ByProcOfTheContextOrOfTheSubject) {
  EventFilter filter;
  filter.procs = {ProcId{0}};
  EXPECT_THAT(Select(filter), ElementsAre(1, 2, 3, 4, 5, 7, 8, 9, 10, 11));
  filter.procs = {ProcId{1}};
  EXPECT_THAT(Select(filter), ElementsAre(2, 6, 7, 12, 13, 14));
  filter.procs = {ProcId{-1}};
  EXPECT_THAT(Select(filter), ElementsAre(0, 1, 12, 15));
}

TEST(EventFilter, ByThreadOfTheContext) {
  EventFilter filter;
  filter.threads = {ThreadId{8}};
  EXPECT_THAT(Select(filter), ElementsAre(12, 13, 14));
  filter.threads = {ThreadId{9}, ThreadId{8}};
  EXPECT_THAT(Select(filter), ElementsAre(6, 12, 13, 14));
  filter.threads = {ThreadId{-1}};
  EXPECT_THAT(Select(filter), ElementsAre(0, 15));
}

TEST(EventFilter, ByTimeBothEndsIncluded) {
  EventFilter filter;
  filter.since_start.from = 13;
  EXPECT_THAT(Select(filter), ElementsAre(13, 14, 15));
  filter.since_start.to = 14;
  EXPECT_THAT(Select(filter), ElementsAre(13, 14));
  filter.since_start.to = 13;
  EXPECT_THAT(Select(filter), ElementsAre(13));
  filter.since_start.to = 12;
  EXPECT_THAT(Select(filter), IsEmpty());
  filter.since_start.from = std::numeric_limits<int64_t>::min();
  filter.since_start.to = 2;
  EXPECT_THAT(Select(filter), ElementsAre(0, 1, 2));
}

TEST(EventFilter, ByTimeAsEventsTellIt) {
  EventFilter filter;
  filter.times.from = 1013;
  EXPECT_FALSE(filter.MatchesAll());
  EXPECT_THAT(Select(filter), ElementsAre(13, 14, 15));
  filter.times.to = 1014;
  EXPECT_THAT(Select(filter), ElementsAre(13, 14));
  filter.since_start.from = 14;
  EXPECT_THAT(Select(filter), ElementsAre(14));
  filter.since_start.to = 13;
  EXPECT_THAT(Select(filter), IsEmpty());
}

TEST(EventFilter, AllConditionsMustHold) {
  EventFilter filter;
  filter.goroutines = {GoId{2}};
  filter.procs = {ProcId{1}};
  EXPECT_THAT(Select(filter), ElementsAre(6, 13, 14));
  filter.threads = {ThreadId{8}};
  EXPECT_THAT(Select(filter), ElementsAre(13, 14));
  filter.kinds = {EventKind::kMetric, EventKind::kStackSample};
  EXPECT_THAT(Select(filter), ElementsAre(14));
  filter.since_start.to = 13;
  EXPECT_THAT(Select(filter), IsEmpty());
  filter.kinds.clear();
  EXPECT_THAT(Select(filter), ElementsAre(13));
  filter.since_start.from = 13;
  EXPECT_THAT(Select(filter), ElementsAre(13));
}

// A condition on goroutines does not select Ps with the same number.
TEST(EventFilter, GoroutinesAreNoProcs) {
  EventFilter filter;
  filter.goroutines = {GoId{0}};
  EXPECT_THAT(Select(filter), IsEmpty());
  filter.goroutines.clear();
  filter.procs = {ProcId{2}};
  EXPECT_THAT(Select(filter), IsEmpty());
}

TEST(EventFilter, IsPastOnceNoLaterEventCanMatch) {
  const absl::StatusOr<std::string> bytes = AssembleText(kTrace);
  absl::StatusOr<Reader> reader = Reader::FromBytes(*bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EventFilter since_start;
  since_start.since_start.to = 9;
  EventFilter times;
  times.times.to = 1009;
  while (const Event* event = reader->Next()) {
    EXPECT_EQ(since_start.IsPast(*event, 1000), event->time() > 1009) << event->time();
    EXPECT_EQ(times.IsPast(*event, 1000), event->time() > 1009) << event->time();
    EXPECT_FALSE(EventFilter().IsPast(*event, 1000));
  }
}

TEST(EventFilter, TimesSinceTheStartBecomeAbsolute) {
  constexpr int64_t kStart = 1000;
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  EventFilter filter;
  EXPECT_TRUE(filter.WithAbsoluteTimes(kStart).MatchesAll());
  filter.goroutines = {GoId{2}};
  filter.since_start = {5, 13};
  const EventFilter absolute = filter.WithAbsoluteTimes(kStart);
  EXPECT_TRUE(absolute.since_start.MatchesAll());
  EXPECT_EQ(absolute.times.from, 1005);
  EXPECT_EQ(absolute.times.to, 1013);
  EXPECT_EQ(Select(absolute), Select(filter));
  // The narrower condition counts.
  filter.times = {1006, 1020};
  EXPECT_EQ(filter.WithAbsoluteTimes(kStart).times.from, 1006);
  EXPECT_EQ(filter.WithAbsoluteTimes(kStart).times.to, 1013);
  // What does not fit is no condition.
  filter.times = {};
  filter.since_start = {0, kLast - 1};
  EXPECT_EQ(filter.WithAbsoluteTimes(kStart).times.to, kLast);
}

TEST(EventFilter, WhatIsNotSetStaysSoWhateverTheStart) {
  for (const int64_t start : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                              std::numeric_limits<int64_t>::max()}) {
    EXPECT_TRUE(EventFilter().WithAbsoluteTimes(start).MatchesAll()) << start;
  }
}

TEST(EventFilter, SelectsIdsAndKinds) {
  EventFilter filter;
  EXPECT_TRUE(filter.Selects(GoId{1}) && filter.Selects(ProcId{1}) && filter.Selects(ThreadId{1}) &&
              filter.Selects(EventKind::kLog));
  filter.goroutines = {GoId{1}};
  filter.procs = {ProcId{2}};
  filter.threads = {ThreadId{3}};
  filter.kinds = {EventKind::kLabel};
  filter.times = {4, 5};
  filter.since_start = {6, 7};
  const EventFilter without = filter.WithoutTimes();
  EXPECT_TRUE(without.times.MatchesAll() && without.since_start.MatchesAll());
  for (const EventFilter& selection : {filter, without}) {
    EXPECT_TRUE(selection.Selects(GoId{1}) && selection.Selects(ProcId{2}) &&
                selection.Selects(ThreadId{3}) && selection.Selects(EventKind::kLabel));
    EXPECT_FALSE(selection.Selects(GoId{2}) || selection.Selects(ProcId{3}) ||
                 selection.Selects(ThreadId{1}) || selection.Selects(EventKind::kLog));
  }
}

TEST(EventFilter, SelectsWholeSpans) {
  EventFilter filter;
  EXPECT_TRUE(filter.WithWholeSpans().kinds.empty());
  filter.kinds = {EventKind::kLog, EventKind::kRegionEnd, EventKind::kRangeActive};
  EXPECT_EQ(
      filter.WithWholeSpans().kinds,
      (std::set<EventKind>{EventKind::kLog, EventKind::kRegionBegin, EventKind::kRegionEnd,
                           EventKind::kRangeBegin, EventKind::kRangeActive, EventKind::kRangeEnd}));
}

TEST(EventFilter, SelectsStacks) {
  const StackFrame get = {1, "main.(*Cache).Get", "/src/cache.go", 17};
  const StackFrame main = {2, "main.main", "/src/main.go", 5};
  const BuiltTables tables;
  EventBuilder block(EventType::kGoBlock, tables);
  block.Transition(GoId{1}, GoState::kRunning, GoState::kWaiting).Stack({get, main});
  // The second stack is that of the new goroutine.
  EventBuilder create(EventType::kGoCreate, tables);
  create.Transition(GoId{2}, GoState::kNotExist, GoState::kRunnable);
  create.Stack({main}).TransitionStack({get});
  EventBuilder start(EventType::kGoStart, tables);
  start.Transition(GoId{2}, GoState::kRunnable, GoState::kRunning);
  const auto selected = [&](absl::string_view pattern) {
    absl::StatusOr<StackFilter> stacks = StackFilter::Parse(pattern);
    EXPECT_TRUE(stacks.ok()) << stacks.status();
    EventFilter filter;
    filter.stacks = *std::move(stacks);
    EXPECT_FALSE(filter.MatchesAll());
    std::string names;
    if (filter.Matches(block.Build(), 0)) names += "block ";
    if (filter.Matches(create.Build(), 0)) names += "create ";
    if (filter.Matches(start.Build(), 0)) names += "start ";
    return names;
  };
  EXPECT_EQ(selected("main.(*Cache).Get"), "block create ");
  EXPECT_EQ(selected("cache.go:17$"), "block create ");
  EXPECT_EQ(selected("cache.go:1$"), "");
  EXPECT_EQ(selected("^main.main$"), "block create ");
  EXPECT_EQ(selected("Put|Delete"), "");
  EXPECT_FALSE(StackFilter::Parse("main.[").ok());
  EXPECT_TRUE(StackFilter().Selects(Stack()));
}

TEST(EventFilterTest, OneConditionAndNotAllMatch) {
  EXPECT_TRUE(EventFilter().MatchesAll());
  const auto set = [](auto EventFilter::*condition, auto value) {
    EventFilter filter;
    filter.*condition = {value};
    return filter;
  };
  EXPECT_FALSE(set(&EventFilter::kinds, EventKind::kSync).MatchesAll());
  EXPECT_FALSE(set(&EventFilter::goroutines, GoId{1}).MatchesAll());
  EXPECT_FALSE(set(&EventFilter::procs, ProcId{1}).MatchesAll());
  EXPECT_FALSE(set(&EventFilter::threads, ThreadId{1}).MatchesAll());
  const EventFilter::Times all;
  for (const EventFilter::Times some : {EventFilter::Times{0, all.to}, {all.from, 0}}) {
    EXPECT_FALSE(set(&EventFilter::since_start, some).MatchesAll());
    EXPECT_FALSE(set(&EventFilter::times, some).MatchesAll());
  }
}

}  // namespace event_filter_test
}  // namespace gotrace::internal
