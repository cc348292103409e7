#include "gotrace/proc_stats.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/core/time_slices.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/latency_stats.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace proc_stats_test {

std::unique_ptr<MergeableAnalysisSink<ProcStats>> MakeSink(AnalysisSink::Options options = {}) {
  return std::make_unique<MergeableAnalysisSink<ProcStats>>(
      [&](Interner* interner) {
        EventFilter filter;
        filter.times = options.window;
        return std::make_unique<ProcStats>(interner, filter);
      },
      options);
}

const ProcStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const ProcStats&>(sink.analysis());
}

std::string TextOf(const ProcTimes& times) {
  return absl::StrCat("user ", times.user, " gc ", times.gc, " assist ", times.assist, " syscall ",
                      times.syscall, " scheduler ", times.scheduler, " idle ", times.idle,
                      " stopped ", times.stopped);
}

// The causes that have a time.
std::string TextOf(const ReadyTimes& times) {
  std::string text;
  for (size_t i = 0; i < kReadyCauseEnd; ++i) {
    if (times.by_cause[i] == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", ReadyCauseName(static_cast<ReadyCause>(i)),
                    " ", times.by_cause[i]);
  }
  return text;
}

std::string ReadyTextOf(const AnalysisSink& sink) {
  std::string text = absl::StrCat("ready: ", TextOf(StatsOf(sink).ready()), "\n");
  for (const ReadyFunction& function : StatsOf(sink).ready_functions()) {
    absl::StrAppend(&text, sink.interner().String(function.start),
                    function.is_system ? " (system)" : "", " waited: ", TextOf(function.waited),
                    "; ran: ", TextOf(function.ran), "\n");
  }
  const AssistTimes& assists = StatsOf(sink).assists();
  absl::StrAppend(&text, "assists: running ", assists.running, " waiting ", assists.waiting,
                  ", idle workers ", StatsOf(sink).idle_workers(), "\n");
  for (const RuntimeWaits& waits : StatsOf(sink).gc_waits()) {
    absl::StrAppend(&text, "for the GC: ", waits.time, " in ",
                    sink.interner().RootFunction(waits.stack), "\n");
  }
  for (const RuntimeWaits& waits : StatsOf(sink).stop_waits()) {
    absl::StrAppend(&text, "to stop the world: ", waits.time, " in ",
                    sink.interner().RootFunction(waits.stack), "\n");
  }
  for (const LongRunner& runner : StatsOf(sink).long_runners()) {
    absl::StrAppend(&text, "G ", runner.goroutine.value, " ", sink.interner().String(runner.start),
                    ": ", runner.runs, " runs up to ", runner.longest, " waited ", runner.waited,
                    " peers ", runner.peers_waited, " to ",
                    sink.interner().RootFunction(runner.stack), " frames ",
                    sink.interner().Frames(runner.stack).size(), "\n");
  }
  return text;
}

