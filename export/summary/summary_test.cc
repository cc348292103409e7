#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "export/summary/summary_page.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace summary_test {

std::unique_ptr<MergeableAnalysisSink<SummaryStats>> MakeSink(AnalysisSink::Options options = {}) {
  return std::make_unique<MergeableAnalysisSink<SummaryStats>>(
      [&](Interner* interner) { return std::make_unique<SummaryStats>(interner, options.window); },
      options);
}

const TraceSummary& SummaryOf(const AnalysisSink& sink) {
  return static_cast<const SummaryStats&>(sink.analysis()).summary();
}

TraceSummary Summarize(const std::string& name) {
  const std::string bytes = ReadTestTrace(name);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  EXPECT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  TraceSummary summary = SummaryOf(*sink);
  summary.SetFile(name);
  return summary;
}

TEST(SummaryStats, AreTheSameHoweverTheTraceIsCut) {
  std::vector<std::string> names = {"../diagnosis/polling.trace", "../diagnosis/imbalance.trace",
                                    "../diagnosis/straggler.trace", "../diagnosis/answers.trace"};
  for (const TestTrace& test : TestTraces()) names.emplace_back(test.name);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(name), [](AnalysisSink::Options options) { return MakeSink(options); },
        [](const AnalysisSink& sink) { return FormatSummaryJson(SummaryOf(sink)); });
    // It is one page.
    const std::string page = FormatSummary(SummaryOf(*whole));
    EXPECT_LE(std::vector<std::string>(absl::StrSplit(page, '\n')).size(), 60) << page;
  }
}

