#include "gotrace/task_stats.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/core/stats_text.h"
#include "gotrace/go_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace task_stats_test {

std::unique_ptr<MergeableAnalysisSink<TaskStats>> MakeSink(EventFilter filter = {},
                                                           AnalysisSink::Options options = {}) {
  options.window = filter.times;
  return std::make_unique<MergeableAnalysisSink<TaskStats>>(
      [&](Interner* interner) { return std::make_unique<TaskStats>(interner, filter); }, options);
}

const TaskStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const TaskStats&>(sink.analysis());
}

// Without what is 0, in order of names.
void Normalize(const Interner& interner, NamedTimes* times) {
  std::map<std::string, NamedTime> sorted;
  for (const NamedTime& time : *times) {
    if (time.time != 0) sorted[std::string(interner.String(time.name))] = time;
  }
  *times = NamedTimes();
  for (const auto& [name, time] : sorted) times->Add(time.name, time.time);
}

std::string NormalizedText(const Interner& interner, RegionSpan region) {
  if (!region.begin.has_value()) {
    // A2: in syscalls that began before the trace only the sum is the same.
    region.times.syscall += region.times.syscall_blocked;
    region.times.syscall_blocked = 0;
  }
  // A13: Go does not know stops of the world.
  region.times.running = region.times.RunningWithStops();
  region.times.runnable = region.times.RunnableWithStops();
  region.times.stopped = {};
  Normalize(interner, &region.times.blocked);
  Normalize(interner, &region.times.ranges);
  return TextOf(interner, region);
}

TEST(TaskStats, AreThoseOfGo) {
  int regions = 0;
  int tasks = 0;
  int forgotten = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    Interner interner;
    GoCompatibleStats go(&interner);
    ASSERT_TRUE(ReadInto(*reader, {sink.get(), &go}).ok());
    std::map<GoId, int64_t> creations;
    for (const GoroutineSpan& span : go.goroutines()) creations[span.goroutine] = span.creation;
    std::multiset<std::string> found;
    for (const RegionSpan& region : StatsOf(*sink).regions()) {
      // A4 in DIVERGENCES.md: Go has only the last goroutine with the id.
      if (region.begin.value_or(*region.end) < creations[region.goroutine]) continue;
      found.insert(NormalizedText(sink->interner(), region));
      ++regions;
    }
    std::multiset<std::string> expected;
    for (const RegionSpan& region : go.regions()) {
      // A8: a goroutine inherits a region without a type.
      const bool is_inherited = region.type == StringId::kEmpty && region.begin.has_value() &&
                                *region.begin == creations[region.goroutine];
      if (!is_inherited) expected.insert(NormalizedText(interner, region));
    }
    EXPECT_EQ(found, expected);
    // A12: Go forgets the type of a task that ends twice.
    std::set<TaskId> without_type;
    for (const TaskSpan& task : go.tasks()) {
      if (task.type == StringId::kEmpty) without_type.insert(task.task);
    }
    std::string found_tasks;
    for (TaskSpan task : StatsOf(*sink).tasks()) {
      if (without_type.contains(task.task) &&
          std::exchange(task.type, StringId::kEmpty) != StringId::kEmpty) {
        ++forgotten;
      }
      absl::StrAppend(&found_tasks, TextOf(sink->interner(), task));
      ++tasks;
    }
    std::string expected_tasks;
    for (const TaskSpan& task : go.tasks()) {
      if (task.task != kBackgroundTask) absl::StrAppend(&expected_tasks, TextOf(interner, task));
    }
    EXPECT_EQ(found_tasks, expected_tasks);
  }
  EXPECT_GT(regions, 200);
  EXPECT_GT(tasks, 150);
  EXPECT_GT(forgotten, 0);
}

// TextOf() of a task lacks its times.
std::string AllTextOf(const AnalysisSink& sink) {
  std::string text;
  for (const RegionSpan& region : StatsOf(sink).regions()) {
    absl::StrAppend(&text, TextOf(sink.interner(), region));
  }
  for (const TaskSpan& task : StatsOf(sink).tasks()) {
    RegionSpan times;
    times.times = task.times;
    absl::StrAppend(&text, TextOf(sink.interner(), task), TextOf(sink.interner(), times),
                    task.begin_goroutine.value, " ", task.end_goroutine.value, "\n");
  }
  return text;
}

TEST(TaskStats, AreTheSameHoweverTheTraceIsCut) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    ExpectSameHoweverCut(
        ReadTestTrace(test.name),
        [](AnalysisSink::Options options) { return MakeSink({}, options); }, AllTextOf);
  }
}