std::string ProcTextOf(const AnalysisSink& sink) {
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

std::string AllTextOf(const AnalysisSink& sink) {
  return absl::StrCat(ReadyTextOf(sink), ProcTextOf(sink));
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

// The time in which goroutines of the program were ready is that of `latency`, also by function.
TEST(ProcStats, ChargeAllTimeInWhichGoroutinesWereReady) {
  int64_t with_cause = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    LatencyStats::Options options;
    options.by_start = true;
    AnalysisSink latencies(With<LatencyStats>(options), {});
    ASSERT_TRUE(ReadInto(*reader, {sink.get(), &latencies}).ok());
    std::map<std::string, int64_t> expected;
    std::map<std::string, int64_t> stopped;
    for (const LatencyGroup& group :
         static_cast<const LatencyStats&>(latencies.analysis()).groups()) {
      if (group.key.kind != LatencyKind::kScheduling || group.durations.sum() == 0) continue;
      const std::string start(latencies.interner().String(group.key.start));
      expected[start] += static_cast<int64_t>(group.durations.sum());
      stopped[start] += group.stopped;
    }
    std::map<std::string, int64_t> actual;
    ReadyTimes of_program;
    for (const ReadyFunction& function : StatsOf(*sink).ready_functions()) {
      const int64_t waited = function.waited.Total();
      if (waited != 0) actual[std::string(sink->interner().String(function.start))] = waited;
      if (!function.is_system) {
        of_program.Add(function.waited);
        EXPECT_EQ(
            function.waited.Of(ReadyCause::kStopped) + function.waited.Of(ReadyCause::kTracer),
            stopped[std::string(sink->interner().String(function.start))]);
      }
      for (const int64_t time : function.waited.by_cause) EXPECT_GE(time, 0);
    }
    EXPECT_EQ(actual, expected);
    const ReadyTimes& ready = StatsOf(*sink).ready();
    EXPECT_EQ(ready.Total(), of_program.Total());
    for (const int64_t time : ready.by_cause) EXPECT_GE(time, 0);
    with_cause += ready.Total() - ready.Of(ReadyCause::kOther);
  }
  EXPECT_GT(with_cause, 0);
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
      // A goroutine that runs for a stop of the world keeps its P busy, too.
      EXPECT_EQ(procs.Running(), times.running + times.stopped_running);
      EXPECT_EQ(procs.syscall, times.syscall);
      return std::pair(procs, times);
    };
    check(*sink, goroutines);
    // Slices have only what was seen.
    const auto [procs, times] = check(*seen_sink, seen_goroutines);
    const ProcSlice sum = StatsOf(*sink).Sum();
    EXPECT_EQ(TextOf(sum.times), TextOf(procs));
    EXPECT_EQ(sum.runnable, times.runnable + times.stopped_runnable);
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
  EXPECT_EQ(ProcTextOf(*sink),
            "P 0: user 10 gc 0 assist 0 syscall 0 scheduler 90 idle 0 stopped 0, 0 runs 0 "
            "migrations 0 steals\n"
            "P 1: user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 25 stopped 0, 2 runs 1 "
            "migrations 0 steals\n"
            "1002 to 1100: user 43 gc 10 assist 5 syscall 20 scheduler 95 idle 23 stopped 0 "
            "runnable 20 wasted 15\n"
            "at 1001: 2\n"
            "at 1080: 4\n");
}

