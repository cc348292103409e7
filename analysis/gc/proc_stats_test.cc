#include "gotrace/proc_stats.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/core/time_slices.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace proc_stats_test {

std::unique_ptr<MergeableAnalysisSink<ProcStats>> MakeSink(AnalysisSink::Options options = {}) {
  return std::make_unique<MergeableAnalysisSink<ProcStats>>(
      [&](Interner* /*interner*/) {
        EventFilter filter;
        filter.times = options.window;
        return std::make_unique<ProcStats>(filter);
      },
      options);
}

const ProcStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const ProcStats&>(sink.analysis());
}

std::string TextOf(const ProcTimes& times) {
  return absl::StrCat("user ", times.user, " gc ", times.gc, " assist ", times.assist, " syscall ",
                      times.syscall, " scheduler ", times.scheduler, " idle ", times.idle);
}

std::string AllTextOf(const AnalysisSink& sink) {
  std::string text;
  for (const ProcUse& use : StatsOf(sink).procs()) {
    absl::StrAppend(&text, "P ", use.proc.value, ": ", TextOf(use.times), ", ", use.runs, " runs ",
                    use.migrations, " migrations ", use.steals, " steals\n");
  }
  for (const ProcSlice& slice : StatsOf(sink).Slices(10)) {
    absl::StrAppend(&text, slice.begin, " to ", slice.end, ": ", TextOf(slice.times), " runnable ",
                    slice.runnable, " wasted ", slice.idle_while_runnable, "\n");
  }
  for (const ProcLimit& limit : StatsOf(sink).limits()) {
    absl::StrAppend(&text, "at ", limit.time, ": ", limit.procs, "\n");
  }
  return text;
}

TEST(ProcStats, AreTheSameHoweverTheTraceIsCut) {
  uint64_t migrations = 0;
  int64_t wasted = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(test.name), [](AnalysisSink::Options options) { return MakeSink(options); },
        AllTextOf);
    for (const ProcUse& use : StatsOf(*whole).procs()) migrations += use.migrations;
    wasted += StatsOf(*whole).Sum().idle_while_runnable;
  }
  EXPECT_GT(migrations, 0);
  EXPECT_GT(wasted, 0);
}

TEST(ProcStats, SumToTheTimesOfPsAndGoroutines) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    AnalysisSink::Options seen;
    seen.window.from = FirstStatusOf(bytes);
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    const std::unique_ptr<AnalysisSink> seen_sink = MakeSink(seen);
    const auto make_goroutines = [](Interner* interner) {
      return std::make_unique<GoroutineStats>(interner, GoroutineStats::Options());
    };
    AnalysisSink goroutines(make_goroutines, {});
    AnalysisSink seen_goroutines(make_goroutines, seen);
    ASSERT_TRUE(
        ReadInto(*reader, {sink.get(), seen_sink.get(), &goroutines, &seen_goroutines}).ok());
    const auto check = [](const AnalysisSink& sink, const AnalysisSink& goroutines) {
      ExecutionTimes times;
      for (const GoroutineGroup& group :
           static_cast<const GoroutineStats&>(goroutines.analysis()).groups()) {
        times.Add(group.times);
      }
      ProcTimes procs;
      for (const ProcUse& use : StatsOf(sink).procs()) procs.Add(use.times);
      EXPECT_EQ(procs.user + procs.gc + procs.assist, times.running);
      EXPECT_EQ(procs.syscall, times.syscall);
      return std::pair(procs, times.runnable);
    };
    check(*sink, goroutines);
    // Slices have only what was seen.
    const auto [procs, runnable] = check(*seen_sink, seen_goroutines);
    const ProcSlice sum = StatsOf(*sink).Sum();
    EXPECT_EQ(TextOf(sum.times), TextOf(procs));
    EXPECT_EQ(sum.runnable, runnable);
    EXPECT_EQ(sum.begin, seen.window.from);
    EXPECT_LE(sum.idle_while_runnable, std::min(sum.times.idle, sum.runnable));
    // All slices together are the same, however many there are.
    for (const size_t most : {2, 7, 1000}) {
      const std::vector<ProcSlice> slices = StatsOf(*sink).Slices(most);
      EXPECT_LE(slices.size(), most);
      ProcTimes all;
      for (size_t i = 0; i < slices.size(); ++i) {
        all.Add(slices[i].times);
        EXPECT_EQ(slices[i].begin, i == 0 ? sum.begin : slices[i - 1].end);
      }
      EXPECT_EQ(all.idle, procs.idle);
      EXPECT_EQ(all.user, procs.user);
    }
  }
}

