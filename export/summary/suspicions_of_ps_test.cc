#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/core/built_events.h"
#include "export/summary/summarized.h"
#include "export/summary/summary_page.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace suspicions_of_ps_test {

// Goroutine 5 creates others, and waits until goroutine `last` ends. They sleep, or have work.
TraceSummary SummarizeBatch(const std::vector<int64_t>& ends, int64_t last, bool they_sleep) {
  const Program::Stack start = {{9, "main.work", "/src/main.go", 40}};
  const Program::Stack all = {{1, "main.all", "/src/main.go", 30},
                              {2, "main.main", "/src/main.go", 10}};
  Program::Stack wait = all;
  wait.insert(wait.begin(), {3, "sync.(*WaitGroup).Wait", "/go/src/sync/waitgroup.go", 1});
  Program::Stack sleep = start;
  sleep.insert(sleep.begin(), {4, "time.Sleep", "/go/src/runtime/time.go", 1});
  Program program;
  program.Wait(5, 1, 10, "sleep", {{6, "main.main", "/src/main.go", 9}});
  for (size_t i = 0; i < ends.size(); ++i) {
    program.Create(11 + static_cast<int64_t>(i), 10, start, 5, all);
  }
  for (size_t i = 0; they_sleep && i < ends.size(); ++i) {
    program.Wait(11 + static_cast<int64_t>(i), 11, ends[i] - 1, "sleep", sleep);
  }
  program.Wait(5, 10, 250, "sync", wait, last, {{5, "sync.(*WaitGroup).Done", "", 1}, start[0]});
  for (size_t i = 0; i < ends.size(); ++i) program.End(11 + static_cast<int64_t>(i), ends[i]);
  return program.Summarize();
}

TEST(Suspicions, NameWorkThatIsDividedUnequally) {
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 30, 30, 250}, 14, false)),
            "imbalance: Of 4 goroutines of main.work, created in main.all main.go:30, one (G 14) "
            "was busy for 240 ms, and half of them for at most 20.4 ms. Others waited 165 ms for "
            "it. Busy was main.work (100.0%), mostly running up to main.work main.go:40 (100.0%). "
            "Victims: main.main.\n");
  // They are about as busy, or nobody waits for the one that is busy, or there are only two.
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({200, 220, 230, 250}, 14, false)), "");
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 30, 250, 900}, 13, false)), "");
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 250}, 12, false)), "");
}

// Goroutine 7 runs for 1 µs, yields, and waits for 2 µs until it runs again. Then it works.
TEST(Suspicions, NameLoopsThatYield) {
  using enum EventType;
  const auto suspicions_of = [](int64_t yields, int64_t end,
                                absl::string_view call = "runtime.Gosched") {
    BuiltEvents events;
    events.Sync(0, 1);
    events.Proc(kProcStatus, 0, 0, ProcState::kUndetermined, ProcState::kRunning);
    events.Go(kGoStatus, 0, 0, 7, GoState::kUndetermined, GoState::kRunning);
    int64_t time = 0;
    for (int64_t i = 0; i < yields; ++i) {
      events.Push(events.Builder(kGoStop, time += 1000, 0, 7)
                      .Transition(GoId{7}, GoState::kRunning, GoState::kRunnable)
                      .Reason("runtime.Gosched")
                      .Stack({{1, call, "", 1}, {2, "main.wait", "/src/main.go", 7}}));
      events.Go(kGoStart, time += 2000, 0, 7, GoState::kRunnable, GoState::kRunning);
    }
    events.Sync(end, 2);
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    sink->Add(events.events());
    EXPECT_TRUE(sink->Finish().ok());
    return SuspicionsOf(SummaryOf(*sink));
  };
  EXPECT_EQ(suspicions_of(20'000, 800'000'000),
            "yields: Goroutines of main.wait gave up their P 20000 times in main.wait main.go:7 -> "
            "runtime.Gosched, and were ready again at once: 40.0 ms, p50 2.00 µs. In a channel or "
            "a Cond they would wait without a P.\n");
  // Too few, or too seldom.
  EXPECT_EQ(suspicions_of(19'000, 800'000'000), "");
  // The runtime does so while it sweeps.
  EXPECT_EQ(suspicions_of(20'000, 800'000'000, "runtime.GC"), "");
  EXPECT_EQ(suspicions_of(25'000, 1'500'000'000), "");
}

TEST(Suspicions, NameTheGoroutineThatIsLate) {
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 30, 30, 250}, 14, true)),
            "straggler: One of 4 goroutines of main.work, created in main.all main.go:30, was "
            "late: up to 240 ms (G 14), and half of them took at most 20.4 ms. Others waited "
            "220 ms for it. Late was main.work (100.0%), mostly sleep in main.work "
            "main.go:40 (99.2%). "
            "Victims: main.main.\n");
  // Others are about as late, or nobody waits for the one that is late, or there are only two.
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 100, 120, 250}, 14, true)), "");
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 30, 250, 900}, 13, true)), "");
  EXPECT_EQ(SuspicionsOf(SummarizeBatch({30, 250}, 12, true)), "");
}