// To start tracing, the world had to stop, which took 63 ms. What the first statuses state was not
// seen before them, whatever it was.
TEST(SummaryStats, ConcludesNothingFromWhatNobodySaw) {
  using enum EventType;
  constexpr int64_t kStart = 63'000'000;
  constexpr int64_t kEnd = kStart + 100'000'000;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Proc(kProcStatus, kStart, 0, ProcState::kUndetermined, ProcState::kRunning);
  events.Go(kGoStatus, kStart, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Number(kProcsChange, kStart, 1);
  events.Go(kGoStatus, kStart + 50'000, 0, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Go(kGoBlock, kStart + 56'000, 0, 1, GoState::kRunning, GoState::kWaiting, "sync");
  events.Go(kGoStart, kStart + 60'000, 0, 8, GoState::kRunnable, GoState::kRunning);
  events.Go(kGoBlock, kStart + 70'000, 0, 8, GoState::kRunning, GoState::kWaiting, "sleep");
  events.Proc(kProcStop, kStart + 75'000, 0, ProcState::kRunning, ProcState::kIdle);
  events.Sync(kEnd, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  const TraceSummary& summary = SummaryOf(*sink);
  EXPECT_EQ(summary.gomaxprocs, 1u);
  EXPECT_EQ(summary.longest_run.length, 56'000);
  EXPECT_EQ(summary.longest_run.begin, kStart);
  EXPECT_TRUE(summary.longest_run.is_clipped);
  ASSERT_FALSE(summary.latencies.empty());
  EXPECT_EQ(summary.latencies[0].kind, LatencyKind::kScheduling);
  EXPECT_EQ(summary.latencies[0].longest.length, 60'000);
  EXPECT_EQ(summary.latencies[0].longest.begin, kStart);
  EXPECT_TRUE(summary.latencies[0].longest.is_clipped);
  EXPECT_EQ(summary.latencies[0].clipped, 1);
  EXPECT_EQ(summary.procs.user, 66'000);
  EXPECT_EQ(summary.procs.Total(), kEnd - kStart);
  EXPECT_EQ(summary.runnable, 60'000);
  EXPECT_TRUE(absl::StrContains(FormatSummary(summary), "Nothing suspicious was found"))
      << FormatSummary(summary);
}

TEST(SummaryStats, SaysWhatLeaksAreBlockedOn) {
  using enum EventType;
  constexpr int64_t kSecond = 1'000'000'000;
  const StackFrame leak[] = {{2, "main.leak", "", 2}};
  const StackFrame send[] = {{3, "main.send", "", 3}, {2, "main.leak", "", 2}};
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGoCreate, 100, 0, 1)
                  .Transition(GoId{11}, GoState::kNotExist, GoState::kRunnable)
                  .TransitionStack(leak));
  events.Go(kGoStart, 102, 1, 11, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kGoBlock, 105, 1, 11)
                  .Transition(GoId{11}, GoState::kRunning, GoState::kWaiting)
                  .Reason("chan send")
                  .Stack(send)
                  .TransitionStack(send));
  events.Sync(3 * kSecond, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(SummaryOf(*sink).leaks.size(), 1u);
  const TraceSummary::Leak& found = SummaryOf(*sink).leaks[0];
  EXPECT_EQ(found.start, "main.leak");
  EXPECT_EQ(found.reason, "chan send");
  EXPECT_EQ(found.function, "main.send");
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.grown, 0u);
  EXPECT_EQ(found.longest, 3 * kSecond - 105);
  ASSERT_EQ(SummaryOf(*sink).places.size(), 1u);
  const TraceSummary::Place& place = SummaryOf(*sink).places[0];
  EXPECT_EQ(place.kind, LatencyKind::kBlocked);
  EXPECT_EQ(place.reason, "chan send");
  EXPECT_EQ(place.function, "main.send");
  EXPECT_EQ(place.count, 1u);
  EXPECT_EQ(place.time, 3 * kSecond - 105);
  EXPECT_EQ(place.longest, 3 * kSecond - 105);
}

TEST(SummaryJson, CanBeReadAgain) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string json = FormatSummaryJson(Summarize(std::string(test.name)));
    const absl::StatusOr<TraceSummary> read = ParseSummary(json);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(FormatSummaryJson(*read), json);
  }
}

TEST(TraceSummary, MergesInAnyOrder) {
  const TraceSummary a = Summarize("go1.27-gc.trace");
  const TraceSummary b = Summarize("go1.25-blocking.trace");
  const TraceSummary c = Summarize("go1.26-syscalls.trace");
  TraceSummary abc;
  for (const TraceSummary* one : {&a, &b, &c}) abc.Merge(*one);
  TraceSummary cba;
  for (const TraceSummary* one : {&c, &b, &a}) cba.Merge(*one);
  TraceSummary bc = b;
  bc.Merge(c);
  TraceSummary a_bc = a;
  a_bc.Merge(bc);
  EXPECT_EQ(FormatSummaryJson(abc), FormatSummaryJson(cba));
  EXPECT_EQ(FormatSummaryJson(abc), FormatSummaryJson(a_bc));
  EXPECT_EQ(abc.traces, 3);
  EXPECT_EQ(abc.events, a.events + b.events + c.events);
  EXPECT_EQ(abc.procs.Total(), a.procs.Total() + b.procs.Total() + c.procs.Total());
  EXPECT_TRUE(absl::StrContains(FormatSummary(abc), "3 traces: ")) << FormatSummary(abc);
  // Which of them has the longest wait.
  EXPECT_TRUE(absl::StrContains(FormatSummaryJson(abc), "\"file\":\"go1.27-gc.trace\""));
}

TEST(SummaryJson, ExplainsWhatIsWrong) {
  const std::string json = FormatSummaryJson(Summarize("go1.27-gc.trace"));
  const auto error = [&](const std::string& text) {
    const absl::StatusOr<TraceSummary> read = ParseSummary(text);
    EXPECT_FALSE(read.ok()) << text;
    return std::string(read.status().message());
  };
  EXPECT_EQ(error("{"), "it is not JSON");
  EXPECT_EQ(error(std::string(100'000, '[')), "it is not JSON");
  EXPECT_EQ(error("[]"), "it is not an object");
  EXPECT_EQ(error("{}"), "the member \"traces\" is missing");
  const auto changed = [&](const std::string& from, const std::string& to) {
    EXPECT_TRUE(absl::StrContains(json, from)) << from;
    return error(absl::StrReplaceAll(json, {{from, to}}));
  };
  EXPECT_EQ(changed("\"traces\":1", "\"traces\":-1"), "\"traces\" is not a number from 0 on");
  EXPECT_EQ(changed("\"gc_ns\":", "\"gc_ns\":0."), "\"procs.gc_ns\" is not an integer");
  EXPECT_EQ(changed("\"kind\":\"scheduling\"", "\"kind\":\"other\""),
            "\"latencies[0].kind\" is not the name of a kind");
  EXPECT_EQ(changed("\"scale\":4", "\"scale\":5"), "\"heap_room_percent\" is not a histogram");
  EXPECT_EQ(changed("\"offset\":", "\"offset\":9"), "\"heap_room_percent\" is not a histogram");
  EXPECT_EQ(changed("\"leaks\":[", "\"leaks\":[7"), "\"leaks[0]\" is not an object");
  EXPECT_TRUE(absl::IsNotFound(
      ParseSummary("{\"file\":\"x\",\"complete\":false,\"error\":\"why\"}").status()));
}

constexpr int64_t kMillisecond = 1'000'000;

// A trace of a second, unless a test says otherwise, in which goroutines do what the test says.
// Goroutine 1 takes no time, and two Ps are idle. Times
// are in milliseconds.
class Program {
 public:
  using Stack = std::vector<StackFrame>;

  // Goroutine `g` waits for `reason` from `begin` to `end`, when goroutine `by` wakes it, or a
  // timer if it is -1.
  void Wait(int64_t g, int64_t begin, int64_t end, absl::string_view reason, const Stack& stack,
            int64_t by = -1, const Stack& waker = {}) {
    Block(g, begin, reason, stack);
    At(end, events_.Builder(EventType::kGoUnblock, 0, 0, by)
                .Transition(GoId{g}, GoState::kWaiting, GoState::kRunnable)
                .Stack(waker));
    Run(g, end);
  }
  // The same without an end.
  void Block(int64_t g, int64_t begin, absl::string_view reason, const Stack& stack) {
    Know(g);
    At(begin, events_.Builder(EventType::kGoBlock, 0, 1, g)
                  .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
                  .Reason(reason)
                  .Stack(stack));
  }
  // Goroutine `g` is in a syscall from `begin` to `end`.
  void Call(int64_t g, int64_t begin, int64_t end, const Stack& stack) {
    Know(g);
    At(begin, events_.Builder(EventType::kGoSyscallBegin, 0, 1, g)
                  .Transition(GoId{g}, GoState::kRunning, GoState::kSyscall)
                  .Stack(stack));
    At(end, events_.Builder(EventType::kGoSyscallEnd, 0, 1, g)
                .Transition(GoId{g}, GoState::kSyscall, GoState::kRunning));
  }
  // Goroutine `g` is in a mark assist from `begin` to `end`.
  void Assist(int64_t g, int64_t begin, int64_t end) {
    Know(g);
    At(begin, events_.Builder(EventType::kGCMarkAssistBegin, 0, 1, g));
    At(end, events_.Builder(EventType::kGCMarkAssistEnd, 0, 1, g));
  }
  // Goroutine `g` has a task, and a region that is all of it.
  void Task(int64_t g, int64_t begin, int64_t end, uint64_t id, const Stack& stack) {
    Know(g);
    const auto at = [&](int64_t time, EventType type) {
      EventBuilder builder = events_.Builder(type, 0, 1, g);
      builder.Task(TaskId{id}).Stack(stack);
      if (type == EventType::kUserTaskBegin) builder.TaskType("request");
      if (type == EventType::kUserRegionBegin || type == EventType::kUserRegionEnd) {
        builder.RegionType("all of it");
      }
      At(time, builder);
    };
    at(begin, EventType::kUserTaskBegin);
    at(begin, EventType::kUserRegionBegin);
    at(end, EventType::kUserRegionEnd);
    at(end, EventType::kUserTaskEnd);
  }
  // Goroutine `by` creates goroutine `g`.
  void Create(int64_t g, int64_t time, const Stack& start, int64_t by = 1,
              const Stack& creation = {}) {
    known_.insert(g);
    At(time, events_.Builder(EventType::kGoCreate, 0, 0, by)
                 .Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable)
                 .TransitionStack(start)
                 .Stack(creation));
    Run(g, time);
  }
  void End(int64_t g, int64_t time) {
    At(time, events_.Builder(EventType::kGoDestroy, 0, 1, g)
                 .Transition(GoId{g}, GoState::kRunning, GoState::kNotExist));
  }

  TraceSummary Summarize(int64_t length = 1000) {
    absl::c_stable_sort(steps_, [](const auto& a, const auto& b) { return a.first < b.first; });
    events_.Sync(0, 1);
    events_.Number(EventType::kProcsChange, 0, 4);
    for (const int64_t p : {2, 3}) {
      events_.Proc(EventType::kProcStatus, 0, p, ProcState::kUndetermined, ProcState::kIdle);
    }
    events_.Go(EventType::kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kWaiting);
    for (auto& [time, builder] : steps_) events_.Push(builder.Time(time));
    events_.Sync(length * kMillisecond, 2);
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    sink->Add(events_.events());
    EXPECT_TRUE(sink->Finish().ok());
    return SummaryOf(*sink);
  }

 private:
  void At(int64_t time, const EventBuilder& builder) {
    steps_.emplace_back(time * kMillisecond, builder);
  }
  void Run(int64_t g, int64_t time) {
    At(time, events_.Builder(EventType::kGoStart, 0, 1, g)
                 .Transition(GoId{g}, GoState::kRunnable, GoState::kRunning));
  }
  // A goroutine that was not created is blocked from the beginning until it does something.
  void Know(int64_t g) {
    if (g == 1 || !known_.insert(g).second) return;
    At(0, events_.Builder(EventType::kGoStatus, 0, 1, g)
              .Transition(GoId{g}, GoState::kUndetermined, GoState::kRunning));
  }

  BuiltEvents events_;
  std::vector<std::pair<int64_t, EventBuilder>> steps_;
  std::set<int64_t> known_;
};

std::string SuspicionsOf(const TraceSummary& summary) {
  std::string text;
  for (const TraceSummary::Suspicion& s : summary.Suspicions()) {
    absl::StrAppend(&text, SuspicionId(s.kind), ": ", SuspicionText(s, summary), "\n");
  }
  return text;
}

Program::Stack LockStack(uint64_t line, absl::string_view start) {
  return {{1, "sync.runtime_SemacquireMutex", "/go/src/runtime/sema.go", 1},
          {2, "sync.(*Mutex).Lock", "/go/src/sync/mutex.go", 90},
          {line, "main.(*Cache).Get", "/src/cache.go", line},
          {4, start, "/src/main.go", 4}};
}

TEST(Suspicions, NameTheLockAndItsVictims) {
  Program program;
  const Program::Stack unlock = {{5, "sync.(*Mutex).Unlock", "", 1}, {6, "main.save", "", 2}};
  for (int64_t i = 0; i < 4; ++i) {
    program.Wait(7, 10 + 100 * i, 40 + 100 * i, "sync", LockStack(17, "main.page"), 1, unlock);
  }
  program.Wait(8, 510, 520, "sync", LockStack(23, "main.list"), 1, unlock);
  const TraceSummary summary = program.Summarize();
  EXPECT_EQ(SuspicionsOf(summary),
            "lock: 5 waits for a lock in main.(*Cache).Get cache.go:17 -> "
            "sync.(*Mutex).Lock: 130 ms, up to 30.0 ms. Victims: main.page 92.3%, main.list "
            "7.7%.\n");
  const std::string page = FormatSummary(summary);
  EXPECT_TRUE(absl::StrContains(
      page,
      "  0.13  lock       5 waits for a lock in main.(*Cache).Get cache.go:17 -> "
      "sync.(*Mutex).Lock:\n                   130 ms, up to 30.0 ms. Victims: main.page"))
      << page;
  EXPECT_TRUE(absl::StrContains(
      page, "gotrace-dump locks --kind=mutex,rwmutex --stack='main.*Cache.*Get'\n"))
      << page;
}

TEST(Suspicions, NameWhoHeldTheLock) {
  Program program;
  const Program::Stack sleep = {
      {1, "time.Sleep", "", 1}, {7, "main.load", "", 3}, {6, "main.save", "", 1}};
  const Program::Stack unlock = {{5, "sync.(*Mutex).Unlock", "", 1}, {6, "main.save", "", 2}};
  for (int64_t i = 0; i < 5; ++i) {
    program.Wait(6, 20 + 100 * i, 35 + 100 * i, "sleep", sleep);
    program.Wait(7, 10 + 100 * i, 40 + 100 * i, "sync", LockStack(17, "main.page"), 6, unlock);
  }
  EXPECT_EQ(SuspicionsOf(program.Summarize()),
            "lock: 5 waits for a lock in main.(*Cache).Get cache.go:17 -> sync.(*Mutex).Lock: 150 "
            "ms, up to 30.0 ms. Held by main.save (100.0%), mostly sleep in main.load (50.0%). "
            "Victims: main.page.\n");
}

TEST(Suspicions, SayWhetherReadersOrWritersHeldIt) {
  Program program;
  const Program::Stack read = {{1, "sync.runtime_SemacquireRWMutexR", "", 1},
                               {2, "sync.(*RWMutex).RLock", "", 2},
                               {3, "main.get", "/src/main.go", 3}};
  const Program::Stack write = {{5, "sync.(*RWMutex).Unlock", "", 1}, {6, "main.put", "", 2}};
  for (int64_t i = 0; i < 5; ++i) {
    program.Wait(7, 10 + 100 * i, 40 + 100 * i, "sync", read, 1, write);
  }
  EXPECT_EQ(SuspicionsOf(program.Summarize()),
            "lock: 5 waits for a lock in main.get main.go:3 -> sync.(*RWMutex).RLock: 150 ms, up "
            "to 30.0 ms. Ended by RUnlock: 0.0%, by Unlock: 100.0%. Victims: main.get.\n");
}

TEST(Suspicions, NameADeadlockHoweverFewWait) {
  Program program;
  program.Block(7, 10, "sync", LockStack(17, "main.page"));
  EXPECT_EQ(SuspicionsOf(program.Summarize(3000)),
            "lock: 1 wait for a lock in main.(*Cache).Get cache.go:17 -> sync.(*Mutex).Lock: 2.99 "
            "s, up to 2.99 s, and not over when the trace ended. Victims: main.page.\n");
}

// Each of these waits has a length and a number that would be suspicious if it were for a lock.
TEST(Suspicions, AreNotRaisedByWaitingAsSuch) {
  Program program;
  const Program::Stack start_all = {{1, "sync.(*WaitGroup).Wait", "", 1}, {2, "main.all", "", 2}};
  const Program::Stack tick = {{1, "runtime.selectgo", "", 1}, {2, "main.audit", "", 2}};
  const Program::Stack idle = {{1, "sync.(*Cond).Wait", "", 1}, {2, "main.worker", "", 2}};
  const Program::Stack put = {{1, "sync.(*Cond).Signal", "", 1}, {2, "main.main", "", 2}};
  const Program::Stack jobs = {{1, "runtime.chanrecv2", "", 1}, {2, "main.consume", "", 2}};
  const Program::Stack collector = {{1, "runtime.gcStart", "", 1}, {2, "main.allocate", "", 2}};
  const Program::Stack system = {{1, "sync.(*Mutex).Lock", "", 1},
                                 {2, "runtime/trace.Start", "", 2}};
  const Program::Stack read = {{1, "syscall.read", "", 1}, {2, "main.input", "", 2}};
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = 10 + 40 * i;
    program.Wait(7, begin, begin + 30, "sync", start_all, 1, put);
    program.Wait(8, begin, begin + 30, "select", tick);
    for (int64_t g = 20; g < 25; ++g) {
      program.Wait(g, begin, begin + 30, "sync.(*Cond).Wait", idle, 1, put);
      program.Wait(g + 10, begin, begin + 30, "chan receive", jobs, 1, put);
    }
    program.Wait(9, begin, begin + 30, "sync", collector, 1, put);
    program.Wait(10, begin, begin + 30, "sync", system, 1, put);
    program.Call(11, begin, begin + 30, read);
  }
  // Of these, only to wait for a GC cycle costs time.
  EXPECT_EQ(SuspicionsOf(program.Summarize()),
            "gc: 0 cycles; mark workers took 0.0% of the time in which Ps were busy. Goroutines "
            "waited 600 ms for cycles to begin or end, most in main.allocate.\n");
}

TEST(Suspicions, NameTheCallsThatTakeMostOfTheTime) {
  const Program::Stack sync = {{1, "syscall.Fsync", "/go/src/syscall/a.go", 1},
                               {2, "os.(*File).Sync", "/go/src/os/file.go", 2},
                               {3, "main.commit", "/src/main.go", 14}};
  Program program;
  for (int64_t i = 0; i < 20; ++i) program.Call(7, 10 + 40 * i, 40 + 40 * i, sync);
  EXPECT_EQ(SuspicionsOf(program.Summarize()),
            "syscalls: 20 calls in main.commit main.go:14 -> os.(*File).Sync: 600 ms, p50 "
            "30.0 ms, p99 30.0 ms, up to 30.0 ms. Victims: main.commit.\n");
  // Goroutines that were active for longer elsewhere make it unimportant.
  Program other;
  for (int64_t i = 0; i < 10; ++i) other.Call(7, 10 + 40 * i, 40 + 40 * i, sync);
  EXPECT_EQ(SuspicionsOf(other.Summarize()), "");
}

TEST(SummaryStats, NamesTheProgramsFunctionForAPlace) {
  Program program;
  program.Wait(7, 10, 60, "sleep", {{1, "time.Sleep", "", 1}, {2, "main.poll", "", 2}});
  const TraceSummary summary = program.Summarize();
  ASSERT_EQ(summary.places.size(), 1u);
  EXPECT_EQ(summary.places[0].function, "main.poll");
  EXPECT_EQ(summary.places[0].time, 50 * kMillisecond);
}

TEST(Suspicions, NameDeadlinesThatPass) {
  const Program::Stack call = {{1, "runtime.selectgo", "", 1},
                               {2, "main.fetch", "/src/main.go", 16}};
  const Program::Stack cancel = {{1, "runtime.closechan", "", 1},
                                 {2, "context.(*cancelCtx).cancel", "", 2},
                                 {3, "context.WithDeadlineCause.func2", "", 3}};
  const Program::Stack answer = {{1, "runtime.chansend1", "", 1}, {2, "main.query", "", 2}};
  const Program::Stack release = {{1, "runtime.chanrecv1", "", 1},
                                  {2, "main.fetch", "/src/main.go", 20}};
  const auto suspicions_of = [&](bool asks, const Program::Stack& other) {
    Program program;
    for (int64_t i = 0; i < 10; ++i) {
      if (asks) program.Create(100 + i, 10 + 40 * i, {{2, "main.query", "", 1}}, 7, call);
      program.Wait(7, 10 + 40 * i, 17 + 40 * i, "select", call, 9, cancel);
      program.Wait(8, 10 + 40 * i, 11 + 40 * i, "select", call, 1, other);
    }
    return SuspicionsOf(program.Summarize());
  };
  const std::string expected =
      "timeouts: 10 of 20 waits (select) in main.fetch main.go:16 were ended by a deadline after "
      "7.00 ms: 70.0 ms. Victims: main.fetch.\n";
  EXPECT_EQ(suspicions_of(true, answer), expected);
  // They want what others like them have.
  EXPECT_EQ(suspicions_of(false, release), expected);
  // They wait for work.
  EXPECT_EQ(suspicions_of(false, answer), "");
}

const Program::Stack kFetch = {{1, "runtime.selectgo", "", 1},
                               {2, "main.fetch", "/src/main.go", 16}};
const Program::Stack kAnswer = {{3, "runtime.chansend1", "", 1}, {4, "main.query", "", 2}};

// Of the waits for an answer, a timer ends half.
TEST(Suspicions, NameTimersOfWhoAsks) {
  const Program::Stack start = {{4, "main.query", "/src/main.go", 2}};
  const Program::Stack receive = {{5, "runtime.chanrecv1", "", 1}, {6, "main.serve", "", 1}};
  constexpr absl::string_view kExpected =
      "timeouts: 10 of 20 waits (select) in main.fetch main.go:16 were ended by a timer after "
      "30.0 ms: 300 ms. Victims: main.fetch.\n";
  // Goroutine 7 creates others that answer.
  Program creates;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = 10 + 45 * i;
    const bool is_answered = i % 2 == 0;
    creates.Create(100 + i, begin, start, 7, kFetch);
    creates.Wait(7, begin, begin + (is_answered ? 2 : 30), "select", kFetch,
                 is_answered ? 100 + i : -1, kAnswer);
    creates.End(100 + i, begin + 40);
  }
  EXPECT_EQ(SuspicionsOf(creates.Summarize()), kExpected);
  // Goroutine 7 wakes up a server, which sleeps before it answers.
  Program wakes;
  wakes.Wait(7, 5, 6, "chan receive", {{7, "main.fetch", "/src/main.go", 2}});
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = 10 + 45 * i;
    const bool is_answered = i % 2 == 0;
    wakes.Wait(8, begin - 3, begin, "chan receive", receive, 7, kFetch);
    wakes.Wait(8, begin, begin + (is_answered ? 1 : 35), "sleep", {{8, "main.serve", "", 3}});
    wakes.Wait(7, begin, begin + (is_answered ? 2 : 30), "select", kFetch, is_answered ? 8 : -1,
               kAnswer);
  }
  EXPECT_EQ(SuspicionsOf(wakes.Summarize()), kExpected);
}

// They time out as often, but do not wait for an answer.
TEST(Suspicions, AreNotRaisedByOtherTimers) {
  const Program::Stack start = {{4, "main.query", "/src/main.go", 2}};
  const Program::Stack receive = {{5, "runtime.chanrecv1", "", 1}, {6, "main.client", "", 1}};
  // A loop starts work with each tick, and collects the results.
  Program ticker;
  // It collects none.
  Program cron;
  // A goroutine flushes if it gets nothing for 15 ms.
  Program flusher;
  // A worker is idle for 15 ms, and answers the client that gives it work.
  Program worker;
  worker.Create(9, 1, {{6, "main.client", "/src/main.go", 1}});
  worker.Wait(8, 5, 10, "select", kFetch, 9, receive);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = 10 + 45 * i;
    ticker.Create(100 + i, begin, start, 7, kFetch);
    ticker.Wait(7, begin, begin + 5, "select", kFetch, 100 + i, kAnswer);
    ticker.Wait(7, begin + 5, begin + 45, "select", kFetch);
    ticker.End(100 + i, begin + 6);
    cron.Create(100 + i, begin, start, 7, kFetch);
    cron.Wait(7, begin, begin + 45, "select", kFetch);
    cron.End(100 + i, begin + 6);
    flusher.Wait(7, begin, begin + 2, "select", kFetch, 1, kAnswer);
    flusher.Wait(7, begin + 2, begin + 17, "select", kFetch);
    worker.Wait(9, begin, begin + 1, "chan receive", receive, 8, kFetch);
    worker.Wait(9, begin + 1, begin + 45, "sleep", receive);
    worker.Wait(8, begin + 1, begin + 16, "select", kFetch);
    worker.Wait(8, begin + 16, begin + 45, "select", kFetch, 9, receive);
  }
  EXPECT_EQ(SuspicionsOf(ticker.Summarize()), "");
  EXPECT_EQ(SuspicionsOf(cron.Summarize()), "");
  EXPECT_EQ(SuspicionsOf(flusher.Summarize()), "");
  EXPECT_EQ(SuspicionsOf(worker.Summarize()), "");
}

TEST(Suspicions, NameWhatThereIsTooLittleOf) {
  const Program::Stack acquire = {{1, "runtime.chansend1", "", 1},
                                  {2, "main.withConn", "/src/main.go", 8},
                                  {3, "main.handle", "/src/main.go", 30}};
  const Program::Stack release = {{1, "runtime.chanrecv1", "", 1},
                                  {2, "main.withConn", "/src/main.go", 9},
                                  {3, "main.handle", "/src/main.go", 30}};
  const Program::Stack sleep = {{1, "time.Sleep", "", 1}, {2, "main.handle", "", 2}};
  Program program;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t g = 20 + i % 3;
    program.Wait(g, 10 + 40 * i, 30 + 40 * i, "chan send", acquire, 20 + (i + 1) % 3, release);
    program.Wait(g, 31 + 40 * i, 129 + 40 * i, "sleep", sleep);
  }
  EXPECT_EQ(SuspicionsOf(program.Summarize()),
            "pool: Goroutines of main.handle waited 400 ms (chan send) in main.withConn "
            "main.go:8, in 20 waits, for what others like them had. Held by "
            "main.handle (100.0%), mostly running up to main.withConn main.go:9 "
            "(100.0%).\n");
  // Parallel tests wait for each other, and lose nothing.
  Program::Stack parallel = acquire;
  parallel.insert(parallel.begin() + 1, {4, "testing.(*T).Parallel", "", 1});
  Program tests;
  for (int64_t i = 0; i < 20; ++i) {
    tests.Wait(20 + i % 3, 10 + 40 * i, 30 + 40 * i, "chan receive", parallel, 20 + (i + 1) % 3,
               release);
  }
  EXPECT_EQ(SuspicionsOf(tests.Summarize()), "");
}

// Goroutines of main.export have what those of main.handle wait for.
TEST(Suspicions, NameOnlyThoseThatHaveIt) {
  TraceSummary summary;
  summary.traces = 1;
  summary.duration = 1000 * kMillisecond;
  TraceSummary::Suspicion holders;
  holders.kind = SuspicionKind::kPool;
  holders.start = "main.export";
  holders.charged = holders.own = 800 * kMillisecond;
  holders.workers = 1000 * kMillisecond;
  holders.grown = 25;
  holders.victims.push_back({.function = "main.handle", .time = 800 * kMillisecond});
  TraceSummary::Suspicion users;
  users.kind = SuspicionKind::kPool;
  users.start = "main.handle";
  users.function = "main.acquire";
  users.goroutines = 3;
  for (int i = 0; i < 20; ++i) users.lost.Add(30 * kMillisecond);
  summary.candidates = {holders, users};
  ASSERT_EQ(summary.Suspicions().size(), 1);
  EXPECT_EQ(summary.Suspicions()[0].start, "main.export");
  summary.candidates[1].start = "main.other";
  EXPECT_EQ(summary.Suspicions().size(), 2);
}

// This program answers late, since main.load waits for a lock.
TEST(Suspicions, NameOnlyWhatDelaysAnAnswer) {
  TraceSummary summary;
  summary.traces = 1;
  summary.duration = 1000 * kMillisecond;
  TraceSummary::Suspicion io;
  io.kind = SuspicionKind::kIo;
  io.reason = "network, of this program";
  io.own = io.peers = 300 * kMillisecond;
  io.culprits.push_back(
      {.function = "main.serve", .library = "main.load", .time = 300 * kMillisecond});
  TraceSummary::Suspicion lock;
  lock.kind = SuspicionKind::kLock;
  lock.function = "main.load";
  for (TraceSummary::Suspicion* const one : {&io, &lock}) {
    for (int i = 0; i < 30; ++i) one->lost.Add(10 * kMillisecond);
  }
  summary.candidates = {io, lock};
  ASSERT_EQ(summary.Suspicions().size(), 1);
  EXPECT_EQ(summary.Suspicions()[0].kind, SuspicionKind::kLock);
  // The same without a network.
  TraceSummary::Suspicion answers = io;
  answers.kind = SuspicionKind::kAnswers;
  answers.reason = "chan receive";
  answers.goroutines = 3;
  answers.asked = answers.lost.count();
  answers.own = answers.Cost();
  summary.candidates.push_back(answers);
  EXPECT_EQ(summary.Suspicions().size(), 1);
  summary.candidates[1].function = "main.other";
  EXPECT_EQ(summary.Suspicions().size(), 3);
}

// Goroutine 8 takes 16 ms for each item, and those that produce them wait for it.
TEST(Suspicions, NameTheStageThatOthersWaitFor) {
  const Program::Stack work = {
      {1, "time.Sleep", "", 1}, {2, "main.work", "", 2}, {3, "main.enrich", "", 3}};
  const Program::Stack receive = {{4, "runtime.chanrecv1", "", 4}, {3, "main.enrich", "", 5}};
  const auto summarize = [&](int64_t senders, absl::string_view reason = "chan send",
                             absl::string_view call = "runtime.chansend1") {
    const Program::Stack send = {{5, call, "", 5}, {6, "main.source", "", 6}};
    Program program;
    for (int64_t i = 0; i < 25; ++i) {
      program.Wait(8, 2 + 20 * i, 17 + 20 * i, "sleep", work);
      program.Wait(20 + i % senders, 3 + 20 * i, 19 + 20 * i, reason, send, 8, receive);
    }
    return program.Summarize();
  };
  // A select with a context is a send if a receive ends it.
  EXPECT_EQ(SuspicionsOf(summarize(1, "select", "runtime.selectgo")), SuspicionsOf(summarize(1)));
  EXPECT_EQ(SuspicionsOf(summarize(1)),
            "stage: Others waited 400 ms to send to goroutines of main.enrich. What these did "
            "meanwhile: sleep in main.work 87.5%. Victims: main.source.\n");
  EXPECT_EQ(SuspicionsOf(summarize(3)),
            "pool: Others waited 400 ms to send until goroutines of main.enrich received. What "
            "these did meanwhile: sleep in main.work 87.5%. Victims: main.source.\n");
}

// Whoever starts a goroutine gives it work. That it waits is no fault.
TEST(Suspicions, DoNotNameWorkersOfWhoStartedThem) {
  const Program::Stack start = {{3, "main.worker", "", 3}};
  const Program::Stack work = {{1, "time.Sleep", "", 1}, {3, "main.worker", "", 4}};
  const Program::Stack receive = {{4, "runtime.chanrecv1", "", 4}, {3, "main.worker", "", 5}};
  const Program::Stack send = {{5, "runtime.chansend1", "", 5}, {6, "main.main", "", 6}};
  for (const bool is_own : {false, true}) {
    Program program;
    program.Create(8, 1, start, /*by=*/1, is_own ? send : start);
    for (int64_t i = 0; i < 25; ++i) {
      program.Wait(8, 2 + 20 * i, 17 + 20 * i, "sleep", work);
      program.Wait(7, 3 + 20 * i, 19 + 20 * i, "chan send", send, 8, receive);
    }
    EXPECT_EQ(program.Summarize().Suspicions().size(), is_own ? 0 : 1);
  }
}

TEST(Suspicions, NameWhatSlowTasksWaitFor) {
  const Program::Stack sleep = {{1, "time.Sleep", "", 1},
                                {7, "main.load", "/src/main.go", 3},
                                {6, "main.page", "/src/main.go", 1}};
  const Program::Stack page = {{6, "main.page", "/src/main.go", 2}};
  Program program;
  for (int64_t i = 0; i < 57; ++i) {
    program.Task(7, 1 + 2 * i, 2 + 2 * i, static_cast<uint64_t>(i) + 1, page);
  }
  for (int64_t i = 0; i < 3; ++i) {
    program.Task(7, 200 + 250 * i, 400 + 250 * i, static_cast<uint64_t>(i) + 100, page);
    program.Wait(7, 201 + 250 * i, 399 + 250 * i, "sleep", sleep);
  }
  const TraceSummary summary = program.Summarize();
  ASSERT_EQ(summary.spans.size(), 2);
  EXPECT_EQ(summary.spans[0].kind, "task");
  EXPECT_EQ(summary.spans[0].type, "request");
  EXPECT_EQ(summary.spans[0].lengths.count(), 60);
  EXPECT_EQ(summary.spans[0].lengths.sum(), 657 * kMillisecond);
  EXPECT_EQ(summary.spans[1].kind, "region");
  EXPECT_EQ(summary.spans[1].type, "all of it");
  EXPECT_TRUE(absl::StrContains(FormatSummary(summary),
                                "\nTasks, regions and requests (tasks, regions)\n"
                                "COUNT      P50     P99     MAX  KIND    TYPE\n"
                                "   60  1.00 ms  200 ms  200 ms  task    request\n"
                                "   60  1.00 ms  200 ms  200 ms  region  all of it\n"))
      << FormatSummary(summary);
  EXPECT_EQ(
      SuspicionsOf(summary),
      "slow-tasks: 3 of 60 tasks of type request took more than four times the median (p50 "
      "1.00 ms, p99 200 ms, up to 200 ms). Where their time went: sleep in main.load main.go:3 "
      "-> time.Sleep 99.0%.\n");
}

// Time that other suspicions report is not a reason of its own.
TEST(Suspicions, DoNotRepeatEachOther) {
  const Program::Stack page = {{6, "main.page", "/src/main.go", 2}};
  const Program::Stack unlock = {{5, "sync.(*Mutex).Unlock", "", 1}, {6, "main.save", "", 2}};
  Program program;
  program.Call(6, 1, 2, page);
  for (int64_t i = 0; i < 57; ++i) {
    program.Task(7, 1 + 2 * i, 2 + 2 * i, static_cast<uint64_t>(i) + 1, page);
  }
  for (int64_t i = 0; i < 5; ++i) {
    program.Task(7, 200 + 150 * i, 300 + 150 * i, static_cast<uint64_t>(i) + 100, page);
    program.Wait(7, 201 + 150 * i, 299 + 150 * i, "sync", LockStack(17, "main.page"), 6, unlock);
  }
  EXPECT_EQ(
      SuspicionsOf(program.Summarize()),
      "lock: 5 waits for a lock in main.(*Cache).Get cache.go:17 -> sync.(*Mutex).Lock: 490 "
      "ms, up to 98.0 ms. Held by main.save (100.0%), mostly running up to main.save (100.0%). "
      "Victims: main.page; in tasks of type request 100.0%.\n");
}

TEST(Suspicions, NameLeaksThatGrow) {
  const Program::Stack send = {{1, "runtime.chansend1", "", 1},
                               {2, "main.query", "/src/main.go", 11}};
  const Program::Stack start = {{2, "main.query", "/src/main.go", 10}};
  Program program;
  for (int64_t g = 100; g < 130; ++g) {
    program.Create(g, 10 + 30 * (g - 100), start);
    program.Block(g, 11 + 30 * (g - 100), "chan send", send);
  }
  EXPECT_EQ(
      SuspicionsOf(program.Summarize()),
      "leak: 30 goroutines of main.query have been blocked (chan send) in main.query "
      "main.go:11 for up to 989 ms, 13 of them since the second half began: they may leak.\n");
  // Others waited there for as long, and went on.
  Program other;
  for (int64_t g = 100; g < 130; ++g) {
    other.Create(g, 10 + 30 * (g - 100), start);
    other.Block(g, 11 + 30 * (g - 100), "chan send", send);
  }
  other.Create(200, 10, start);
  other.Wait(200, 11, 311, "chan send", send, 1, {{1, "main.main", "", 1}});
  EXPECT_EQ(SuspicionsOf(other.Summarize()), "");
}

// A goroutine sleeps 60 times for 10 ms, and after each third time it has something to do.
TEST(Suspicions, NameLoopsThatPoll) {
  const Program::Stack sleep = {{1, "time.Sleep", "/go/src/runtime/time.go", 1},
                                {2, "main.consume", "/src/main.go", 34},
                                {3, "main.worker", "/src/main.go", 50}};
  const Program::Stack receive = {{1, "runtime.chanrecv1", "", 1}, {2, "main.receive", "", 2}};
  const Program::Stack send = {{1, "runtime.chansend1", "", 1}, {2, "main.consume", "", 35}};
  const std::string expected =
      "polling: Goroutines of main.worker sleep 10.0 ms in main.consume main.go:34 -> time.Sleep "
      "again and again, and after 20 of 59 sleeps there was something to do, which had "
      "waited for half of a sleep on average: 100 ms in all.\n";
  // It runs for a millisecond, or it wakes another goroutine.
  for (const bool wakes : {false, true}) {
    Program program;
    int64_t time = 10;
    for (int64_t i = 0; i < 60; ++i) {
      program.Wait(7, time, time + 10, "sleep", sleep);
      time += 10;
      if (i % 3 != 0) continue;
      if (wakes) {
        program.Wait(8, time - 5, time, "chan receive", receive, 7, send);
      } else {
        ++time;
      }
    }
    EXPECT_EQ(SuspicionsOf(program.Summarize()), expected) << wakes;
  }
  // Whoever unlocks a mutex wakes the next one, and has found nothing.
  const Program::Stack unlock = {{3, "sync.(*Mutex).Unlock", "", 1}, {2, "main.consume", "", 35}};
  Program program;
  for (int64_t i = 0; i < 60; ++i) {
    program.Wait(7, 10 + 10 * i, 20 + 10 * i, "sleep", sleep);
    if (i % 3 != 0) continue;
    program.Wait(8, 15 + 10 * i, 20 + 10 * i, "sync", LockStack(17, "main.page"), 7, unlock);
  }
  EXPECT_FALSE(absl::StrContains(SuspicionsOf(program.Summarize()), "polling"));
}

// The programs in testdata/diagnosis/programs have one known problem each, or none, and most of
// them measured its cost. The suspicions of their traces, the first of which is the cause; a part
// of its text, which names the place; and the measured cost in seconds, if there is any.
struct Diagnosis {
  std::string trace;
  std::string suspicions;
  std::string text;
  double cost = 0;
};
const Diagnosis kDiagnoses[] = {
    {"answers", "answers", "mostly select in main.batcher main.go:22", 7.196},
    {"assists", "assists gc stopped", "most in main.tree main.go:21"},
    {"fewps", "few-ps", "99.3% busy, GOMAXPROCS 2"},
    {"forkjoin", "", ""},
    {"fsync", "syscalls", "1842 calls in main.commit main.go:14 -> os.(*File).Sync", 7.231},
    {"gc", "gc", "most in main.flush main.go:25 -> runtime.GC"},
    {"healthy", "", ""},
    {"hog", "hog", "Goroutines of main.main.func1 kept their P"},
    {"idleps", "idle-ps", "Victims: main.main.func1"},
    {"imbalance", "imbalance", "Of 12 goroutines of main.main.func1, created in main.main"},
    {"io", "io", "in main.price main.go:25 -> net/http.Get", 1.862},
    {"leak", "leak timeouts", "222 goroutines of main.query"},
    {"lock", "lock", "waits for a lock in main.(*Cache).Get", 12.941},
    {"polling", "polling", "main.consume main.go:34", 0.896},
    {"pool", "pool", "in main.withConn main.go:14", 16.075},
    {"rwlock", "lock", "Held by main.(*Config).Reload", 5.030},
    {"service", "lock", "Held by main.save", 4.282},
    {"sharedcall", "pool", "in main.get main.go:24 -> sync.(*WaitGroup).Wait", 8.801},
    {"slowtask", "slow-tasks", "sleep in main.loadFromStore", 1.862},
    {"stage", "stage", "main.enrich", 5.901},
    {"stopped", "stopped",
     "most by main.exportMetrics main.go:19 -> runtime.ReadMemStats. Others waited 248 ms until"},
    {"straggler", "straggler", "Late was main.ask (99.9%), mostly sleep in main.ask", 3.475},
    {"timeouts", "timeouts", "in main.fetch main.go:18", 115 * 0.007},
};

TEST(Suspicions, BeginWithTheCauseOfEachTrace) {
  std::set<std::string> traces;
  for (const auto& entry : std::filesystem::directory_iterator("testdata/diagnosis")) {
    const std::string name = entry.path().filename().string();
    if (absl::EndsWith(name, ".trace.zst")) traces.insert(name.substr(0, name.find('.')));
  }
  for (const Diagnosis& row : kDiagnoses) {
    SCOPED_TRACE(row.trace);
    EXPECT_EQ(traces.erase(row.trace), 1);
    const TraceSummary summary = Summarize(absl::StrCat("../diagnosis/", row.trace, ".trace"));
    const std::vector<TraceSummary::Suspicion> found = summary.Suspicions();
    std::vector<absl::string_view> ids;
    for (const TraceSummary::Suspicion& one : found) ids.push_back(SuspicionId(one.kind));
    EXPECT_EQ(absl::StrJoin(ids, " "), row.suspicions);
    if (found.empty()) continue;
    const std::string text = SuspicionText(found[0], summary);
    EXPECT_TRUE(absl::StrContains(text, row.text)) << text;
    if (row.cost == 0) continue;
    EXPECT_NEAR(static_cast<double>(found[0].Cost()), row.cost * 1e9, row.cost * 1e8);
  }
  EXPECT_TRUE(traces.empty()) << absl::StrJoin(traces, ", ");
}

// The lengths are those of all tasks of the type, and not of the parts of paths.
TEST(Suspicions, CountTheSlowTasks) {
  const TraceSummary summary = Summarize("../diagnosis/slowtask.trace");
  const std::vector<TraceSummary::Suspicion> found = summary.Suspicions();
  ASSERT_FALSE(found.empty());
  const std::string expected = absl::StrCat("{\"id\":\"slow-tasks\",\"cost_ns\":", found[0].Cost(),
                                            ",\"count\":", found[0].grown,
                                            ",\"p50_ns\":", found[0].others.Quantile(0.5), ",");
  EXPECT_GT(found[0].others.Quantile(0.5), 0);
  EXPECT_TRUE(absl::StrContains(FormatSummaryJson(summary), expected)) << expected;
}

// Jobs waited for 896 ms, as the program measured. A trace does not say when they came.
TEST(Suspicions, NameTheLoopThatPollsForJobs) {
  const TraceSummary summary = Summarize("../diagnosis/polling.trace");
  const std::vector<TraceSummary::Suspicion> found = summary.Suspicions();
  ASSERT_EQ(found.size(), 1) << SuspicionsOf(summary);
  EXPECT_EQ(found[0].kind, SuspicionKind::kPolling);
  EXPECT_EQ(MainPlaceOf(found[0]).function, "main.consume");
  EXPECT_EQ(found[0].line, 34);
  EXPECT_NEAR(static_cast<double>(found[0].Cost()), 896 * kMillisecond, 90 * kMillisecond);
  EXPECT_EQ(found[0].lost.count() + found[0].others.count(), 174);
  EXPECT_NEAR(static_cast<double>(found[0].lost.count()), 148, 1);
}

TEST(Suspicions, NameTheGoroutineThatHasMostOfTheWork) {
  const TraceSummary summary = Summarize("../diagnosis/imbalance.trace");
  const std::vector<TraceSummary::Suspicion> found = summary.Suspicions();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, SuspicionKind::kImbalance) << SuspicionsOf(summary);
  EXPECT_EQ(found[0].start, "main.main.func1");
  EXPECT_EQ(MainPlaceOf(found[0]).function, "main.main");
  // In one of the four batches, others were busy for more than half as long.
  EXPECT_EQ(found[0].lost.count(), 3);
  EXPECT_EQ(found[0].others.count(), 12);
  EXPECT_EQ(found[0].goroutine, 5);
}

// It does the same after each sleep, or sleeps for different times.
TEST(Suspicions, AreNotRaisedByLoopsThatPace) {
  const Program::Stack sleep = {{1, "time.Sleep", "", 1}, {2, "main.load", "/src/main.go", 34}};
  const auto suspicions_of = [&](const std::function<int64_t(int64_t)>& length,
                                 const std::function<int64_t(int64_t)>& run, bool assists = false) {
    Program program;
    int64_t time = 10;
    for (int64_t i = 0; i < 40; ++i) {
      program.Wait(7, time, time + length(i), "sleep", sleep);
      time += length(i);
      if (assists && run(i) > 0) program.Assist(7, time, time + run(i));
      time += run(i);
    }
    return SuspicionsOf(program.Summarize());
  };
  const auto same = [](int64_t /*i*/) { return 10; };
  const auto third = [](int64_t i) { return i % 3 == 0 ? 1 : 0; };
  EXPECT_NE(suspicions_of(same, third), "");
  EXPECT_EQ(suspicions_of(same, [](int64_t /*i*/) { return 0; }), "");
  EXPECT_EQ(suspicions_of(same, [](int64_t /*i*/) { return 1; }), "");
  EXPECT_EQ(suspicions_of([](int64_t i) { return i % 2 == 0 ? 10 : 30; }, third), "");
  // Mark assists take long by chance.
  EXPECT_EQ(suspicions_of(same, third, /*assists=*/true), "");
  // Too seldom.
  EXPECT_EQ(suspicions_of(same, [](int64_t i) { return i % 10 == 0 ? 1 : 0; }), "");
}

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

// Goroutine 7 waits 25 times for 10 ms for an answer. Goroutine 9 writes it, if the program does.
class Client {
 public:
  explicit Client(bool is_answered_here) {
    for (int64_t i = 0; i < 25; ++i) {
      begin_ = 10 + 20 * i;
      if (is_answered_here) program_.Call(9, begin_ + 9, begin_ + 10, kWrite);
      steps_.push_back(begin_);
    }
  }

  // With a connection of its own.
  std::string OfConnection() {
    for (const int64_t begin : steps_) program_.Wait(7, begin, begin + 10, "network", kRead);
    return SuspicionsOf(program_.Summarize());
  }
  // With net/http, whose goroutine 8 reads the answer.
  std::string OfRequest() {
    for (const int64_t begin : steps_) {
      program_.Wait(8, begin, begin + 10, "network", kReadLoop);
      program_.Wait(7, begin, begin + 10, "select", kRoundTrip, 8, kReadLoop);
    }
    return SuspicionsOf(program_.Summarize());
  }

 private:
  const Program::Stack kWrite = {{1, "syscall.write", "", 1},
                                 {2, "net.(*conn).Write", "", 2},
                                 {3, "main.serve", "/src/server.go", 3}};
  const Program::Stack kRead = {{1, "internal/poll.(*FD).Read", "", 1},
                                {2, "net.(*conn).Read", "", 2},
                                {7, "main.fetch", "/src/main.go", 7}};
  const Program::Stack kReadLoop = {{1, "internal/poll.(*FD).Read", "", 1},
                                    {2, "net/http.(*persistConn).readLoop", "", 2}};
  const Program::Stack kRoundTrip = {{1, "runtime.selectgo", "", 1},
                                     {2, "net/http.(*persistConn).roundTrip", "", 2},
                                     {3, "net/http.Get", "", 3},
                                     {7, "main.fetch", "/src/main.go", 7}};
  Program program_;
  int64_t begin_ = 0;
  std::vector<int64_t> steps_;
};

TEST(Suspicions, NameWaitsForTheNetwork) {
  EXPECT_EQ(Client(/*is_answered_here=*/false).OfConnection(),
            "io: 25 waits for the network in main.fetch main.go:7 -> net.(*conn).Read: 250 ms, p50 "
            "10.0 ms, p99 10.0 ms, up to 10.0 ms. Victims: main.fetch.\n");
  EXPECT_EQ(Client(/*is_answered_here=*/false).OfRequest(),
            "io: 25 waits for the network in main.fetch main.go:7 -> net/http.Get: 250 ms, p50 "
            "10.0 ms, p99 10.0 ms, up to 10.0 ms. Victims: main.fetch.\n");
  // What delays this program's own answers is suspected elsewhere.
  EXPECT_EQ(Client(/*is_answered_here=*/true).OfConnection(), "");
  EXPECT_EQ(Client(/*is_answered_here=*/true).OfRequest(), "");
}

// Goroutine 9 of this program does something for 9 ms before it answers goroutine 7, which writes a
// request before it waits unless it is a subscriber.
std::string ServeSlowly(const std::function<void(int64_t begin, Program* program)>& work,
                        bool asks = true) {
  const auto call = [](absl::string_view name, absl::string_view function) {
    return Program::Stack{{1, name, "", 1}, {2, function, "/src/main.go", 2}};
  };
  Program program;
  for (int64_t i = 0; i < 25; ++i) {
    const int64_t begin = 10 + 20 * i;
    if (asks) program.Call(7, begin - 2, begin - 1, call("net.(*conn).Write", "main.fetch"));
    program.Wait(9, begin - 5, begin - 1, "network", call("net.(*conn).Read", "main.serve"));
    work(begin, &program);
    program.Call(9, begin + 9, begin + 10, call("net.(*conn).Write", "main.serve"));
    program.Wait(7, begin, begin + 10, "network", call("net.(*conn).Read", "main.fetch"));
  }
  return SuspicionsOf(program.Summarize());
}

TEST(Suspicions, NameSlowAnswersOfTheProgramItself) {
  const Program::Stack load = {{3, "main.load", "/src/main.go", 3},
                               {4, "main.serve", "/src/main.go", 4}};
  Program::Stack sleep = load;
  sleep.insert(sleep.begin(), {5, "time.Sleep", "/go/src/time/sleep.go", 1});
  const auto sleeps = [&](int64_t begin, Program* program) {
    program->Wait(9, begin, begin + 9, "sleep", sleep);
  };
  EXPECT_EQ(ServeSlowly(sleeps),
            "io: 25 waits for the network in main.fetch main.go:2 -> net.(*conn).Read: 250 ms, p50 "
            "10.0 ms, p99 10.0 ms, up to 10.0 ms. Answered in this program by main.serve "
            "(100.0%), mostly sleep in main.load (90.0%). Victims: main.fetch.\n");
  // Nobody asked for it.
  EXPECT_EQ(ServeSlowly(sleeps, /*asks=*/false), "");
  // It computes, or waits for others.
  EXPECT_EQ(ServeSlowly([](int64_t /*begin*/, Program* /*program*/) {}), "");
  EXPECT_EQ(ServeSlowly([&](int64_t begin, Program* program) {
              program->Wait(9, begin, begin + 9, "chan receive", load, 1, load);
            }),
            "");
}

// Goroutine 5 accepts connections, and a goroutine for each waits for requests.
TEST(Suspicions, AreNotRaisedByServersThatAreIdle) {
  const Program::Stack accept = {{1, "internal/poll.(*FD).Accept", "", 1},
                                 {2, "net.(*netFD).accept", "", 2},
                                 {3, "main.listen", "/src/server.go", 3}};
  const Program::Stack creation = {{4, "main.listen", "/src/server.go", 4}};
  const Program::Stack start = {{5, "main.serve", "/src/server.go", 10}};
  const Program::Stack read = {{6, "net.(*conn).Read", "", 6},
                               {7, "main.serve", "/src/server.go", 12}};
  for (const int64_t creator : {5, 6}) {
    Program program;
    program.Wait(5, 1, 10, "network", accept);
    program.Wait(6, 1, 10, "sleep", {{8, "main.connect", "/src/client.go", 1}});
    const Program::Stack& by = creator == 5 ? creation : Program::Stack{{9, "main.connect", "", 2}};
    program.Create(7, 10, start, creator, by);
    for (int64_t i = 0; i < 25; ++i) program.Wait(7, 11 + 20 * i, 21 + 20 * i, "network", read);
    EXPECT_EQ(SuspicionsOf(program.Summarize()).empty(), creator == 5);
  }
}

// Fast calls are no fault, however many, and however long a few of them take.
TEST(Suspicions, AreNotRaisedByFastCalls) {
  for (const auto& [fast, slow] : {std::pair(9950, 50), std::pair(9900, 100)}) {
    TraceSummary summary;
    summary.traces = 1;
    summary.duration = 1000 * kMillisecond;
    TraceSummary::Suspicion& calls = summary.candidates.emplace_back();
    calls.kind = SuspicionKind::kSyscalls;
    for (int i = 0; i < fast; ++i) calls.lost.Add(10'000);
    for (int i = 0; i < slow; ++i) calls.lost.Add(10'000'000);
    summary.functions.push_back({.name = "main.hash", .syscall = calls.Cost()});
    EXPECT_EQ(summary.Suspicions().size(), slow >= 100 ? 1 : 0);
  }
}

// A new build moves lines.
TEST(Suspicions, AreTheSameInAnotherLine) {
  const auto leak_in = [](const std::string& function, uint64_t line) {
    TraceSummary summary;
    summary.traces = 1;
    summary.duration = 1000 * kMillisecond;
    TraceSummary::Suspicion& leak = summary.candidates.emplace_back();
    leak.kind = SuspicionKind::kLeak;
    leak.function = function;
    leak.line = line;
    leak.grown = 10;
    leak.lost.Add(30 * kMillisecond);
    return summary;
  };
  const TraceSummary before = leak_in("main.query", 11);
  ASSERT_EQ(before.Suspicions().size(), 1);
  EXPECT_TRUE(NewSuspicions(before, leak_in("main.query", 12)).empty());
  const std::vector<TraceSummary::Suspicion> other =
      NewSuspicions(before, leak_in("main.fetch", 11));
  ASSERT_EQ(other.size(), 1);
  EXPECT_EQ(other[0].function, "main.fetch");
  EXPECT_EQ(NewSuspicions(TraceSummary(), before).size(), 1);
  EXPECT_TRUE(NewSuspicions(before, TraceSummary()).empty());
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

// In these real traces, the programs measured how long they waited.
TEST(Suspicions, NameTheHolderInARealTrace) {
  const std::vector<TraceSummary::Suspicion> found =
      Summarize("../diagnosis/lock.trace").Suspicions();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, SuspicionKind::kLock);
  EXPECT_EQ(found[0].function, "main.(*Cache).Get");
  EXPECT_EQ(found[0].lost.count(), 691);
  EXPECT_NEAR(static_cast<double>(found[0].Cost()), 12.941e9, 0.01e9);
  ASSERT_FALSE(found[0].culprits.empty());
  EXPECT_EQ(found[0].culprits[0].function, "main.worker");
  EXPECT_EQ(found[0].culprits[0].library, "main.(*Cache).load");
  EXPECT_EQ(found[0].culprits[0].reason, "sleep");
  int64_t held = 0;
  for (const TraceSummary::Suspicion::Part& part : found[0].culprits) held += part.time;
  EXPECT_LE(held, found[0].Cost());
  EXPECT_GT(held, found[0].Cost() / 100 * 98);
  EXPECT_GT(found[0].culprits[0].time, found[0].Cost() / 100 * 97);
}

TEST(Suspicions, NameTheStageInARealTrace) {
  const std::vector<TraceSummary::Suspicion> found =
      Summarize("../diagnosis/stage.trace").Suspicions();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, SuspicionKind::kStage);
  EXPECT_EQ(found[0].start, "main.enrich");
  // Without the time for which those that wait to send are ready after that.
  EXPECT_LT(found[0].own, 3973 * kMillisecond);
  EXPECT_GT(found[0].own, 3973 * kMillisecond / 10 * 9);
  ASSERT_FALSE(found[0].places.empty());
  EXPECT_EQ(found[0].places[0].function, "main.enrich.func1");
  EXPECT_EQ(found[0].places[0].reason, "sleep");
}

TEST(Suspicions, NameWhatSlowTasksWaitForInARealTrace) {
  const std::vector<TraceSummary::Suspicion> found =
      Summarize("../diagnosis/slowtask.trace").Suspicions();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, SuspicionKind::kSlowTasks);
  EXPECT_EQ(found[0].reason, "task");
  EXPECT_EQ(found[0].function, "request");
  EXPECT_EQ(found[0].others.count(), 2400);
  EXPECT_GE(found[0].grown, 24);
  EXPECT_NEAR(static_cast<double>(found[0].Cost()), 1.862e9, 0.1e9);
  ASSERT_FALSE(found[0].places.empty());
  EXPECT_EQ(found[0].places[0].function, "main.loadFromStore");
  EXPECT_EQ(found[0].places[0].reason, "sleep");
  EXPECT_GT(found[0].places[0].time, found[0].peers / 10 * 9);
  // Regions of these tasks say the same.
  for (const TraceSummary::Suspicion& one : found) EXPECT_NE(one.reason, "region");
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

// What goroutines lost is part of the time that they spent in such a way, and adding the summary of
// the same trace doubles it.
TEST(Suspicions, CostNoMoreThanThereIs) {
  std::set<std::string> kinds;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const TraceSummary summary = Summarize(std::string(test.name));
    std::map<LatencyKind, int64_t> times;
    for (const TraceSummary::Latency& latency : summary.latencies) {
      times[latency.kind] += static_cast<int64_t>(latency.durations.sum());
    }
    std::map<SuspicionKind, int64_t> costs;
    for (const TraceSummary::Suspicion& one : summary.candidates) {
      kinds.insert(std::string(SuspicionId(one.kind)));
      // The others are about Ps, and not about single waits.
      if (one.charged != 0 || one.kind == SuspicionKind::kStopped) continue;
      costs[one.kind] += one.Cost();
      for (const auto& parts : {one.places, one.victims}) {
        int64_t sum = 0;
        uint64_t count = 0;
        for (const TraceSummary::Suspicion::Part& part : parts) {
          sum += part.time;
          count += part.count;
        }
        EXPECT_EQ(sum, one.Cost());
        EXPECT_EQ(count, one.lost.count());
      }
    }
    for (const auto& [kind, cost] : costs) {
      EXPECT_LE(
          cost,
          times[kind == SuspicionKind::kSyscalls ? LatencyKind::kSyscall : LatencyKind::kBlocked]);
    }
    TraceSummary twice = summary;
    twice.Merge(summary);
    ASSERT_EQ(twice.candidates.size(), summary.candidates.size());
    for (size_t i = 0; i < twice.candidates.size(); ++i) {
      EXPECT_EQ(twice.candidates[i].Cost(), 2 * summary.candidates[i].Cost());
      EXPECT_EQ(twice.candidates[i].victims.size(), summary.candidates[i].victims.size());
    }
    // The same is suspected of both, except for a cost that is too small for one.
    EXPECT_GE(twice.Suspicions().size(), summary.Suspicions().size());
  }
  EXPECT_GE(kinds.size(), 8);
}

