#include "gotrace/goroutine_stats.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/core/stats_text.h"
#include "gotrace/go_stats.h"
#include "gotrace/latency_stats.h"
#include "gotrace/read_parallel.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace goroutine_stats_test {

using Options = GoroutineStats::Options;

std::unique_ptr<MergeableAnalysisSink<GoroutineStats>> MakeSink(
    Options options, AnalysisSink::Options sink_options = {}) {
  return std::make_unique<MergeableAnalysisSink<GoroutineStats>>(
      [&](Interner* interner) { return std::make_unique<GoroutineStats>(interner, options); },
      sink_options);
}

const GoroutineStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const GoroutineStats&>(sink.analysis());
}

std::string AllTextOf(const AnalysisSink& sink) {
  std::string text;
  for (const GoroutineSpan& span : StatsOf(sink).goroutines()) {
    absl::StrAppend(&text, TextOf(sink.interner(), span));
  }
  for (const GoroutineGroup& group : StatsOf(sink).groups()) {
    absl::StrAppend(&text, TextOf(sink.interner(), group));
  }
  return text;
}

TEST(GoroutineStats, AreTheSameHoweverTheTraceIsCut) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    ExpectSameHoweverCut(
        ReadTestTrace(test.name),
        [](AnalysisSink::Options options) { return MakeSink({.keep_each = true}, options); },
        AllTextOf);
  }
}

// Goroutines of a WaitGroup are named after what it was given, if a stack shows that, or else by
// where they were created.
TEST(GoroutineStats, AreNamedAfterWhatAWrapperWasGiven) {
  using enum EventType;
  BuiltEvents events;
  const StackFrame wrapper = {1, "sync.(*WaitGroup).Go.func1", "sync/waitgroup.go", 1};
  const StackFrame own[] = {{2, "sync.(*WaitGroup).Go.func1.1", "sync/waitgroup.go", 2}, wrapper};
  const StackFrame given[] = {
      {3, "time.Sleep", "time/sleep.go", 3}, {4, "main.work", "/src/main.go", 4}, wrapper};
  const StackFrame creator[] = {{5, "sync.(*WaitGroup).Go", "sync/waitgroup.go", 5},
                                {6, "main.serve", "/src/main.go", 6}};
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  const auto create = [&](int64_t time, int64_t g) {
    events.Push(events.Builder(kGoCreate, time, 0, 1)
                    .Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable)
                    .Stack(creator)
                    .TransitionStack({wrapper}));
    events.Go(kGoStart, time + 2, 1, g, GoState::kRunnable, GoState::kRunning);
  };
  const auto block = [&](int64_t time, int64_t g, absl::Span<const StackFrame> stack) {
    events.Push(events.Builder(kGoBlock, time, 1, g)
                    .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
                    .Reason("sleep")
                    .Stack(stack)
                    .TransitionStack(stack));
  };
  create(10, 11);
  block(15, 11, given);
  create(20, 12);
  events.Go(kGoDestroy, 25, 1, 12, GoState::kRunning, GoState::kNotExist);
  create(30, 13);
  block(35, 13, own);
  events.Sync(50, 2);

  const std::unique_ptr<AnalysisSink> sink = MakeSink({.keep_each = true});
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  const auto names = [&](auto spans) {
    std::map<std::string, int64_t> totals;
    for (const auto& span : spans) {
      totals[std::string(sink->interner().String(span.name))] += span.times.total;
    }
    return totals;
  };
  const std::map<std::string, int64_t> expected = {
      {"", 50}, {"main.work", 40}, {"sync.(*WaitGroup).Go.func1 of main.serve", 5 + 20}};
  EXPECT_EQ(names(StatsOf(*sink).groups()), expected);
  EXPECT_EQ(names(StatsOf(*sink).goroutines()), expected);

  // By their creator, they are one.
  const std::unique_ptr<AnalysisSink> by_creator = MakeSink({.by_creator = true});
  by_creator->Add(events.events());
  ASSERT_TRUE(by_creator->Finish().ok());
  const absl::Span<const GoroutineGroup> groups = StatsOf(*by_creator).groups();
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(by_creator->interner().String(groups[1].creator), "main.serve");
  EXPECT_EQ(groups[1].creator_line, 6);
  EXPECT_EQ(groups[1].count, 3);

  // Waits before a stack shows what the wrapper was given count, too.
  const auto waits = std::make_unique<AnalysisSink>(
      [](Interner* interner) {
        LatencyStats::Options options;
        options.kinds = {true, false, false, false, false};
        options.by_start = true;
        return std::make_unique<LatencyStats>(interner, options);
      },
      AnalysisSink::Options());
  waits->Add(events.events());
  ASSERT_TRUE(waits->Finish().ok());
  std::map<std::string, uint64_t> sums;
  for (const LatencyGroup& group : static_cast<const LatencyStats&>(waits->analysis()).groups()) {
    sums[std::string(waits->interner().String(group.key.start))] = group.durations.sum();
  }
  EXPECT_EQ(sums, (std::map<std::string, uint64_t>{
                      {"main.work", 2}, {"sync.(*WaitGroup).Go.func1 of main.serve", 4}}));
}