// The second of three generations begins while all goroutines run. Goroutine 1 stops in it, and
// blocks until the third; 2 and 3 do neither. Goroutine 3 is in a region that is older than the
// trace.
BuiltEvents RegionsAcrossGenerations() {
  using enum EventType;
  constexpr GoState kRunning = GoState::kRunning;
  BuiltEvents events;
  const auto region = [&](EventType type, int64_t time, int64_t g) {
    events.Push(events.Builder(type, time, g, g).Task(TaskId{5}).RegionType("r"));
  };
  const auto range = [&](EventType type, int64_t time, int64_t g) {
    events.Push(events.Builder(type, time, g, g).Arg(0, static_cast<uint64_t>(g)));
  };
  events.Sync(0, 1);
  for (int64_t g = 1; g <= 3; ++g) {
    events.Go(kGoStatus, g, g, g, GoState::kUndetermined, kRunning);
  }
  region(kUserRegionBegin, 10, 1);
  region(kUserRegionBegin, 20, 2);
  range(kGCMarkAssistBegin, 40, 1);
  range(kGCSweepBegin, 50, 2);
  events.Sync(100, 2);
  for (int64_t g = 1; g <= 3; ++g) {
    events.Go(kGoStatus, 100 + g, g, g, kRunning, kRunning);
  }
  range(kGCMarkAssistActive, 104, 1);
  range(kGCSweepActive, 105, 2);
  region(kUserRegionBegin, 110, 1);
  region(kUserRegionBegin, 115, 2);
  region(kUserRegionEnd, 120, 1);
  region(kUserRegionEnd, 125, 2);
  range(kGCMarkAssistEnd, 130, 1);
  region(kUserRegionEnd, 135, 3);
  region(kUserRegionEnd, 140, 1);
  events.Go(kGoStop, 142, 1, 1, kRunning, GoState::kRunnable);
  events.Go(kGoStart, 143, 1, 1, GoState::kRunnable, kRunning);
  region(kUserRegionBegin, 145, 1);
  events.Go(kGoBlock, 150, 1, 1, kRunning, GoState::kWaiting, "sleep");
  events.Sync(200, 3);
  events.Go(kGoStatus, 201, 1, 1, GoState::kWaiting, GoState::kWaiting);
  for (int64_t g = 2; g <= 3; ++g) {
    events.Go(kGoStatus, 200 + g, g, g, kRunning, kRunning);
  }
  range(kGCSweepActive, 204, 2);
  region(kUserRegionEnd, 210, 2);
  range(kGCSweepEnd, 220, 2);
  region(kUserRegionBegin, 230, 3);
  events.Go(kGoDestroy, 240, 3, 3, kRunning, GoState::kNotExist);
  events.GoBy(2, kGoUnblock, 250, 2, 1, GoState::kWaiting, GoState::kRunnable);
  events.Go(kGoStart, 260, 1, 1, GoState::kRunnable, kRunning);
  region(kUserRegionEnd, 270, 1);
  events.Sync(300, 4);
  return events;
}

TEST(TaskStats, JoinRegionsThatCrossGenerations) {
  const BuiltEvents events = RegionsAcrossGenerations();
  const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink({}, options); },
      AllTextOf);
  std::string text;
  for (const RegionSpan& region : StatsOf(*whole).regions()) {
    absl::StrAppend(&text, TextOf(whole->interner(), region));
  }
  // The times are total, running, runnable, and twice that of syscalls.
  EXPECT_EQ(text,
            "region\t1\t5\t\"r\"\t110\t120\t10\t10\t0\t0\t0\trange:GC mark assist=10\n"
            "region\t2\t5\t\"r\"\t115\t125\t10\t10\t0\t0\t0\trange:GC incremental sweep=10\n"
            "region\t3\t5\t\"r\"\t-\t135\t135\t135\t0\t0\t0\n"
            "region\t1\t5\t\"r\"\t10\t140\t130\t130\t0\t0\t0\trange:GC mark assist=90\n"
            "region\t2\t5\t\"r\"\t20\t210\t190\t190\t0\t0\t0\trange:GC incremental sweep=160\n"
            "region\t3\t5\t\"r\"\t230\t240\t10\t10\t0\t0\t0\n"
            "region\t1\t5\t\"r\"\t145\t270\t125\t15\t10\t0\t0\tblock:sleep=100\n");
  ASSERT_EQ(StatsOf(*whole).tasks().size(), 1);
  const TaskSpan& task = StatsOf(*whole).tasks()[0];
  EXPECT_EQ(task.regions, 7);
  EXPECT_EQ(task.goroutines, 3);
  // Without the two that are inside of others.
  EXPECT_EQ(task.times.total, 135 + 130 + 190 + 10 + 125);
}