// Ps that do what a test says. Times are in milliseconds.
class Procs {
 public:
  explicit Procs(uint64_t procs) {
    events_.Sync(0, 1);
    events_.Number(EventType::kProcsChange, 0, procs);
    for (uint64_t p = 0; p < procs; ++p) {
      events_.Proc(EventType::kProcStatus, 0, static_cast<int64_t>(p), ProcState::kUndetermined,
                   ProcState::kRunning);
    }
  }

  // States what a goroutine does at the beginning; on no P if it is ready.
  void Is(int64_t g, GoState state, int64_t p = -1) {
    events_.Go(EventType::kGoStatus, 0, p, g, GoState::kUndetermined, state);
  }
  void Start(int64_t time, int64_t p, int64_t g) {
    events_.Go(EventType::kGoStart, time * kMillisecond, p, g, GoState::kRunnable,
               GoState::kRunning);
  }
  // The goroutine stops and is ready, with a stack whose outermost function is `start`.
  void Stop(int64_t time, int64_t p, int64_t g, absl::string_view start,
            absl::string_view inner = "bytes.IndexByte") {
    const StackFrame stack[] = {{1, inner, "/go/src/bytes/bytes.go", 1},
                                {7, start, "/src/main.go", 7}};
    events_.Push(events_.Builder(EventType::kGoStop, time * kMillisecond, p, g)
                     .Transition(GoId{g}, GoState::kRunning, GoState::kRunnable)
                     .Stack(stack)
                     .TransitionStack(stack));
  }
  void Idle(int64_t time, int64_t p) {
    events_.Proc(EventType::kProcStop, time * kMillisecond, p, ProcState::kRunning,
                 ProcState::kIdle);
  }
  void Wake(int64_t time, int64_t p) {
    events_.Proc(EventType::kProcStart, time * kMillisecond, p, ProcState::kIdle,
                 ProcState::kRunning);
  }
  // A range of the runtime that a goroutine begins in main.grow.
  void Range(EventType type, int64_t time, int64_t p, int64_t g, absl::string_view reason = "") {
    const StackFrame stack[] = {{1, "runtime.mallocgc", "/go/src/runtime/malloc.go", 1},
                                {9, "main.grow", "/src/main.go", 9}};
    EventBuilder builder = events_.Builder(type, time * kMillisecond, p, g).Stack(stack);
    if (!reason.empty()) builder.Reason(reason);
    events_.Push(builder);
  }
  void Label(int64_t time, int64_t p, int64_t g, absl::string_view label) {
    events_.Push(events_.Builder(EventType::kGoLabel, time * kMillisecond, p, g).Label(label));
  }

  TraceSummary Summarize() {
    events_.Sync(1000 * kMillisecond, 2);
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    sink->Add(events_.events());
    EXPECT_TRUE(sink->Finish().ok());
    return SummaryOf(*sink);
  }

 private:
  BuiltEvents events_;
};

constexpr GoState kReady = GoState::kRunnable;
constexpr GoState kRunning = GoState::kRunning;

// Four goroutines share a P, which is busy all the time.
TEST(Suspicions, NameTooFewPs) {
  Procs procs(1);
  for (int64_t g = 5; g < 9; ++g) procs.Is(g, g == 5 ? kRunning : kReady, g == 5 ? 0 : -1);
  for (int64_t i = 0; i < 99; ++i) {
    procs.Stop(10 * (i + 1), 0, 5 + i % 4, "main.work");
    procs.Start(10 * (i + 1), 0, 5 + (i + 1) % 4);
  }
  EXPECT_EQ(SuspicionsOf(procs.Summarize()),
            "few-ps: Goroutines waited 3.00 s to run while the P ran others of the program "
            "(100.0% busy, GOMAXPROCS 1). Running meanwhile: main.work. Victims: main.work.\n");
}

// The goroutine gives way after 60 ms each time, while another one waits.
TEST(Suspicions, NameTheGoroutineThatKeepsItsP) {
  Procs procs(1);
  procs.Is(5, kRunning, 0);
  procs.Is(6, kReady);
  for (int64_t i = 0; i < 10; ++i) {
    procs.Stop(60 + 61 * i, 0, 5, "main.scan");
    procs.Start(60 + 61 * i, 0, 6);
    procs.Stop(61 + 61 * i, 0, 6, "main.serve");
    procs.Start(61 + 61 * i, 0, 5);
  }
  procs.Stop(612, 0, 5, "main.scan");
  const std::string found = SuspicionsOf(procs.Summarize());
  EXPECT_EQ(found,
            "hog: Goroutines of main.scan kept their P for up to 60.0 ms (G 5), 10 times for 20 ms "
            "or more, until main.scan main.go:7 -> bytes.IndexByte. Others waited 500 ms for it. "
            "Victims: main.serve.\n");
}

