#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/core/stats_text.h"
#include "gotrace/critical_path.h"
#include "gotrace/event_times.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/heap_stats.h"
#include "gotrace/mutator_utilization.h"
#include "gotrace/proc_stats.h"
#include "gotrace/profile.h"
#include "gotrace/run_analysis.h"
#include "gotrace/task_stats.h"
#include "gotrace/task_story.h"
#include "gotrace/trace_metrics.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace analyze_test {

// What is never run in parts does not compile if it is.
template <class Sink>
concept CanBeReadInParts = requires(std::unique_ptr<Sink> sink) {
  ReadParallel(
      std::unique_ptr<ByteSource>(), ReaderOptions(), [] { return std::unique_ptr<Sink>(); },
      &sink);
};
static_assert(CanBeReadInParts<MergeableAnalysisSink<GoroutineStats>>);
static_assert(!CanBeReadInParts<AnalysisSink>);
static_assert(!CanBeReadInParts<StateTracker>);

static_assert(IsMergeableAnalysis<Profile>);
static_assert(IsMergeableAnalysis<MutatorUtilization>);
static_assert(!IsMergeableAnalysis<RegionProfile>);
static_assert(!IsMergeableAnalysis<GoCompatibleProfile>);
static_assert(!IsMergeableAnalysis<GoCompatibleUtilization>);
static_assert(!IsMergeableAnalysis<CriticalPaths>);
static_assert(!IsMergeableAnalysis<HeapStats>);
static_assert(!IsMergeableAnalysis<TaskStory>);
static_assert(!IsMergeableAnalysis<TraceMetrics>);

// Several analyses are as mergeable as the least of them.
static_assert(IsMergeableAnalysis<AnalysisGroup<GoroutineStats, TaskStats>>);
static_assert(!IsMergeableAnalysis<AnalysisGroup<GoroutineStats, TraceMetrics>>);

std::string ResultOf(const GoroutineStats& stats, const Interner& names) {
  std::string text;
  for (const GoroutineGroup& group : stats.groups()) absl::StrAppend(&text, TextOf(names, group));
  return text;
}

std::string ResultOf(const TaskStats& stats, const Interner& names) {
  std::string text;
  for (const TaskSpan& task : stats.tasks()) absl::StrAppend(&text, TextOf(names, task));
  for (const RegionSpan& region : stats.regions()) absl::StrAppend(&text, TextOf(names, region));
  return text;
}

std::string ResultOf(const TraceMetrics& metrics, const Interner& names) {
  std::string text;
  for (const TraceMetricValue& value : metrics.values()) {
    absl::StrAppend(&text, TraceMetricName(value.metric), " ", names.String(value.function), " ",
                    value.value, "\n");
  }
  return text;
}

// What the analysis that `make` makes has if it is run over all events of a Reader.
template <class Make>
std::string ResultAlone(const std::string& bytes, const Make& make,
                        const AnalysisSink::Options& options = {}) {
  Reader reader = *Reader::FromBytes(bytes);
  AnalysisSink sink(make, options);
  ReadInto(reader, {&sink}).IgnoreError();
  using A = typename std::invoke_result_t<Make, Interner*>::element_type;
  return ResultOf(dynamic_cast<const A&>(sink.analysis()), sink.interner());
}

const auto kGoroutines = With<GoroutineStats>(GoroutineStats::Options());
const auto kTasks = With<TaskStats>(EventFilter());
const auto kMetrics = With<TraceMetrics>(EventFilter::Times());

AnalyzeOptions OnFourCores() {
  AnalyzeOptions options;
  options.reader.jobs = 4;
  options.reader.tuning.jobs_from_bytes = 0;
  return options;
}

TEST(Analyze, HasTheResultsOfEachAnalysisAlone) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    const std::string goroutines = ResultAlone(bytes, kGoroutines);
    const auto one = Analyze<GoroutineStats>(*SourceFromBytes(bytes), OnFourCores());
    EXPECT_TRUE(one.status().ok()) << one.status();
    EXPECT_EQ(ResultOf(*one, one.interner()), goroutines);
    EXPECT_EQ(one.event_count(), test.events);

    // On several cores.
    const auto two = Analyze<GoroutineStats, TaskStats>(*SourceFromBytes(bytes), OnFourCores());
    EXPECT_EQ(ResultOf(two.get<GoroutineStats>(), two.interner()), goroutines);
    EXPECT_EQ(ResultOf(two.get<TaskStats>(), two.interner()), ResultAlone(bytes, kTasks));

    // On one.
    const auto three =
        Analyze(*SourceFromBytes(bytes), OnFourCores(), kGoroutines, kTasks, kMetrics);
    EXPECT_TRUE(three.status().ok()) << three.status();
    EXPECT_EQ(ResultOf(three.get<GoroutineStats>(), three.interner()), goroutines);
    EXPECT_EQ(ResultOf(three.get<TraceMetrics>(), three.interner()), ResultAlone(bytes, kMetrics));
    EXPECT_EQ(three.event_count(), test.events);
  }
}