TEST(ProcStats, KnowIdleMarkWorkers) {
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(OneMigration().events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(StatsOf(*sink).idle_workers(), 10);
}

TEST(ProcStats, HaveAWindow) {
  AnalysisSink::Options options;
  options.window = {.from = 1015, .to = 1050};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  sink->Add(OneMigration().events());
  ASSERT_TRUE(sink->Finish().ok());
  const ProcSlice sum = StatsOf(*sink).Sum();
  EXPECT_EQ(TextOf(sum.times), "user 0 gc 10 assist 0 syscall 10 scheduler 40 idle 10 stopped 0");
  EXPECT_EQ(sum.begin, 1015);
  EXPECT_EQ(sum.end, 1050);
  EXPECT_EQ(sum.runnable, 15);
  EXPECT_EQ(sum.idle_while_runnable, 10);
}

constexpr int64_t kMs = 1'000'000;

// Adds an event by which G `g` stops running, with its stack.
void Stop(EventType type, int64_t time, int64_t p, int64_t g, GoState to, absl::string_view start,
          BuiltEvents* events) {
  const StackFrame frames[] = {{1, "inner", "", 1}, {2, start, "", 2}};
  events->Push(
      events->Builder(type, time, p, g).Transition(GoId{g}, GoState::kRunning, to).Stack(frames));
}

// G 1 is ready for 40 ms. The Ps run G 2, a mark worker and G 4, which is of the runtime. The
// status of G 1 may come late.
BuiltEvents AllCauses(int64_t status) {
  using enum EventType;
  constexpr GoState kUnknown = GoState::kUndetermined;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Number(kProcsChange, 0, 2);
  for (int64_t p = 0; p < 2; ++p) {
    events.Proc(kProcStatus, 0, p, ProcState::kUndetermined, ProcState::kRunning);
  }
  events.Go(kGoStatus, 0, 0, 2, kUnknown, GoState::kRunning);
  events.Go(kGoStatus, 0, 1, 3, kUnknown, GoState::kRunning);
  events.Go(kGoStatus, 0, 1, 4, kUnknown, GoState::kRunnable);
  events.Push(events.Builder(kGoLabel, 0, 1, 3).Label("GC (dedicated)"));
  if (status == 0) events.Go(kGoStatus, 0, 0, 1, kUnknown, GoState::kRunnable);
  // Until here half of the program, half of the collector.
  Stop(kGoBlock, 4 * kMs, 1, 3, GoState::kWaiting, "runtime.gcBgMarkWorker", &events);
  events.Proc(kProcStop, 6 * kMs, 1, ProcState::kRunning, ProcState::kIdle);
  events.Proc(kProcStart, 8 * kMs, 1, ProcState::kIdle, ProcState::kRunning);
  events.Go(kGoStart, 8 * kMs, 1, 4, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kGCMarkAssistBegin, 8 * kMs, 0, 2));
  events.Push(events.Builder(kGCMarkAssistEnd, 10 * kMs, 0, 2));
  events.Push(events.Builder(kSTWBegin, 10 * kMs, 1, 4).Reason("GC mark termination"));
  events.Push(events.Builder(kSTWEnd, 13 * kMs, 1, 4));
  if (status > 0) events.Go(kGoStatus, status, 0, 1, kUnknown, GoState::kRunnable);
  Stop(kGoStop, 40 * kMs, 0, 2, GoState::kRunnable, "main.long", &events);
  events.Go(kGoStart, 40 * kMs, 0, 1, GoState::kRunnable, GoState::kRunning);
  Stop(kGoBlock, 41 * kMs, 0, 1, GoState::kWaiting, "main.victim", &events);
  events.Go(kGoStart, 42 * kMs, 0, 2, GoState::kRunnable, GoState::kRunning);
  Stop(kGoStop, 49 * kMs, 1, 4, GoState::kRunnable, "runtime.bgsweep", &events);
  events.Sync(50 * kMs, 2);
  return events;
}

TEST(ProcStats, ChargeReadyTimeToWhatPsDo) {
  for (const int64_t status : {int64_t{0}, 39 * kMs}) {
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    sink->Add(AllCauses(status).events());
    ASSERT_TRUE(sink->Finish().ok());
    const ProcStats& stats = StatsOf(*sink);
    EXPECT_EQ(TextOf(stats.ready()),
              "stopped 3000000, idle Ps 2000000, program 3500000, long runs 13500000, "
              "assists 1000000, gc 2000000, other 17000000");
    std::map<std::string, std::string> waited;
    std::map<std::string, std::string> ran;
    for (const ReadyFunction& function : stats.ready_functions()) {
      const std::string start(sink->interner().String(function.start));
      waited[start] = TextOf(function.waited);
      ran[start] = TextOf(function.ran);
      EXPECT_EQ(function.is_system, start != "main.long" && start != "main.victim") << start;
    }
    EXPECT_EQ(waited["main.long"], "program 500000, other 1500000");
    EXPECT_EQ(ran["main.long"], "program 3000000, long runs 13500000, assists 1000000");
    EXPECT_EQ(ran["main.victim"], "program 500000");
    EXPECT_EQ(ran["runtime.gcBgMarkWorker"], "gc 2000000");
    // G 4 ran for as long, but is the runtime's.
    ASSERT_EQ(stats.long_runners().size(), 1);
    const LongRunner& runner = stats.long_runners()[0];
    EXPECT_EQ(runner.goroutine, GoId{2});
    EXPECT_EQ(sink->interner().String(runner.start), "main.long");
    EXPECT_EQ(sink->interner().RootFunction(runner.stack), "main.long");
    EXPECT_EQ(runner.runs, 1);
    EXPECT_EQ(runner.longest, 40 * kMs);
    EXPECT_EQ(runner.waited, 13'500'000);
    EXPECT_EQ(runner.peers_waited, 0);
    EXPECT_EQ(stats.assists().running, 2 * kMs);
    EXPECT_EQ(stats.assists().waiting, 0);
    EXPECT_EQ(stats.idle_workers(), 0);
  }
}