// In a real trace, two goroutines do so, while main waits to start requests. Rows of goroutines, in
// another analysis, say for how long main waited: 2218 ms, 10 ms of each long run included.
TEST(Suspicions, NameWhatKeepsMainWaiting) {
  const TraceSummary summary = Summarize("../diagnosis/hog.trace");
  const std::vector<TraceSummary::Suspicion> found = summary.Suspicions();
  ASSERT_EQ(found.size(), 1) << SuspicionsOf(summary);
  EXPECT_EQ(found[0].kind, SuspicionKind::kHog);
  EXPECT_EQ(found[0].start, "main.main.func1");
  EXPECT_EQ(MainPlaceOf(found[0]).function, "");  // The trace does not say where they gave way.
  ASSERT_FALSE(found[0].victims.empty());
  EXPECT_EQ(found[0].victims[0].function, "main.main");
  EXPECT_GT(found[0].victims[0].time, 1600 * kMillisecond);
  EXPECT_LT(found[0].victims[0].time, 2218 * kMillisecond);
}

TEST(Suspicions, NamePsThatAreIdle) {
  Procs procs(2);
  procs.Is(5, kRunning, 0);
  procs.Is(6, kReady);
  procs.Idle(100, 1);
  procs.Wake(400, 1);
  procs.Start(400, 1, 6);
  procs.Stop(401, 1, 6, "main.serve");
  procs.Start(401, 1, 6);
  const TraceSummary summary = procs.Summarize();
  EXPECT_EQ(SuspicionsOf(summary),
            "idle-ps: For 300 ms, 15.0% of the Ps' time, Ps were idle although goroutines waited "
            "to run. Victims: main.serve.\n");
}

TEST(Suspicions, NameWhoAllocates) {
  Procs procs(1);
  procs.Is(5, kRunning, 0);
  procs.Is(6, kReady);
  procs.Range(EventType::kGCBegin, 100, 0, 5);
  procs.Range(EventType::kGCMarkAssistBegin, 110, 0, 5);
  procs.Range(EventType::kGCMarkAssistEnd, 210, 0, 5);
  procs.Range(EventType::kGCEnd, 220, 0, 5);
  procs.Stop(221, 0, 5, "main.fill");
  procs.Start(221, 0, 6);
  procs.Stop(222, 0, 6, "main.serve");
  EXPECT_TRUE(absl::StrContains(
      SuspicionsOf(procs.Summarize()),
      "assists: Goroutines that allocate were in mark assists, helping the collector or waiting "
      "for "
      "it, for 100 ms, most in main.grow "
      "main.go:9 (1 mark assist in all). Others waited 100 ms for Ps that ran these. Victims: "
      "main.serve.\n"))
      << SuspicionsOf(procs.Summarize());
}

TEST(Suspicions, NameTheCollector) {
  Procs procs(1);
  procs.Is(5, kRunning, 0);
  procs.Is(6, kReady);
  procs.Is(7, kReady);
  procs.Range(EventType::kGCBegin, 100, 0, 5);
  procs.Stop(110, 0, 5, "main.fill");
  procs.Start(110, 0, 7);
  procs.Label(110, 0, 7, "GC (dedicated)");
  procs.Stop(460, 0, 7, "runtime.gcBgMarkWorker");
  procs.Start(460, 0, 6);
  procs.Range(EventType::kGCEnd, 461, 0, 6);
  procs.Stop(461, 0, 6, "main.serve");
  const std::string found = SuspicionsOf(procs.Summarize());
  EXPECT_TRUE(absl::StrContains(found,
                                "gc: 1 cycle; mark workers took 75.9% of the time in which Ps were "
                                "busy. Most began in main.grow main.go:9."))
      << found;
}

TEST(Suspicions, NameWhoStopsTheWorld) {
  Procs procs(2);
  procs.Is(5, kRunning, 0);
  procs.Is(6, kRunning, 1);
  procs.Is(7, kReady);
  procs.Range(EventType::kSTWBegin, 100, 0, 5, "read mem stats");
  procs.Stop(150, 1, 6, "main.scan");
  procs.Idle(150, 1);
  procs.Range(EventType::kSTWEnd, 160, 0, 5);
  procs.Stop(161, 0, 5, "main.report");
  procs.Start(161, 0, 7);
  procs.Stop(162, 0, 7, "main.serve");
  const std::string found = SuspicionsOf(procs.Summarize());
  EXPECT_TRUE(absl::StrContains(
      found,
      "stopped: The world was stopped for 60.0 ms of 1.00 s, 1 time, up to 60.0 ms, most by "
      "main.grow main.go:9. Last to stop was main.scan main.go:7 -> bytes.IndexByte, after 50.0 "
      "ms in all. Victims: main.serve"))
      << found;
}

// Nothing that concerns Ps is suspected of a program that has as many goroutines as Ps.
TEST(Suspicions, AreNotRaisedByBusyPs) {
  Procs procs(2);
  for (const int64_t p : {0, 1}) procs.Is(5 + p, kRunning, p);
  for (int64_t i = 0; i < 9; ++i) {
    for (const int64_t p : {0, 1}) {
      procs.Stop(100 * (i + 1), p, 5 + p, "main.work");
      procs.Start(100 * (i + 1), p, 5 + p);
    }
  }
  EXPECT_EQ(SuspicionsOf(procs.Summarize()), "");
}

}  // namespace suspicions_of_ps_test
}  // namespace gotrace::internal
