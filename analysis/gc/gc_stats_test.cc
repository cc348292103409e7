#include "gotrace/gc_stats.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "gotrace/event_builder.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace gc_stats_test {

std::unique_ptr<MergeableAnalysisSink<GcStats>> MakeSink(EventFilter::Times window = {},
                                                         AnalysisSink::Options options = {}) {
  options.window = window;
  return std::make_unique<MergeableAnalysisSink<GcStats>>(
      [=](Interner* interner) { return std::make_unique<GcStats>(interner, window); }, options);
}

const GcStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const GcStats&>(sink.analysis());
}

std::unique_ptr<AnalysisSink> RunOver(const BuiltEvents& events, EventFilter::Times window = {}) {
  std::unique_ptr<AnalysisSink> sink = MakeSink(window);
  sink->Add(events.events());
  EXPECT_TRUE(sink->Finish().ok());
  return sink;
}

std::string AllTextOf(const AnalysisSink& sink) {
  std::string text;
  const auto append = [&](const auto&... values) { absl::StrAppend(&text, values..., " "); };
  const auto append_sum = [&](const SpanSum& sum) { append(sum.count, "x", sum.time); };
  const auto append_bytes = [&](const std::optional<uint64_t>& bytes) {
    append(bytes.has_value() ? absl::StrCat(*bytes) : "-");
  };
  for (const GcCycle& cycle : StatsOf(sink).cycles()) {
    append("\ncycle", cycle.number, " ", GcTriggerName(cycle.trigger), " g", cycle.goroutine.value);
    append(cycle.begin, cycle.begin_clipped ? "~" : "", "-", cycle.end,
           cycle.end_clipped ? "~" : "");
    append("pauses"), append_sum(cycle.pauses), append(cycle.longest_pause);
    append("assists"), append_sum(cycle.assists);
    for (const GoroutineAssists& one : cycle.assists_by_goroutine) {
      append("g", one.goroutine.value, ":"), append_sum(one.assists);
    }
    append("workers"), append(cycle.dedicated), append(cycle.fractional), append(cycle.idle);
    append("sweeps"), append_sum(cycle.sweeps);
    append(cycle.swept_bytes), append(cycle.reclaimed_bytes);
    append("heap"), append_bytes(cycle.heap_begin), append_bytes(cycle.heap_end);
    append_bytes(cycle.goal), append_bytes(cycle.next_goal);
  }
  for (const WorldStop& stop : StatsOf(sink).stops()) {
    append("\nstop", sink.interner().String(stop.reason), " ", stop.begin, "-", stop.end,
           stop.end_clipped ? "~" : "");
    append("g", stop.goroutine.value, " p", stop.proc.value, " last", stop.last_proc.value, " ",
           stop.last_proc_stop, " last g", stop.last_goroutine.value, " ", stop.restart, " ",
           sink.interner().RootFunction(stop.last_stack), " ",
           sink.interner().RootFunction(stop.stack));
  }
  for (const AssistsInPlace& place : StatsOf(sink).assist_places()) {
    append("\nin", sink.interner().RootFunction(place.stack)), append_sum(place.assists);
  }
  return text;
}