// Only the first stop is the tracer's. The second crosses into the next generation.
TEST(ProcStats, KnowWhenTheWorldIsStopped) {
  using enum EventType;
  constexpr ProcState kIdle = ProcState::kIdle;
  constexpr ProcState kRunning = ProcState::kRunning;
  BuiltEvents events;
  const auto begin = [&](int64_t time, uint64_t number, bool is_first) {
    events.Sync(time, number);
    events.Number(kProcsChange, time, number < 3 ? 3 : 2);
    events.Proc(kProcStatus, time, 0, is_first ? ProcState::kUndetermined : kRunning, kRunning);
    events.Proc(kProcStatus, time, 1, is_first ? ProcState::kUndetermined : kIdle, kIdle);
    events.Go(kGoStatus, time, 0, 1, is_first ? GoState::kUndetermined : GoState::kRunnable,
              GoState::kRunnable);
    events.Go(kGoStatus, time, 0, 2, is_first ? GoState::kUndetermined : GoState::kRunning,
              GoState::kRunning);
  };
  begin(0, 1, true);
  events.Push(events.Builder(kSTWEnd, 2 * kMs, 0, 2));
  events.Push(events.Builder(kSTWBegin, 8 * kMs, 0, 2).Reason("read mem stats"));
  begin(10 * kMs, 2, false);
  events.Push(events.Builder(kSTWEnd, 12 * kMs, 0, 2));
  events.Push(events.Builder(kSTWBegin, 15 * kMs, 0, 2).Reason("stop trace"));
  events.Push(events.Builder(kSTWEnd, 16 * kMs, 0, 2));
  events.Number(kProcsChange, 18 * kMs, 2);
  begin(20 * kMs, 3, false);
  const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink(options); }, AllTextOf);
  EXPECT_EQ(TextOf(StatsOf(*whole).ready()), "stopped 4000000, tracer 3000000, idle Ps 13000000");
  // No event names P 2, until it goes. The program runs in stops until it stops itself.
  ASSERT_EQ(StatsOf(*whole).procs().size(), 3);
  for (const size_t p : {1, 2}) {
    EXPECT_EQ(StatsOf(*whole).procs()[p].times.stopped, 7 * kMs);
    EXPECT_EQ(StatsOf(*whole).procs()[p].times.idle, (p == 1 ? 13 : 11) * kMs);
  }
  EXPECT_EQ(StatsOf(*whole).procs()[0].times.user, 20 * kMs);
  const ProcSlice sum = StatsOf(*whole).Sum();
  EXPECT_EQ(sum.times.stopped, 14 * kMs);
  EXPECT_EQ(sum.times.idle, 24 * kMs);
  EXPECT_EQ(sum.runnable, 20 * kMs);
  EXPECT_EQ(sum.idle_while_runnable, 13 * kMs);
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
            "user 0 gc 0 assist 0 syscall 0 scheduler 41 idle 10 stopped 0");
}

TEST(ProcStats, HaveOnlyTheSelectedPs) {
  const BuiltEvents events = OneMigration();
  EventFilter filter;
  filter.procs = {ProcId{1}};
  AnalysisSink sink(With<ProcStats>(filter), {});
  sink.Add(events.events());
  ASSERT_TRUE(sink.Finish().ok());
  ASSERT_EQ(StatsOf(sink).procs().size(), 1);
  EXPECT_EQ(StatsOf(sink).procs()[0].proc, ProcId{1});
  EXPECT_EQ(TextOf(StatsOf(sink).procs()[0].times),
            "user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 25 stopped 0");
  EXPECT_EQ(
      TextOf(StatsOf(sink).Sum().times),
      "user 35 gc 10 assist 5 syscall 20 scheduler 5 idle 23 stopped 0");  // Without the first 2.
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