// Reads a trace on two cores. `options` are those of the analysis, `sink_options` those of its
// sink.
std::string ReadOnTwoCores(const std::string& bytes, const Options& options,
                           const AnalysisSink::Options& sink_options) {
  ReaderOptions reading;
  reading.jobs = 2;
  reading.tuning.jobs_from_bytes = 0;
  std::unique_ptr<MergeableAnalysisSink<GoroutineStats>> sink;
  EXPECT_TRUE(
      ReadParallel(
          *SourceFromBytes(bytes), reading, [&] { return MakeSink(options, sink_options); }, &sink)
          .ok());
  return AllTextOf(*sink);
}

TEST(GoroutineStats, AreTheSameOnTwoCores) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  const std::unique_ptr<AnalysisSink> whole = MakeSink({.keep_each = true});
  ASSERT_TRUE(ReadInto(*reader, {whole.get()}).ok());
  EXPECT_EQ(ReadOnTwoCores(bytes, {.keep_each = true}, {}), AllTextOf(*whole));
}

TEST(GoroutineStats, AWindowCanBeGivenInAnyWay) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const int64_t start = Reader::FromBytes(bytes)->Next()->time();
  const EventFilter::Times since_start = {50'000'000, 150'000'000};
  const EventFilter::Times absolute = {start + since_start.from, start + since_start.to};
  EventFilter filter;
  filter.times = absolute;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  const std::unique_ptr<AnalysisSink> sink =
      MakeSink({.keep_each = true, .filter = filter}, {.window = absolute});
  ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  const std::string expected = AllTextOf(*sink);
  EXPECT_NE(expected, ReadOnTwoCores(bytes, {.keep_each = true}, {}));
  EXPECT_EQ(ReadOnTwoCores(bytes, {.keep_each = true}, {.window = absolute}), expected);
  EXPECT_EQ(ReadOnTwoCores(bytes, {.keep_each = true}, {.since_start = since_start}), expected);
  filter = {};
  filter.since_start = since_start;
  EXPECT_EQ(ReadOnTwoCores(bytes, {.keep_each = true, .filter = filter}, {.window = absolute}),
            expected);
}

TEST(GoroutineStats, PartitionLifetimes) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink({.keep_each = true});
    ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
    std::map<StringId, ExecutionTimes> sums;
    for (const GoroutineSpan& span : StatsOf(*sink).goroutines()) {
      const ExecutionTimes& times = span.times;
      EXPECT_EQ(times.total, times.running + times.runnable + times.syscall +
                                 times.syscall_blocked + times.BlockedTotal() +
                                 times.StoppedTotal())
          << TextOf(sink->interner(), span);
      int64_t stopped = 0;
      for (const NamedTime& reason : times.stopped) stopped += reason.time;
      EXPECT_EQ(stopped, times.StoppedTotal());
      EXPECT_TRUE(!span.end.has_value() || *span.end - span.creation == times.total);
      sums[span.name].Add(times);
    }
    ASSERT_EQ(StatsOf(*sink).groups().size(), sums.size());
    for (const GoroutineGroup& group : StatsOf(*sink).groups()) {
      EXPECT_EQ(group.times.total, sums[group.name].total);
      EXPECT_EQ(group.total.sum(), static_cast<uint64_t>(sums[group.name].total));
      EXPECT_EQ(group.total.count(), group.count);
    }
  }
}