// The end of an assist is missing: another one begins.
TEST(ProcStats, AnAssistWithoutAnEndIsNotCounted) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(1000, 1);
  events.Proc(kProcStatus, 1002, 0, ProcState::kUndetermined, ProcState::kRunning);
  events.Go(kGoStatus, 1002, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGCMarkAssistBegin, 1010, 0, 7));
  events.Push(events.Builder(kGCMarkAssistBegin, 1050, 0, 7));
  events.Push(events.Builder(kGCMarkAssistEnd, 1060, 0, 7));
  events.Go(kGoBlock, 1100, 0, 7, GoState::kRunning, GoState::kWaiting);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(StatsOf(*sink).procs().size(), 1u);
  EXPECT_EQ(StatsOf(*sink).procs()[0].times.assist, 10);
}

// G 7 runs on P 0, waits for 20 while P 1 is idle for all but 5 of it, and goes on there.
BuiltEvents OneMigration() {
  using enum EventType;
  constexpr ProcState kIdle = ProcState::kIdle;
  constexpr ProcState kRunning = ProcState::kRunning;
  BuiltEvents events;
  events.Sync(1000, 1);
  events.Number(kProcsChange, 1001, 2);
  events.Proc(kProcStatus, 1002, 0, ProcState::kUndetermined, kRunning);
  events.Go(kGoStatus, 1003, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStop, 1010, 0, 7, GoState::kRunning, GoState::kRunnable);
  // P 1 has been idle all the time.
  events.Proc(kProcStatus, 1025, 1, ProcState::kUndetermined, kIdle);
  events.Proc(kProcStart, 1025, 1, kIdle, kRunning);
  events.Go(kGoStart, 1030, 1, 7, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kGoLabel, 1030, 1, 7).Label("GC (idle)"));
  events.Go(kGoSyscallBegin, 1040, 1, 7, GoState::kRunning, GoState::kSyscall);
  events.Go(kGoSyscallEnd, 1060, 1, 7, GoState::kSyscall, GoState::kRunning);
  events.Push(events.Builder(kGCMarkAssistBegin, 1062, 1, 7));
  events.Push(events.Builder(kGCMarkAssistEnd, 1067, 1, 7));
  events.Number(kProcsChange, 1070, 2);
  events.Number(kProcsChange, 1080, 4);
  events.Sync(1100, 2);
  return events;
}

TEST(ProcStats, OfEventsMadeByHand) {
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(OneMigration().events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(
      AllTextOf(*sink),
      "P 0: user 10 gc 0 assist 0 syscall 0 scheduler 90 idle 0, 0 runs 0 migrations 0 steals\n"
      "P 1: user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 25, 2 runs 1 migrations 0 steals\n"
      "1002 to 1100: user 43 gc 10 assist 5 syscall 20 scheduler 95 idle 23 runnable 20 wasted 15\n"
      "at 1001: 2\n"
      "at 1080: 4\n");
}

TEST(ProcStats, HaveAWindow) {
  AnalysisSink::Options options;
  options.window = {.from = 1015, .to = 1050};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  sink->Add(OneMigration().events());
  ASSERT_TRUE(sink->Finish().ok());
  const ProcSlice sum = StatsOf(*sink).Sum();
  EXPECT_EQ(TextOf(sum.times), "user 0 gc 10 assist 0 syscall 10 scheduler 40 idle 10");
  EXPECT_EQ(sum.begin, 1015);
  EXPECT_EQ(sum.end, 1050);
  EXPECT_EQ(sum.runnable, 15);
  EXPECT_EQ(sum.idle_while_runnable, 10);
}

// P 1 is idle because it may not run anything.
TEST(ProcStats, LeaveOutPsAboveTheLimit) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(1000, 1);
  events.Proc(kProcStatus, 1002, 1, ProcState::kUndetermined, ProcState::kIdle);
  events.Go(kGoStatus, 1003, 0, 7, GoState::kUndetermined, GoState::kRunnable);
  events.Number(kProcsChange, 1004, 1);
  events.Number(kProcsChange, 1090, 2);
  events.Sync(1100, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(StatsOf(*sink).Sum().runnable, 98);  // Nothing was seen before the first status.
  EXPECT_EQ(StatsOf(*sink).Sum().idle_while_runnable, 10);
  EXPECT_EQ(StatsOf(*sink).Sum().times.idle, 10);
}

// P 1 may run goroutines from 1150 on, and does so from 1160 on.
TEST(ProcStats, KnowTheLimitOfALaterGeneration) {
  using enum EventType;
  constexpr ProcState kIdle = ProcState::kIdle;
  BuiltEvents events;
  events.Sync(1000, 1);
  events.Number(kProcsChange, 1001, 1);
  events.Proc(kProcStatus, 1002, 1, ProcState::kUndetermined, kIdle);
  events.Sync(1100, 2);
  events.Number(kProcsChange, 1101, 1);
  events.Proc(kProcStatus, 1102, 1, kIdle, kIdle);
  events.Number(kProcsChange, 1150, 2);
  events.Proc(kProcStart, 1160, 1, kIdle, ProcState::kRunning);
  events.Sync(1200, 3);
  events.Number(kProcsChange, 1201, 2);
  const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink(options); }, AllTextOf);
  EXPECT_EQ(TextOf(StatsOf(*whole).Sum().times),
            "user 0 gc 0 assist 0 syscall 0 scheduler 41 idle 10");
}