// The events of a GC cycle of three Ps.
BuiltEvents OneCycle() {
  BuiltEvents events;
  using enum EventType;
  constexpr GoState kRunnable = GoState::kRunnable;
  constexpr GoState kRunning = GoState::kRunning;
  events.Sync(0, 1);
  for (int64_t p = 0; p < 3; ++p) {
    events.Proc(kProcStatus, 1 + p, p, ProcState::kUndetermined, ProcState::kRunning);
  }
  events.Go(kGoStatus, 5, 0, 7, GoState::kUndetermined, kRunning);
  events.Go(kGoStatus, 6, 1, 9, GoState::kUndetermined, kRunnable);
  events.Number(kHeapGoal, 7, 5000);
  events.Number(kHeapAlloc, 8, 4900);
  const StackFrame frames[] = {{1, "runtime.gcStart", "", 1}, {2, "runtime.mallocgc", "", 2}};
  events.Push(events.Builder(kGCBegin, 10, 0, 7).Stack(frames));
  events.Push(events.Builder(kSTWBegin, 11, 0, 7).Reason("GC sweep termination"));
  events.Proc(kProcStop, 12, 2, ProcState::kRunning, ProcState::kIdle);
  events.Proc(kProcStop, 15, 1, ProcState::kRunning, ProcState::kIdle);
  // The world is started again.
  events.Proc(kProcStart, 17, 2, ProcState::kIdle, ProcState::kRunning);
  events.Proc(kProcStop, 18, 2, ProcState::kRunning, ProcState::kIdle);
  events.Push(events.Builder(kSTWEnd, 20, 0, 7).Reason("GC sweep termination"));
  events.Proc(kProcStart, 21, 1, ProcState::kIdle, ProcState::kRunning);
  events.Go(kGoStart, 22, 1, 9, kRunnable, kRunning);
  events.Push(events.Builder(kGoLabel, 23, 1, 9).Label("GC (dedicated)"));
  events.Push(events.Builder(kGCMarkAssistBegin, 25, 0, 7));
  events.Push(events.Builder(kGCMarkAssistEnd, 28, 0, 7));
  events.Push(events.Builder(kGCMarkAssistBegin, 30, 0, 7));
  events.Go(kGoStop, 33, 1, 9, kRunning, kRunnable);
  events.Go(kGoStart, 35, 1, 9, kRunnable, kRunning);
  events.Push(events.Builder(kGoLabel, 36, 1, 9).Label("GC (idle)"));
  events.Number(kHeapAlloc, 39, 5200);
  events.Push(events.Builder(kSTWBegin, 40, 1, 9).Reason("GC mark termination"));
  events.Push(events.Builder(kGCEnd, 44, 1, 9));
  events.Number(kHeapGoal, 45, 6000);
  events.Push(events.Builder(kSTWEnd, 46, 1, 9).Reason("GC mark termination"));
  events.Push(events.Builder(kGCMarkAssistEnd, 48, 0, 7));
  events.Push(events.Builder(kGCSweepBegin, 50, 0, 7));
  events.Push(events.Builder(kGCSweepEnd, 55, 0, 7).Arg(0, 8192).Arg(1, 4096));
  events.Number(kHeapGoal, 60, 7000);
  events.Push(events.Builder(kSTWBegin, 70, 0, 7).Reason("read mem stats"));
  events.Sync(80, 2);
  return events;
}

TEST(GcStats, HasACycle) {
  const std::unique_ptr<AnalysisSink> sink = RunOver(OneCycle());
  ASSERT_EQ(StatsOf(*sink).cycles().size(), 1);
  const GcCycle& cycle = StatsOf(*sink).cycles()[0];
  EXPECT_EQ(cycle.number, 1);
  EXPECT_EQ(cycle.trigger, GcTrigger::kHeap);
  EXPECT_EQ(cycle.goroutine, GoId{7});
  EXPECT_EQ(cycle.begin, 10);
  EXPECT_EQ(cycle.end, 44);
  EXPECT_FALSE(cycle.begin_clipped || cycle.end_clipped);
  EXPECT_EQ(cycle.pauses.count, 2);
  EXPECT_EQ(cycle.pauses.time, 15);
  EXPECT_EQ(cycle.longest_pause, 9);
  EXPECT_EQ(cycle.assists.count, 2);
  EXPECT_EQ(cycle.assists.time, 21);
  ASSERT_EQ(cycle.assists_by_goroutine.size(), 1);
  EXPECT_EQ(cycle.assists_by_goroutine[0].goroutine, GoId{7});
  EXPECT_EQ(cycle.assists_by_goroutine[0].assists.time, 21);
  EXPECT_EQ(cycle.dedicated, 10);
  EXPECT_EQ(cycle.fractional, 0);
  EXPECT_EQ(cycle.idle, 44);  // Also after the mark phase.
  EXPECT_EQ(cycle.sweeps.count, 1);
  EXPECT_EQ(cycle.sweeps.time, 5);
  EXPECT_EQ(cycle.swept_bytes, 8192);
  EXPECT_EQ(cycle.reclaimed_bytes, 4096);
  EXPECT_EQ(cycle.heap_begin, 4900);
  EXPECT_EQ(cycle.heap_end, 5200);
  EXPECT_EQ(cycle.goal, 5000);
  EXPECT_EQ(cycle.next_goal, 6000);
}