// Two windows of a trace add up to the whole, for what is charged moment by moment.
TEST(Suspicions, OfWindowsAddUp) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  const auto summarize = [&](EventFilter::Times window) {
    AnalysisSink::Options options;
    options.window = window;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    EXPECT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
    EXPECT_TRUE(ReadInto(*reader, {sink.get()}).ok());
    return SummaryOf(*sink);
  };
  const auto costs = [](const TraceSummary& summary) {
    std::map<SuspicionKind, int64_t> sums;
    for (const TraceSummary::Suspicion& one : summary.candidates) sums[one.kind] += one.charged;
    return sums;
  };
  constexpr int64_t kMiddle = 2084270000000;
  const TraceSummary whole = summarize(EventFilter::Times());
  TraceSummary parts = summarize({.to = kMiddle});
  parts.Merge(summarize({.from = kMiddle}));
  EXPECT_NEAR(static_cast<double>(parts.duration), static_cast<double>(whole.duration), 2);
  for (const SuspicionKind kind : {SuspicionKind::kIdleProcs, SuspicionKind::kAssists}) {
    const auto cost = static_cast<double>(costs(whole)[kind]);
    EXPECT_GT(cost, 0) << SuspicionId(kind);
    EXPECT_NEAR(static_cast<double>(costs(parts)[kind]), cost, 0.001 * cost) << SuspicionId(kind);
  }
}

}  // namespace summary_test
}  // namespace gotrace::internal