TEST(ProcStats, HaveOnlyTheSelectedPs) {
  const BuiltEvents events = OneMigration();
  EventFilter filter;
  filter.procs = {ProcId{1}};
  AnalysisSink sink([&](Interner* /*interner*/) { return std::make_unique<ProcStats>(filter); },
                    {});
  sink.Add(events.events());
  ASSERT_TRUE(sink.Finish().ok());
  ASSERT_EQ(StatsOf(sink).procs().size(), 1);
  EXPECT_EQ(StatsOf(sink).procs()[0].proc, ProcId{1});
  EXPECT_EQ(TextOf(StatsOf(sink).procs()[0].times),
            "user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 25");
  EXPECT_EQ(TextOf(StatsOf(sink).Sum().times),
            "user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 23");  // Without the first 2.
  // That of the whole program.
  EXPECT_EQ(StatsOf(sink).Sum().runnable, 20);
}

struct Length {
  int64_t length = 0;
  void Add(const Length& other) { length += other.length; }
};

TEST(TimeSlices, KeepSumsAsTheyGrow) {
  const auto add = [](Length& sum, int64_t length) { sum.length += length; };
  TimeSlices<Length> slices;
  slices.Spread(-1500, 2500, add);
  ASSERT_EQ(slices.Slices().size(), 5);
  EXPECT_EQ(slices.first(), -2);
  EXPECT_EQ(slices.Slices()[0].length, 500);
  EXPECT_EQ(slices.Slices()[4].length, 500);
  // Too far away for slices of this length.
  slices.Spread(50'000'000, 50'000'001, add);
  EXPECT_EQ(slices.width(), 10'000);
  EXPECT_EQ(slices.first(), -1);
  EXPECT_EQ(slices.Slices().front().length, 1500);
  EXPECT_EQ(slices.Slices()[1].length, 2500);
  EXPECT_EQ(slices.Slices().back().length, 1);

  TimeSlices<Length> far;
  int touched = 0;
  far.Spread(INT64_MIN, INT64_MAX, [&](Length& sum, int64_t length) {
    sum.length =
        static_cast<int64_t>(static_cast<uint64_t>(sum.length) + static_cast<uint64_t>(length));
    ++touched;
  });
  EXPECT_GT(far.Slices().size(), 1000);
  EXPECT_LE(touched, 4);
  EXPECT_EQ(far.Slices()[1].length, far.width());
  EXPECT_EQ(far.Slices()[500].length, far.width());
  far.Merge(slices);
  slices.Merge(far);
  EXPECT_EQ(slices.width(), far.width());
  EXPECT_LE(slices.Slices().size(), 10'000);
}

}  // namespace proc_stats_test
}  // namespace gotrace::internal