// A worker counts from its label until it stops, in the cycle in which it began, as it does for the
// Ps, from which this differs by the time between its start and its label.
TEST(GcStats, HasTheTimeThatPsRanMarkWorkers) {
  int64_t all = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> gc = MakeSink();
    AnalysisSink ps(
        [](Interner* interner) { return std::make_unique<ProcStats>(interner, EventFilter()); },
        AnalysisSink::Options());
    ASSERT_TRUE(ReadInto(*reader, {gc.get(), &ps}).ok());
    int64_t by_cycle = 0;
    for (const GcCycle& cycle : StatsOf(*gc).cycles()) {
      by_cycle += cycle.dedicated + cycle.fractional + cycle.idle;
    }
    int64_t by_proc = 0;
    for (const ProcUse& use : static_cast<const ProcStats&>(ps.analysis()).procs()) {
      by_proc += use.times.gc;
    }
    EXPECT_LE(by_cycle, by_proc);
    EXPECT_LE(by_proc - by_cycle, by_proc / 50);
    all += by_cycle;
  }
  EXPECT_GT(all, 0);
}

TEST(GcStats, CountsAnAssistThatDoesNotEnd) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 5, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGCBegin, 10, 0, 7));
  events.Push(events.Builder(kGCMarkAssistBegin, 25, 0, 7));
  events.Sync(80, 2);
  const std::unique_ptr<AnalysisSink> sink = RunOver(events);
  ASSERT_EQ(StatsOf(*sink).cycles().size(), 1u);
  EXPECT_EQ(StatsOf(*sink).cycles()[0].assists.count, 1u);
  EXPECT_EQ(StatsOf(*sink).cycles()[0].assists.time, 55);
}

// G 9 keeps P 1 after the stop has begun. P 0 is the stopper's.
TEST(GcStats, FindsWhatKeptTheWorldFromStopping) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  for (int64_t p = 0; p < 2; ++p) {
    events.Proc(kProcStatus, 1 + p, p, ProcState::kUndetermined, ProcState::kRunning);
  }
  events.Go(kGoStatus, 5, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 6, 1, 9, GoState::kUndetermined, GoState::kRunning);
  const StackFrame asks[] = {{1, "runtime.ReadMemStats", "", 1}, {2, "main.stats", "", 2}};
  events.Push(events.Builder(kSTWBegin, 10, 0, 7).Reason("read mem stats").Stack(asks));
  const StackFrame loops[] = {{3, "main.loop", "", 3}};
  events.Push(events.Builder(kGoStop, 30, 1, 9)
                  .Transition(GoId{9}, GoState::kRunning, GoState::kRunnable)
                  .Stack(loops));
  events.Proc(kProcStop, 31, 1, ProcState::kRunning, ProcState::kIdle);
  events.Sync(35, 2);
  events.Proc(kProcStatus, 36, 0, ProcState::kRunning, ProcState::kRunning);
  events.Proc(kProcStatus, 37, 1, ProcState::kIdle, ProcState::kIdle);
  events.Go(kGoStatus, 38, 0, 7, GoState::kRunning, GoState::kRunning);
  events.Proc(kProcStart, 41, 1, ProcState::kIdle, ProcState::kRunning);
  events.Push(events.Builder(kSTWEnd, 50, 0, 7).Reason("read mem stats"));
  const std::unique_ptr<AnalysisSink> sink = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink({}, options); },
      AllTextOf);
  ASSERT_EQ(StatsOf(*sink).stops().size(), 1);
  const WorldStop& stop = StatsOf(*sink).stops()[0];
  EXPECT_EQ(sink->interner().RootFunction(stop.stack), "main.stats");
  EXPECT_EQ(stop.last_proc, ProcId{1});
  EXPECT_EQ(stop.last_goroutine, GoId{9});
  EXPECT_EQ(sink->interner().RootFunction(stop.last_stack), "main.loop");
  EXPECT_EQ(stop.stopping(), 21);
  EXPECT_EQ(stop.stopped(), 10);
  EXPECT_EQ(stop.restarting(), 9);
}

TEST(GcStats, HasEachStopOfTheWorld) {
  const std::unique_ptr<AnalysisSink> sink = RunOver(OneCycle());
  const absl::Span<const WorldStop> stops = StatsOf(*sink).stops();
  ASSERT_EQ(stops.size(), 3);
  EXPECT_EQ(sink->interner().String(stops[0].reason), "GC sweep termination");
  EXPECT_EQ(stops[0].begin, 11);
  EXPECT_EQ(stops[0].end, 20);
  EXPECT_EQ(stops[0].goroutine, GoId{7});
  EXPECT_EQ(stops[0].proc, ProcId{0});
  // P 2 stopped later, but only after it had been started again.
  EXPECT_EQ(stops[0].last_proc, ProcId{1});
  EXPECT_EQ(stops[0].last_proc_stop, 15);
  // It ran no goroutine.
  EXPECT_EQ(stops[0].last_goroutine, GoId::kNone);
  EXPECT_EQ(stops[0].stopping(), 4);
  EXPECT_EQ(stops[0].stopped(), 2);
  EXPECT_EQ(stops[0].restarting(), 3);
  EXPECT_EQ(stops[1].last_proc, ProcId::kNone);
  EXPECT_EQ(sink->interner().String(stops[2].reason), "read mem stats");
  EXPECT_EQ(stops[2].end, 80);
  EXPECT_TRUE(stops[2].end_clipped);
}