// G 7 stops the world twice. G 8 is ready in both stops, and G 9 is preempted for the first.
BuiltEvents StopEvents() {
  using enum EventType;
  constexpr GoState kUndetermined = GoState::kUndetermined;
  constexpr GoState kRunnable = GoState::kRunnable;
  constexpr GoState kRunning = GoState::kRunning;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, kUndetermined, kRunning);
  events.Go(kGoStatus, 2, -1, 8, kUndetermined, kRunnable);
  events.Go(kGoStatus, 3, 1, 9, kUndetermined, kRunning);
  events.Push(events.Builder(kSTWBegin, 10, 0, 7).Reason("read mem stats"));
  events.Go(kGoStop, 14, 1, 9, kRunning, kRunnable, "preempted");
  events.Push(events.Builder(kSTWEnd, 30, 0, 7).Reason("read mem stats"));
  events.Go(kGoStart, 33, 1, 9, kRunnable, kRunning);
  events.Go(kGoStart, 40, 2, 8, kRunnable, kRunning);
  events.Push(events.Builder(kSTWBegin, 50, 0, 7).Reason("GC mark termination"));
  events.Go(kGoStop, 52, 2, 8, kRunning, kRunnable, "preempted");
  events.Push(events.Builder(kSTWEnd, 60, 0, 7).Reason("GC mark termination"));
  events.Go(kGoBlock, 70, 0, 7, kRunning, GoState::kWaiting, "sleep");
  events.Sync(100, 2);
  return events;
}

TEST(GoroutineStats, TakeStopsOfTheWorldApart) {
  const BuiltEvents events = StopEvents();
  const std::unique_ptr<AnalysisSink> sink = MakeSink({.keep_each = true});
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  std::string text;
  for (const GoroutineSpan& span : StatsOf(*sink).goroutines()) {
    absl::StrAppend(&text, TextOf(sink->interner(), span));
  }
  // The times are total, running, runnable, and twice that of syscalls.
  EXPECT_EQ(text,
            "goroutine\t7\t\"\"\t0\t0\t0\t100\t40\t0\t0\t0\tblock:sleep=30\t"
            "stop:read mem stats=20\tstop:GC mark termination=10\t"
            "range:stop-the-world (GC mark termination)=10\t"
            "range:stop-the-world (read mem stats)=20\n"
            "goroutine\t8\t\"\"\t0\t40\t0\t100\t12\t60\t0\t0\t"
            "stop:read mem stats=20\tstop:GC mark termination=8\n"
            "goroutine\t9\t\"\"\t0\t0\t0\t100\t81\t3\t0\t0\tstop:read mem stats=16\n");
  const ExecutionTimes& stopper = StatsOf(*sink).goroutines()[0].times;
  EXPECT_EQ(stopper.stopped_running, 30);
  EXPECT_EQ(stopper.stopped_runnable, 0);
  EXPECT_EQ(stopper.RunningWithStops(), 70);
  EXPECT_EQ(StatsOf(*sink).goroutines()[1].times.stopped_runnable, 28);
}

TEST(GoroutineStats, CutStopsOfTheWorldToTheWindow) {
  const BuiltEvents events = StopEvents();
  Options options = {.keep_each = true};
  options.filter.times = {20, 55};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options, {.window = options.filter.times});
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(StatsOf(*sink).goroutines().size(), 3);
  const ExecutionTimes& times = StatsOf(*sink).goroutines()[1].times;
  EXPECT_EQ(times.total, 35);
  EXPECT_EQ(times.running, 12);
  EXPECT_EQ(times.runnable, 10);
  EXPECT_EQ(times.stopped_runnable, 10 + 3);
}

// Nothing begins a generation while the world is stopped, so the end of the stop is missing.
TEST(GoroutineStats, EndAStopWithItsGeneration) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 1, -1, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Push(events.Builder(kSTWBegin, 10, 0, 7).Reason("read mem stats"));
  events.Sync(25, 2);
  events.Go(kGoStatus, 26, 0, 7, GoState::kRunning, GoState::kRunning);
  events.Go(kGoStatus, 26, -1, 8, GoState::kRunnable, GoState::kRunnable);
  events.Push(events.Builder(kSTWEnd, 30, 0, 7).Reason("read mem stats"));
  events.Go(kGoStart, 40, 1, 8, GoState::kRunnable, GoState::kRunning);
  events.Sync(50, 3);
  events.Go(kGoStatus, 51, 0, 7, GoState::kRunning, GoState::kRunning);
  events.Go(kGoStatus, 51, 1, 8, GoState::kRunning, GoState::kRunning);
  const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
      events.events(),
      [](AnalysisSink::Options options) { return MakeSink({.keep_each = true}, options); },
      AllTextOf);
  ASSERT_EQ(StatsOf(*whole).goroutines().size(), 2);
  EXPECT_EQ(StatsOf(*whole).goroutines()[0].times.stopped_running, 15);
  EXPECT_EQ(StatsOf(*whole).goroutines()[1].times.stopped_runnable, 15);
  EXPECT_EQ(StatsOf(*whole).goroutines()[1].times.runnable, 25);
}

