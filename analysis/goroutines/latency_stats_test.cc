#include "gotrace/latency_stats.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace latency_stats_test {

using Options = LatencyStats::Options;

std::unique_ptr<MergeableAnalysisSink<LatencyStats>> MakeSink(
    Options options, AnalysisSink::Options sink_options = {}) {
  sink_options.window = options.filter.times;
  return std::make_unique<MergeableAnalysisSink<LatencyStats>>(
      [&](Interner* interner) { return std::make_unique<LatencyStats>(interner, options); },
      sink_options);
}

const LatencyStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const LatencyStats&>(sink.analysis());
}

std::string KeyText(const LatencyKey& key, const Interner& interner) {
  std::string text = absl::StrCat(LatencyKindName(key.kind), " \"", interner.String(key.reason),
                                  "\" in ", interner.String(key.start), " at");
  for (const FrameId id : interner.Frames(key.stack)) {
    absl::StrAppend(&text, " ", interner.Frame(id).func, ":", interner.Frame(id).line);
  }
  return text;
}

std::string TextOf(const AnalysisSink& sink) {
  const Interner& interner = sink.interner();
  std::string text;
  for (const LatencyGroup& group : StatsOf(sink).groups()) {
    absl::StrAppend(&text, KeyText(group.key, interner), ": ", group.clipped, " ", group.stopped,
                    " ", group.durations.sum(), " ", group.durations.first_bucket(), " ",
                    absl::StrJoin(group.durations.counts(), ","), "\n");
  }
  for (const LatencyCase& one : StatsOf(sink).cases()) {
    absl::StrAppend(&text, KeyText(one.key, interner), ": ", one.goroutine.value, " ", one.begin,
                    " ", one.end, " ", one.stopped, " ", one.begin_clipped, one.end_clipped, " ",
                    CauseKindName(one.ended_by.kind), " ", one.ended_by.goroutine.value, "\n");
  }
  return text;
}

Options AllOfIt() {
  Options options;
  options.by_start = true;
  options.by_stack = true;
  options.cases = 3;
  return options;
}

TEST(LatencyStats, AreTheSameHoweverTheTraceIsCut) {
  std::map<LatencyKind, uint64_t> counts;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(test.name),
        [](AnalysisSink::Options options) { return MakeSink(AllOfIt(), options); }, TextOf);
    for (const LatencyGroup& group : StatsOf(*whole).groups()) {
      counts[group.key.kind] += group.durations.count();
    }
  }
  EXPECT_EQ(counts.size(), kLatencyKindEnd);
}

// Each interval is counted once, whatever groups are made of them.
TEST(LatencyStats, SumToTheTimesOfGoroutines) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> by_what = MakeSink({});
    const std::unique_ptr<AnalysisSink> by_stack = MakeSink(AllOfIt());
    AnalysisSink::Options seen;
    seen.window.from = FirstStatusOf(bytes);
    AnalysisSink goroutines(
        [](Interner* interner) {
          return std::make_unique<GoroutineStats>(interner, GoroutineStats::Options());
        },
        seen);
    AnalysisSink gc(
        [](Interner* interner) {
          return std::make_unique<GcStats>(interner, EventFilter::Times());
        },
        {});
    ASSERT_TRUE(ReadInto(*reader, {by_what.get(), by_stack.get(), &goroutines, &gc}).ok());
    ExecutionTimes times;
    for (const GoroutineGroup& group :
         static_cast<const GoroutineStats&>(goroutines.analysis()).groups()) {
      times.Add(group.times);
    }
    uint64_t pauses = 0;
    for (const WorldStop& stop : static_cast<const GcStats&>(gc.analysis()).stops()) {
      pauses += stop.duration();
    }
    for (const AnalysisSink* sink : {by_what.get(), by_stack.get()}) {
      std::map<LatencyKind, uint64_t> sums;
      int64_t stopped = 0;
      for (const LatencyGroup& group : StatsOf(*sink).groups()) {
        sums[group.key.kind] += group.durations.sum();
        stopped += group.stopped;
      }
      EXPECT_EQ(sums[LatencyKind::kScheduling], static_cast<uint64_t>(times.RunnableWithStops()));
      EXPECT_EQ(stopped, times.stopped_runnable);
      // One that changes GOMAXPROCS is ready for a moment, since it has to change its P.
      EXPECT_LE(static_cast<uint64_t>(times.stopped_running), pauses);
      EXPECT_GE(static_cast<uint64_t>(times.StoppedTotal()), pauses);
      EXPECT_EQ(sums[LatencyKind::kBlocked], static_cast<uint64_t>(times.BlockedTotal()));
      EXPECT_EQ(sums[LatencyKind::kSyscall],
                static_cast<uint64_t>(times.syscall + times.syscall_blocked));
      EXPECT_EQ(sums[LatencyKind::kPause], pauses);
    }
    // The worst case of each kind and reason is as long as the maximum.
    std::map<std::pair<LatencyKind, StringId>, uint64_t> worst;
    for (const LatencyCase& one : StatsOf(*by_stack).cases()) {
      uint64_t& most = worst[{one.key.kind, one.key.reason}];
      most = std::max(most, one.duration());
    }
    std::map<std::pair<LatencyKind, StringId>, uint64_t> longest;
    for (const LatencyGroup& group : StatsOf(*by_stack).groups()) {
      uint64_t& most = longest[{group.key.kind, group.key.reason}];
      most = std::max(most, group.durations.max());
    }
    EXPECT_EQ(worst, longest);
  }
}