TEST(GcStats, CountsAssistsInTheWindowByPlace) {
  const auto in_window = [](int64_t from, int64_t to) {
    const std::unique_ptr<AnalysisSink> sink = RunOver(OneCycle(), {.from = from, .to = to});
    const absl::Span<const AssistsInPlace> places = StatsOf(*sink).assist_places();
    return places.empty() ? ""
                          : absl::StrCat(places[0].assists.count, " x ", places[0].assists.time);
  };
  EXPECT_EQ(in_window(26, 31), "2 x 3");
  EXPECT_EQ(in_window(27, 29), "1 x 1");
  EXPECT_EQ(in_window(10, 20), "");
}

TEST(GcStats, HasOnlyWhatIsInTheWindow) {
  const std::unique_ptr<AnalysisSink> sink = RunOver(OneCycle(), {25, 42});
  ASSERT_EQ(StatsOf(*sink).cycles().size(), 1);
  // Of the worker's times only what is in the window.
  EXPECT_EQ(StatsOf(*sink).cycles()[0].dedicated, 8);
  EXPECT_EQ(StatsOf(*sink).cycles()[0].idle, 6);
  ASSERT_EQ(StatsOf(*sink).stops().size(), 1);
  EXPECT_EQ(StatsOf(*sink).stops()[0].begin, 40);
}

TEST(GcStats, AreTheSameHoweverTheTraceIsCut) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    ExpectSameHoweverCut(
        ReadTestTrace(test.name),
        [](AnalysisSink::Options options) { return MakeSink({}, options); }, AllTextOf);
  }
}

// Appends the begin of a generation, which states what lasts from the one before.
void AddBorder(absl::Span<const Event> before, int64_t time, BuiltEvents* border) {
  using enum EventType;
  std::map<GoId, GoState> goroutines;
  std::map<ProcId, ProcState> procs;
  std::map<EventType, bool> is_open;
  for (const Event& event : before) {
    if (event.kind() == EventKind::kStateTransition) {
      const ResourceId id = event.transition_resource();
      if (id.kind == ResourceKind::kGoroutine) {
        goroutines[GoId{id.id}] = static_cast<GoState>(event.transition_to());
      } else {
        procs[ProcId{id.id}] = static_cast<ProcState>(event.transition_to());
      }
    }
    if (event.type() == kGCBegin || event.type() == kGCEnd) {
      is_open[kGCActive] = event.type() == kGCBegin;
    }
    if (event.type() == kGCMarkAssistBegin || event.type() == kGCMarkAssistEnd) {
      is_open[kGCMarkAssistActive] = event.type() == kGCMarkAssistBegin;
    }
    if (event.type() == kGCSweepBegin || event.type() == kGCSweepEnd) {
      is_open[kGCSweepActive] = event.type() == kGCSweepBegin;
    }
  }
  border->Sync(time, 2);
  for (const auto& [proc, state] : procs) border->Proc(kProcStatus, time, proc.value, state, state);
  for (const auto& [goroutine, state] : goroutines) {
    border->Go(kGoStatus, time, goroutine == GoId{7} ? 0 : 1, goroutine.value, state, state);
  }
  if (is_open[kGCActive]) border->Push(border->Builder(kGCActive, time, 0, 7));
  if (is_open[kGCMarkAssistActive]) {
    border->Push(border->Builder(kGCMarkAssistActive, time, 0, 7).Arg(0, 7));
  }
  // Go does not always state a sweep.
  if (is_open[kGCSweepActive] && time % 2 == 0) {
    border->Push(border->Builder(kGCSweepActive, time, 0, 7).Arg(0, 0));
  }
}