TEST(TaskStats, AreCutToTheWindow) {
  const BuiltEvents events = RegionsAcrossGenerations();
  EventFilter filter;
  filter.times = {60, 115};
  const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
      events.events(), [&](AnalysisSink::Options options) { return MakeSink(filter, options); },
      AllTextOf);
  std::string text;
  for (const RegionSpan& region : StatsOf(*whole).regions()) {
    absl::StrAppend(&text, TextOf(whole->interner(), region));
  }
  EXPECT_EQ(text,
            "region\t1\t5\t\"r\"\t110\t120\t5\t5\t0\t0\t0\trange:GC mark assist=5\n"
            "region\t2\t5\t\"r\"\t115\t125\t0\t0\t0\t0\t0\n"
            "region\t3\t5\t\"r\"\t-\t135\t55\t55\t0\t0\t0\n"
            "region\t1\t5\t\"r\"\t10\t140\t55\t55\t0\t0\t0\trange:GC mark assist=55\n"
            "region\t2\t5\t\"r\"\t20\t210\t55\t55\t0\t0\t0\trange:GC incremental sweep=55\n");
}

// A goroutine stops the world in a region, and is ready when another one does.
TEST(TaskStats, TakeStopsOfTheWorldApart) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kUserRegionBegin, 5, 0, 1).Task(TaskId{5}).RegionType("r"));
  events.Push(events.Builder(kSTWBegin, 10, 0, 1).Reason("read mem stats"));
  events.Push(events.Builder(kSTWEnd, 30, 0, 1).Reason("read mem stats"));
  events.Go(kGoStop, 35, 0, 1, GoState::kRunning, GoState::kRunnable, "preempted");
  events.Push(events.Builder(kSTWBegin, 40, 1, 2).Reason("GC sweep termination"));
  events.Push(events.Builder(kSTWEnd, 50, 1, 2).Reason("GC sweep termination"));
  events.Go(kGoStart, 55, 0, 1, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kUserRegionEnd, 60, 0, 1).Task(TaskId{5}).RegionType("r"));
  events.Sync(100, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(StatsOf(*sink).regions().size(), 1);
  const RegionSpan& region = StatsOf(*sink).regions()[0];
  EXPECT_EQ(TextOf(sink->interner(), region),
            "region\t1\t5\t\"r\"\t5\t60\t55\t15\t10\t0\t0\tstop:GC sweep termination=10\t"
            "stop:read mem stats=20\trange:stop-the-world (read mem stats)=20\n");
  EXPECT_EQ(region.times.stopped_running, 20);
  EXPECT_EQ(region.times.stopped_runnable, 10);
  EXPECT_EQ(region.times.Unknown(), 0);
}

TEST(TaskStats, PartitionRegions) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  ASSERT_FALSE(StatsOf(*sink).regions().empty());
  for (const RegionSpan& region : StatsOf(*sink).regions()) {
    EXPECT_EQ(region.times.Unknown(), 0) << TextOf(sink->interner(), region);
  }
  const std::vector<SpanGroup> groups = GroupByType(StatsOf(*sink).regions(), sink->interner());
  uint64_t count = 0;
  for (const SpanGroup& group : groups) {
    count += group.count;
    EXPECT_EQ(group.duration.count() + group.open, group.count);
  }
  EXPECT_EQ(count, StatsOf(*sink).regions().size());
}

// The event in which the goroutine stopped is missing: nothing is known until it starts again.
TEST(TaskStats, KnowNothingOfAGapInWhichARegionBegins) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kUserRegionBegin, 50, 0, 7).Task(TaskId{0}).RegionType("work"));
  events.Go(kGoStart, 80, 0, 7, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kUserRegionEnd, 90, 0, 7).Task(TaskId{0}).RegionType("work"));
  events.Sync(100, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(StatsOf(*sink).regions().size(), 1u);
  const ExecutionTimes& times = StatsOf(*sink).regions()[0].times;
  EXPECT_EQ(times.total, 40);
  EXPECT_EQ(times.running, 10);
  EXPECT_EQ(times.Unknown(), 30);
}

TEST(TaskStats, HaveOnlyWhatIsSelected) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> whole = MakeSink();
  ASSERT_TRUE(ReadInto(*reader, {whole.get()}).ok());
  const absl::Span<const RegionSpan> regions = StatsOf(*whole).regions();
  const RegionSpan& chosen = regions[regions.size() / 2];
  ASSERT_TRUE(chosen.begin.has_value() && chosen.end.has_value());
  EventFilter filter;
  filter.goroutines = {chosen.goroutine};
  // The second half of the region.
  filter.times.from = *chosen.begin + (*chosen.end - *chosen.begin) / 2;
  filter.times.to = *chosen.end;
  reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> part = MakeSink(filter);
  ASSERT_TRUE(ReadInto(*reader, {part.get()}).ok());
  bool is_there = false;
  for (const RegionSpan& region : StatsOf(*part).regions()) {
    EXPECT_EQ(region.goroutine, chosen.goroutine);
    EXPECT_LE(region.times.total, filter.times.to - filter.times.from);
    EXPECT_EQ(region.times.Unknown(), 0);
    is_there |= region.begin == chosen.begin && region.end == chosen.end;
  }
  EXPECT_TRUE(is_there);
  EXPECT_LT(StatsOf(*part).regions().size(), regions.size());
}

}  // namespace task_stats_test
}  // namespace gotrace::internal