TEST(LatencyStats, KnowTheStopsInAWait) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 5, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kSTWBegin, 6, 0, 7).Reason("start trace"));
  events.Go(kGoStatus, 7, -1, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Push(events.Builder(kSTWEnd, 10, 0, 7).Reason("start trace"));
  events.Push(events.Builder(kSTWBegin, 20, 0, 7).Reason("read mem stats"));
  events.Push(events.Builder(kSTWEnd, 30, 0, 7).Reason("read mem stats"));
  events.Go(kGoStart, 40, 1, 8, GoState::kRunnable, GoState::kRunning);
  events.Sync(50, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink(AllOfIt());
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_FALSE(StatsOf(*sink).groups().empty());
  const LatencyGroup& group = StatsOf(*sink).groups()[0];
  EXPECT_EQ(group.key.kind, LatencyKind::kScheduling);
  // It is seen from the first status on, at 5.
  EXPECT_EQ(group.durations.sum(), 35u);
  EXPECT_EQ(group.stopped, 4 + 10);
  EXPECT_EQ(StatsOf(*sink).cases()[0].stopped, 4 + 10);
}

// A goroutine that waits three times for a P, is blocked until another wakes it up, and assists.
TEST(LatencyStats, KnowWhatEndedTheWorst) {
  BuiltEvents events;
  using enum EventType;
  constexpr GoState kRunnable = GoState::kRunnable;
  constexpr GoState kRunning = GoState::kRunning;
  constexpr GoState kWaiting = GoState::kWaiting;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, GoState::kUndetermined, kRunning);
  events.Go(kGoStatus, 1, 0, 8, GoState::kUndetermined, kRunnable);
  events.Go(kGoStop, 10, 0, 7, kRunning, kRunnable, "preempted");
  events.Go(kGoStart, 30, 0, 7, kRunnable, kRunning);
  events.Push(events.Builder(kGCMarkAssistBegin, 31, 0, 7));
  events.Push(events.Builder(kGCMarkAssistEnd, 36, 0, 7));
  events.Go(kGoBlock, 40, 0, 7, kRunning, kWaiting, "chan receive");
  events.Go(kGoStart, 42, 0, 8, kRunnable, kRunning);
  events.GoBy(8, kGoUnblock, 90, 0, 7, kWaiting, kRunnable);
  events.Go(kGoBlock, 91, 0, 8, kRunning, kWaiting, "select");
  events.Go(kGoStart, 95, 0, 7, kRunnable, kRunning);
  events.Sync(100, 2);

  Options options;
  options.cases = 1;
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  const absl::Span<const LatencyCase> cases = StatsOf(*sink).cases();
  ASSERT_EQ(cases.size(), 4);
  // G 8 was ready to run when the trace began. It was seen to be from the first status on.
  EXPECT_EQ(cases[0].key.kind, LatencyKind::kScheduling);
  EXPECT_EQ(cases[0].goroutine, GoId{8});
  EXPECT_EQ(cases[0].begin, 1);
  EXPECT_EQ(cases[0].duration(), 41);
  EXPECT_TRUE(cases[0].begin_clipped);
  EXPECT_EQ(cases[0].ended_by.kind, CauseKind::kScheduler);
  EXPECT_EQ(sink->interner().String(cases[1].key.reason), "chan receive");
  EXPECT_EQ(cases[1].begin, 40);
  EXPECT_EQ(cases[1].end, 90);
  EXPECT_EQ(cases[1].ended_by.kind, CauseKind::kGoroutine);
  EXPECT_EQ(cases[1].ended_by.goroutine, GoId{8});
  EXPECT_EQ(sink->interner().String(cases[2].key.reason), "select");
  EXPECT_TRUE(cases[2].end_clipped);
  EXPECT_EQ(cases[3].key.kind, LatencyKind::kAssist);
  EXPECT_EQ(cases[3].duration(), 5);

  ASSERT_EQ(StatsOf(*sink).groups().size(), 4);
  const LatencyGroup& scheduling = StatsOf(*sink).groups()[0];
  EXPECT_EQ(scheduling.durations.count(), 3);
  EXPECT_EQ(scheduling.durations.sum(), 41 + 20 + 5);
  EXPECT_EQ(scheduling.clipped, 1);

  // In a window, what is in it counts.
  options.filter.times = {.from = 50, .to = 93};
  options.kinds = {true, true, false, false, false};
  const std::unique_ptr<AnalysisSink> window = MakeSink(options);
  window->Add(events.events());
  ASSERT_TRUE(window->Finish().ok());
  ASSERT_EQ(StatsOf(*window).groups().size(), 3);
  EXPECT_EQ(StatsOf(*window).groups()[0].durations.sum(), 3);
  EXPECT_EQ(StatsOf(*window).groups()[1].durations.sum(), 40);
  EXPECT_EQ(StatsOf(*window).groups()[1].clipped, 1);
}

}  // namespace latency_stats_test
}  // namespace gotrace::internal