// Times in the states are compared by go_numbers_test.
TEST(GoroutineStats, HaveTheNamesAndRangesOfGo) {
  int ranges = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink({.keep_each = true});
    Interner interner;
    GoCompatibleStats go(&interner);
    ASSERT_TRUE(ReadInto(*reader, {sink.get(), &go}).ok());
    std::map<GoId, const GoroutineSpan*> last_spans;
    for (const GoroutineSpan& span : StatsOf(*sink).goroutines())
      last_spans[span.goroutine] = &span;
    ASSERT_EQ(last_spans.size(), go.goroutines().size());
    for (const GoroutineSpan& expected : go.goroutines()) {
      ASSERT_TRUE(last_spans.contains(expected.goroutine));
      const GoroutineSpan& span = *last_spans[expected.goroutine];
      EXPECT_EQ(sink->interner().String(span.name), interner.String(expected.name));
      EXPECT_EQ(span.creation, expected.creation);
      EXPECT_EQ(span.is_older, expected.is_older);
      std::map<absl::string_view, int64_t> found;
      std::map<absl::string_view, int64_t> of_go;
      for (const NamedTime& range : span.times.ranges) {
        found[sink->interner().String(range.name)] = range.time;
      }
      for (const NamedTime& range : expected.times.ranges) {
        of_go[interner.String(range.name)] = range.time;
      }
      ranges += of_go.size();
      EXPECT_EQ(found, of_go) << TextOf(sink->interner(), span) << TextOf(interner, expected);
    }
  }
  EXPECT_GT(ranges, 100);
}

TEST(GoroutineStats, CountOnlyTheWindow) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> whole = MakeSink({.keep_each = true});
  ASSERT_TRUE(ReadInto(*reader, {whole.get()}).ok());
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const GoroutineSpan& span : StatsOf(*whole).goroutines()) {
    begin = std::min(begin, span.creation);
    end = std::max(end, span.creation + span.times.total);
  }
  // The parts of consecutive windows add up to the whole.
  std::map<GoId, ExecutionTimes> sums;
  const int64_t step = (end - begin) / 7 + 1;
  for (int64_t from = begin; from < end; from += step) {
    reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    Options options = {.keep_each = true};
    options.filter.times = {from, from + step};
    const std::unique_ptr<AnalysisSink> part = MakeSink(options, {.window = options.filter.times});
    ASSERT_TRUE(ReadInto(*reader, {part.get()}).ok());
    for (const GoroutineSpan& span : StatsOf(*part).goroutines()) {
      EXPECT_LE(span.times.total, step);
      ExecutionTimes times = span.times;
      times.blocked = {};
      times.stopped = {};
      times.ranges = {};
      sums[span.goroutine].Add(times);
    }
  }
  for (const GoroutineSpan& span : StatsOf(*whole).goroutines()) {
    const ExecutionTimes& sum = sums[span.goroutine];
    EXPECT_EQ(sum.total, span.times.total) << span.goroutine;
    EXPECT_EQ(sum.running, span.times.running) << span.goroutine;
    EXPECT_EQ(sum.runnable, span.times.runnable) << span.goroutine;
    EXPECT_EQ(sum.stopped_running, span.times.stopped_running) << span.goroutine;
    EXPECT_EQ(sum.stopped_runnable, span.times.stopped_runnable) << span.goroutine;
    EXPECT_EQ(sum.syscall, span.times.syscall) << span.goroutine;
  }
}

TEST(GoroutineStats, KeepOnlySelectedGoroutines) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  Options options = {.keep_each = true};
  options.filter.goroutines = {GoId{1}};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  ASSERT_EQ(StatsOf(*sink).goroutines().size(), 1);
  EXPECT_EQ(StatsOf(*sink).goroutines()[0].goroutine, GoId{1});
  ASSERT_EQ(StatsOf(*sink).groups().size(), 1);
  EXPECT_EQ(StatsOf(*sink).groups()[0].count, 1);
}

}  // namespace goroutine_stats_test
}  // namespace gotrace::internal