int64_t RunningTimeOf(const GoroutineStats& stats) {
  int64_t sum = 0;
  for (const GoroutineGroup& group : stats.groups()) sum += group.times.running;
  return sum;
}

TEST(Analyze, CutsResultsToAWindow) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  Reader reader = *Reader::FromBytes(bytes);
  const int64_t start = reader.Next()->time();
  int64_t end = start;
  while (const Event* const event = reader.Next()) end = event->time();
  const int64_t from = start + (end - start) * 3 / 4;
  const int64_t to = start + (end - start) * 7 / 8;
  const std::string expected = ResultAlone(bytes, kGoroutines, {{from, to}, {}});
  EXPECT_NE(expected, ResultAlone(bytes, kGoroutines));

  AnalyzeOptions options = OnFourCores();
  options.window.filter.times = {from, to};
  options.window.from_beginning = true;
  const auto all_before = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_EQ(ResultOf(*all_before, all_before.interner()), expected);

  // Without the generations before, the same states are there, but not all names.
  options.window.from_beginning = false;
  const auto window = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_TRUE(window.status().ok()) << window.status();
  EXPECT_LT(window.event_count(), all_before.event_count());
  EXPECT_EQ(RunningTimeOf(*window), RunningTimeOf(*all_before));

  options.window.filter.times = {};
  options.window.filter.since_start = {from - start, to - start};
  const auto since_start = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_EQ(ResultOf(*since_start, since_start.interner()), ResultOf(*window, window.interner()));

  // The clocks of generations may differ by some nanoseconds.
  options.window.filter.since_start = {};
  Reader again = *Reader::FromBytes(bytes);
  EventTimes times;
  while (const Event* const event = again.Next()) {
    times.Add(*event);
    if (event->time() < from) options.window.wall_from = times.WallTime(from);
    if (event->time() < to) options.window.wall_to = times.WallTime(to);
  }
  const auto wall = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_TRUE(wall.status().ok()) << wall.status();
  EXPECT_NEAR(RunningTimeOf(*wall), RunningTimeOf(*window), 1e-3 * RunningTimeOf(*window));
}

TEST(Analyze, CanBeWatched) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  AnalyzeOptions options = OnFourCores();
  ReadProgress last;
  const std::thread::id caller = std::this_thread::get_id();
  options.on_progress = [&](const ReadProgress& reached) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(reached.total, bytes.size());
    last = reached;
  };
  const auto parallel = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_EQ(std::exchange(last, {}).events, parallel.event_count());
  const auto sequential = Analyze<TraceMetrics>(*SourceFromBytes(bytes), options);
  EXPECT_GT(std::exchange(last, {}).events, sequential.event_count() / 2);
  options.window.filter.since_start.from = 1;
  const auto window = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_GT(last.events, window.event_count() / 2);
}

TEST(Analyze, CanBeStopped) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  for (const bool is_window : {false, true}) {
    std::atomic<int> calls = 0;
    AnalyzeOptions options = OnFourCores();
    options.reader.keep_going = [&] { return ++calls < 100; };
    if (is_window) options.window.filter.since_start.from = 1;
    const auto stats = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
    EXPECT_EQ(stats.status().code(), absl::StatusCode::kCancelled) << is_window;
    EXPECT_LT(calls, 120);
  }
}

TEST(Analyze, HasTheResultsOfEverythingBeforeAFault) {
  const std::string sound = ReadTestTrace("go1.24-gc.trace");
  const std::string cut = sound.substr(0, sound.size() / 2);
  const auto stats = Analyze<GoroutineStats>(*SourceFromBytes(cut), OnFourCores());
  EXPECT_FALSE(stats.status().ok());
  EXPECT_EQ(ResultOf(*stats, stats.interner()), ResultAlone(cut, kGoroutines));
  EXPECT_EQ(stats.event_count(), ReadAll(Reader::FromBytes(cut)).events.size());
}

TEST(Analyze, SaysWhyThereIsNothingToAnalyze) {
  const auto stats =
      Analyze<TaskStats, TraceMetrics>(*SourceFromBytes("not a trace"), OnFourCores());
  EXPECT_TRUE(FaultOf(stats.status()).has_value()) << stats.status();
  EXPECT_TRUE(stats.get<TaskStats>().tasks().empty());
  const auto none = Analyze<GoroutineStats>(*SourceFromBytes("not a trace"));
  EXPECT_TRUE(FaultOf(none.status()).has_value()) << none.status();
  EXPECT_TRUE(none->groups().empty());

  AnalyzeOptions options;
  options.window.wall_from = absl::UnixEpoch();
  const std::string bytes = ReadTestTrace("go1.23-gc.trace");
  const auto wall = Analyze<GoroutineStats>(*SourceFromBytes(bytes), options);
  EXPECT_EQ(wall.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(wall->groups().empty());
}

}  // namespace analyze_test
}  // namespace gotrace::internal