TEST(GcStats, AreTheSameWhereverACycleIsCut) {
  const BuiltEvents cycle = OneCycle();
  const std::string expected = AllTextOf(*RunOver(cycle));
  for (size_t at = 1; at + 1 < cycle.events().size(); ++at) {
    const Event& next = cycle.events()[at];
    SCOPED_TRACE(next.time());
    BuiltEvents border;
    AddBorder(cycle.events().first(at), next.time(), &border);
    std::vector<Event> events(cycle.events().begin(), cycle.events().begin() + at);
    events.insert(events.end(), border.events().begin(), border.events().end());
    events.insert(events.end(), cycle.events().begin() + at, cycle.events().end());
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        events, [](AnalysisSink::Options options) { return MakeSink({}, options); }, AllTextOf);
    EXPECT_EQ(AllTextOf(*whole), expected);
  }
}

TEST(GcStats, FindTheLastProcInTheNextGeneration) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  for (int64_t p = 0; p < 3; ++p) {
    events.Proc(kProcStatus, 1 + p, p, ProcState::kUndetermined, ProcState::kRunning);
  }
  events.Go(kGoStatus, 5, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kSTWBegin, 11, 0, 7).Reason("GC sweep termination"));
  events.Proc(kProcStop, 12, 2, ProcState::kRunning, ProcState::kIdle);
  events.Sync(13, 2);
  events.Proc(kProcStatus, 13, 0, ProcState::kRunning, ProcState::kRunning);
  events.Proc(kProcStatus, 13, 1, ProcState::kRunning, ProcState::kRunning);
  events.Proc(kProcStatus, 13, 2, ProcState::kIdle, ProcState::kIdle);
  events.Proc(kProcStart, 14, 2, ProcState::kIdle, ProcState::kRunning);
  events.Proc(kProcStop, 15, 1, ProcState::kRunning, ProcState::kIdle);
  events.Proc(kProcStop, 18, 2, ProcState::kRunning, ProcState::kIdle);
  events.Push(events.Builder(kSTWEnd, 20, 0, 7).Reason("GC sweep termination"));
  const std::unique_ptr<AnalysisSink> sink = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink({}, options); },
      AllTextOf);
  ASSERT_EQ(StatsOf(*sink).stops().size(), 1);
  EXPECT_EQ(StatsOf(*sink).stops()[0].last_proc, ProcId{2});
  EXPECT_EQ(StatsOf(*sink).stops()[0].last_proc_stop, 18);
}

// Counts the events of each type.
class Counter final : public EventSink {
 public:
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) ++counts[event.type()];
  }
  std::map<EventType, uint64_t> counts;
};

TEST(GcStats, HaveWhatEachTraceHas) {
  uint64_t cycles = 0;
  uint64_t last_procs = 0;
  uint64_t triggers[4] = {};
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    Counter counter;
    ASSERT_TRUE(ReadInto(*reader, {sink.get(), &counter}).ok());
    uint64_t begun = 0;
    uint64_t ended = 0;
    int64_t last_end = INT64_MIN;
    for (const GcCycle& cycle : StatsOf(*sink).cycles()) {
      begun += !cycle.begin_clipped;
      ended += !cycle.end_clipped;
      EXPECT_GE(cycle.begin, last_end);
      last_end = cycle.end;
      int64_t assists = 0;
      for (const GoroutineAssists& one : cycle.assists_by_goroutine) assists += one.assists.time;
      EXPECT_EQ(assists, cycle.assists.time);
      ++triggers[static_cast<size_t>(cycle.trigger)];
      ++cycles;
    }
    EXPECT_EQ(begun, counter.counts[EventType::kGCBegin]);
    EXPECT_EQ(ended, counter.counts[EventType::kGCEnd]);
    EXPECT_EQ(StatsOf(*sink).stops().size(), counter.counts[EventType::kSTWBegin]);
    for (const WorldStop& stop : StatsOf(*sink).stops()) {
      if (stop.last_proc == ProcId::kNone) continue;
      ++last_procs;
      EXPECT_NE(stop.last_proc, stop.proc);
      EXPECT_GT(stop.last_proc_stop, stop.begin);
      EXPECT_LE(stop.last_proc_stop, stop.end);
    }
  }
  EXPECT_GT(cycles, 100);
  EXPECT_GT(last_procs, 100);
  EXPECT_GT(triggers[static_cast<size_t>(GcTrigger::kHeap)], 0);
  EXPECT_GT(triggers[static_cast<size_t>(GcTrigger::kProgram)], 0);
}

}  // namespace gc_stats_test
}  // namespace gotrace::internal
