#include "gotrace/wait_stats.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/intervals/runtime_functions.h"
#include "gotrace/latency_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace wait_stats_test {

std::unique_ptr<MergeableAnalysisSink<WaitStats>> MakeSink(AnalysisSink::Options options = {},
                                                           std::string start = "") {
  return std::make_unique<MergeableAnalysisSink<WaitStats>>(
      [&](Interner* interner) {
        WaitStats::Options waits;
        waits.start = start;
        waits.filter.times = options.window;
        waits.holders.fill(true);
        return std::make_unique<WaitStats>(interner, std::move(waits));
      },
      options);
}

const WaitStats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const WaitStats&>(sink.analysis());
}

absl::string_view NameOf(WaitEnd end) {
  constexpr absl::string_view kNames[] = {"open",    "unknown", "timer", "deadline",
                                          "network", "runtime", "peer",  "goroutine"};
  return kNames[static_cast<size_t>(end)];
}

// "main.worker: chan: main.get a.go:3 <- main.put goroutine"
std::string KeyText(const WaitKey& key, const Interner& interner) {
  const auto text = [&](StringId id) { return interner.String(id); };
  return absl::StrCat(text(key.start), key.is_system ? " (system)" : "", ": ",
                      key.state == GoState::kSyscall ? "syscall" : text(key.reason), " ",
                      WaitObjectName(key.object), key.call == StringId::kEmpty ? "" : " ",
                      text(key.call), ": ", text(key.place.function), " ", text(key.place.file),
                      ":", key.place.line, key.place.library == StringId::kEmpty ? "" : " -> ",
                      text(key.place.library), key.awaits_input ? " (input)" : "", " <- ",
                      text(key.waker), key.waker == StringId::kEmpty ? "" : " ", NameOf(key.end));
}

// "mutex: main.worker in main.get a.go:3 <- main.save: Waiting (sleep) in main.load"
std::string HolderText(const WaitHolder& holder, const Interner& interner) {
  const auto text = [&](StringId id) { return interner.String(id); };
  return absl::StrCat(
      WaitObjectName(holder.object), text(holder.reason).empty() ? "" : " ", text(holder.reason),
      ": ", text(holder.start), " in ", text(holder.place.function), " ", text(holder.place.file),
      ":", holder.place.line, " <- ", text(holder.holder), ": ", GoStateName(holder.state),
      text(holder.doing).empty() ? "" : absl::StrCat(" (", text(holder.doing), ")"), " in ",
      text(holder.function));
}

// "mutex main.get a.go:3: request: 2 100"
std::string TaskText(const WaitTask& task, const Interner& interner) {
  return absl::StrCat(WaitObjectName(task.object), " ", interner.String(task.reason),
                      task.reason == StringId::kEmpty ? "" : " ",
                      interner.String(task.place.function), " ", interner.String(task.place.file),
                      ":", task.place.line, ": ", interner.String(task.type), ": ", task.count, " ",
                      task.time);
}

std::string TextOf(const AnalysisSink& sink) {
  std::string text;
  for (const WaitHolder& holder : StatsOf(sink).holders()) {
    absl::StrAppend(&text, HolderText(holder, sink.interner()), " of ",
                    sink.interner().String(holder.holder_start), " at ",
                    sink.interner().String(holder.file), ":", holder.line, ": ", holder.count, " ",
                    holder.time, "\n");
  }
  for (const WaitTask& task : StatsOf(sink).tasks()) {
    absl::StrAppend(&text, TaskText(task, sink.interner()), "\n");
  }
  for (const WaitGroup& group : StatsOf(sink).groups()) {
    absl::StrAppend(&text, KeyText(group.key, sink.interner()), ": ", group.clipped, " ",
                    group.asked, " ", group.durations.sum(), " ", group.durations.first_bucket(),
                    " ", absl::StrJoin(group.durations.counts(), ","));
    for (const GoId id : group.goroutines) absl::StrAppend(&text, " ", id.value);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

TEST(WaitStats, AreTheSameHoweverTheTraceIsCut) {
  std::map<WaitEnd, uint64_t> ends;
  std::map<WaitObject, uint64_t> objects;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(test.name), [](AnalysisSink::Options options) { return MakeSink(options); },
        TextOf);
    for (const WaitGroup& group : StatsOf(*whole).groups()) {
      ends[group.key.end] += group.durations.count();
      objects[group.key.object] += group.durations.count();
    }
  }
  EXPECT_EQ(objects.size(), kWaitObjectEnd);
  EXPECT_GE(ends.size(), 6);
}

// What goroutines waited for is part of their waits.
TEST(WaitStats, HoldersLieInTheWaits) {
  using Key = std::tuple<WaitObject, StringId, WaitPlace>;
  int64_t known = 0;
  int64_t all = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
    const Interner& interner = sink->interner();
    absl::flat_hash_map<Key, int64_t> waits;
    for (const WaitGroup& group : StatsOf(*sink).groups()) {
      const WaitKey& key = group.key;
      if (key.end != WaitEnd::kPeer && key.end != WaitEnd::kGoroutine &&
          key.end != WaitEnd::kDeadline && key.end != WaitEnd::kRuntime) {
        continue;
      }
      const bool is_channel = key.object == WaitObject::kChannel;
      const auto time = static_cast<int64_t>(group.durations.sum());
      waits[Key(key.object, is_channel ? key.reason : StringId::kEmpty, key.place)] += time;
      if (!key.is_system && key.object != WaitObject::kOther) all += time;
    }
    absl::flat_hash_map<Key, int64_t> holders;
    for (const WaitHolder& holder : StatsOf(*sink).holders()) {
      EXPECT_GT(holder.time, 0);
      EXPECT_GT(holder.count, 0);
      holders[Key(holder.object, holder.reason, holder.place)] += holder.time;
      if (holder.object != WaitObject::kOther) known += holder.time;
    }
    for (const auto& [key, time] : holders) {
      // A wait for a channel that began before the generation is not known to be one.
      if (std::get<0>(key) == WaitObject::kOther) continue;
      EXPECT_LE(time, waits[key]) << interner.String(std::get<2>(key).function);
    }
  }
  EXPECT_LE(known, all);
  EXPECT_GT(known, all / 4);
}

// Each wait is counted once: the sums are those of LatencyStats, which knows nothing about places.
TEST(WaitStats, SumToLatencies) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> waits = MakeSink();
    AnalysisSink latencies(
        [](Interner* interner) {
          LatencyStats::Options options;
          options.by_start = true;
          return std::make_unique<LatencyStats>(interner, options);
        },
        {});
    ASSERT_TRUE(ReadInto(*reader, {waits.get(), &latencies}).ok());
    using Sums = std::map<std::tuple<LatencyKind, std::string, std::string>,
                          std::tuple<uint64_t, uint64_t, uint64_t>>;
    const auto add = [](const Histogram& durations, uint64_t clipped, auto* sum) {
      std::get<0>(*sum) += durations.count();
      std::get<1>(*sum) += durations.sum();
      std::get<2>(*sum) += clipped;
    };
    Sums by_place;
    for (const WaitGroup& group : StatsOf(*waits).groups()) {
      const bool is_syscall = group.key.state == GoState::kSyscall;
      add(group.durations, group.clipped,
          &by_place[{is_syscall ? LatencyKind::kSyscall : LatencyKind::kBlocked,
                     std::string(waits->interner().String(group.key.reason)),
                     std::string(waits->interner().String(group.key.start))}]);
    }
    Sums expected;
    for (const LatencyGroup& group :
         static_cast<const LatencyStats&>(latencies.analysis()).groups()) {
      if (group.key.kind != LatencyKind::kBlocked && group.key.kind != LatencyKind::kSyscall) {
        continue;
      }
      add(group.durations, group.clipped,
          &expected[{group.key.kind, std::string(latencies.interner().String(group.key.reason)),
                     std::string(latencies.interner().String(group.key.start))}]);
    }
    EXPECT_EQ(by_place, expected);
  }
}

// Events in which goroutine 1 wakes others.
class Waits {
 public:
  Waits() {
    events_.Sync(0, 1);
    events_.Go(EventType::kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  }

  // Goroutine `g`, which was running, waits at `stack` until `begin + length`.
  void Wait(int64_t g, int64_t begin, absl::string_view reason,
            absl::Span<const StackFrame> stack) {
    events_.Go(EventType::kGoStatus, begin - 1, 1, g, GoState::kUndetermined, GoState::kRunning);
    events_.Push(events_.Builder(EventType::kGoBlock, begin, 1, g)
                     .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
                     .Reason(reason)
                     .Stack(stack));
  }
  // `by` wakes it, or a timer if it is -1.
  void Wake(int64_t g, int64_t end, int64_t by, absl::Span<const StackFrame> waker) {
    events_.Push(events_.Builder(EventType::kGoUnblock, end, 0, by)
                     .Transition(GoId{g}, GoState::kWaiting, GoState::kRunnable)
                     .Stack(waker));
  }

  // It runs again.
  void Start(int64_t g, int64_t time) {
    events_.Go(EventType::kGoStart, time, 1, g, GoState::kRunnable, GoState::kRunning);
  }

  void Annotate(EventType type, int64_t g, int64_t time, uint64_t task, absl::string_view name) {
    EventBuilder builder = events_.Builder(type, time, 1, g);
    builder.Task(TaskId{task});
    if (type == EventType::kUserTaskBegin) builder.TaskType(name);
    if (type == EventType::kUserRegionBegin) builder.RegionType(name);
    events_.Push(builder);
  }

  // Returns a row for each type of task.
  std::string Tasks() {
    const std::unique_ptr<AnalysisSink> sink = Run();
    std::string text;
    for (const WaitTask& task : StatsOf(*sink).tasks()) {
      absl::StrAppend(&text, TaskText(task, sink->interner()), "\n");
    }
    return text;
  }

  // Another generation begins, in which goroutine 1 runs and these wait.
  void Next(int64_t time, absl::Span<const int64_t> waiting) {
    events_.Sync(time, 2);
    events_.Go(EventType::kGoStatus, time, 0, 1, GoState::kRunning, GoState::kRunning);
    for (const int64_t g : waiting) {
      events_.Go(EventType::kGoStatus, time, 1, g, GoState::kWaiting, GoState::kWaiting);
    }
  }

  // Returns a row for each holder, of waits of goroutines that started in `start`.
  std::string Holders(const std::string& start = "") {
    const std::unique_ptr<AnalysisSink> sink = Run(start);
    ExpectSameHoweverCut(
        events_.events(), [&](AnalysisSink::Options options) { return MakeSink(options, start); },
        TextOf);
    std::string text;
    for (const WaitHolder& holder : StatsOf(*sink).holders()) {
      absl::StrAppend(&text, HolderText(holder, sink->interner()), ": ", holder.time, "\n");
    }
    return text;
  }

  // Returns in how many waits the goroutine waited for an answer.
  uint64_t Asked(int64_t g) {
    const std::unique_ptr<AnalysisSink> sink = Run();
    uint64_t asked = 0;
    for (const WaitGroup& group : StatsOf(*sink).groups()) {
      if (group.goroutines[0] == GoId{g}) asked += group.asked;
    }
    return asked;
  }

  // Returns the rows without the last numbers.
  std::string Text() {
    const std::unique_ptr<AnalysisSink> sink = Run();
    std::string text;
    for (const WaitGroup& group : StatsOf(*sink).groups()) {
      absl::StrAppend(&text, KeyText(group.key, sink->interner()), ": ", group.durations.count(),
                      " ", group.durations.sum(), "\n");
    }
    return text;
  }

 private:
  std::unique_ptr<AnalysisSink> Run(const std::string& start = "") {
    events_.Sync(1000, 2);
    std::unique_ptr<AnalysisSink> sink = MakeSink({}, start);
    sink->Add(events_.events());
    EXPECT_TRUE(sink->Finish().ok());
    return sink;
  }

  BuiltEvents events_;
};

const StackFrame kLock[] = {
    {1, "internal/sync.(*Mutex).lockSlow", "/go/src/internal/sync/mutex.go", 9},
    {2, "internal/sync.(*Mutex).Lock", "/go/src/internal/sync/mutex.go", 8},
    {3, "sync.(*Mutex).Lock", "/go/src/sync/mutex.go", 4},
    {4, "main.(*Cache).Get", "/p/cache.go", 17},
    {5, "main.main.func1", "/p/main.go", 30}};
const StackFrame kMain[] = {{6, "main.main", "/p/main.go", 40}};

TEST(WaitStats, KnowTheLockAndWhoUnlockedIt) {
  const StackFrame unlock[] = {{7, "sync.(*Mutex).Unlock", "/go/src/sync/mutex.go", 5},
                               {8, "main.(*Cache).Get", "/p/cache.go", 20},
                               {9, "main.main.func1", "/p/main.go", 30}};
  Waits waits;
  waits.Wait(7, 10, "sync", kLock);
  waits.Wake(7, 110, 1, kMain);
  waits.Wait(8, 120, "sync", kLock);
  waits.Wake(8, 320, 1, unlock);
  waits.Wait(9, 400, "sync", kLock);
  EXPECT_EQ(waits.Text(),
            "main.main.func1: sync mutex sync.(*Mutex).Lock: main.(*Cache).Get /p/cache.go:17 -> "
            "sync.(*Mutex).Lock <- open: 1 600\n"
            "main.main.func1: sync mutex sync.(*Mutex).Lock: main.(*Cache).Get /p/cache.go:17 -> "
            "sync.(*Mutex).Lock <- main.(*Cache).Get peer: 1 200\n"
            "main.main.func1: sync mutex sync.(*Mutex).Lock: main.(*Cache).Get /p/cache.go:17 -> "
            "sync.(*Mutex).Lock <- main.main goroutine: 1 100\n");
}

// Goroutine 9 has the lock, and sleeps.
TEST(WaitStats, KnowWhatWasDoneUnderTheLock) {
  const StackFrame sleep[] = {{1, "time.Sleep", "/go/src/time/sleep.go", 1},
                              {2, "main.load", "/p/main.go", 2},
                              {3, "main.save", "/p/main.go", 3}};
  const StackFrame unlock[] = {{4, "sync.(*Mutex).Unlock", "/go/src/sync/mutex.go", 5},
                               {5, "main.save", "/p/main.go", 6}};
  Waits waits;
  waits.Wait(7, 10, "sync", kLock);
  waits.Wait(9, 30, "sleep", sleep);
  waits.Wake(9, 80, -1, {});
  waits.Start(9, 85);
  waits.Wake(7, 110, 9, unlock);
  EXPECT_EQ(waits.Holders(),
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Waiting "
            "(sleep) in main.load: 50\n"
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Running in "
            "main.save: 25\n"
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Running in "
            "main.load: 20\n"
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Runnable in "
            "main.load: 5\n");
}

// Both waits begin in the first generation and end in the third. Only the last one is followed, but
// with what is known from the first.
TEST(WaitStats, KnowWhatCrossesGenerations) {
  const StackFrame sleep[] = {{1, "time.Sleep", "/go/src/time/sleep.go", 1},
                              {2, "main.load", "/p/main.go", 2},
                              {3, "main.save", "/p/main.go", 3}};
  const StackFrame unlock[] = {{4, "sync.(*Mutex).Unlock", "/go/src/sync/mutex.go", 5},
                               {5, "main.save", "/p/main.go", 6}};
  Waits waits;
  waits.Wait(7, 10, "sync", kLock);
  waits.Wait(9, 30, "sleep", sleep);
  waits.Next(100, {7, 9});
  waits.Next(200, {7, 9});
  waits.Wake(9, 280, -1, {});
  waits.Start(9, 285);
  waits.Wake(7, 310, 9, unlock);
  EXPECT_EQ(waits.Holders(),
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Waiting "
            "(sleep) in main.load: 80\n"
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Running in "
            "main.save: 25\n"
            "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.save: Runnable in "
            "main.load: 5\n");
}

// Where a goroutine started says less than what it called, unless the program named it.
TEST(WaitStats, NameHoldersByWhatTheyCalled) {
  const auto holder = [](absl::string_view start) {
    const StackFrame unlock[] = {{4, "sync.(*Mutex).Unlock", "/go/src/sync/mutex.go", 5},
                                 {5, "main.load", "/p/main.go", 6},
                                 {6, "main.get", "/p/main.go", 7},
                                 {7, start, "/p/main.go", 8}};
    Waits waits;
    waits.Wait(7, 10, "sync", kLock);
    waits.Wake(7, 20, 1, unlock);
    return waits.Holders();
  };
  for (const absl::string_view start :
       {"main.main", "main.main.func1", "main.serve.func2.1", "main.serve.gowrap3"}) {
    EXPECT_EQ(holder(start),
              "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.get: Running in "
              "main.load: 10\n");
  }
  for (const absl::string_view start : {"main.worker", "main.functions", "main.(*T).func3Call"}) {
    EXPECT_EQ(holder(start), absl::StrCat("mutex: main.main.func1 in main.(*Cache).Get "
                                          "/p/cache.go:17 <- ",
                                          start, ": Running in main.load: 10\n"));
  }
}

// Goroutines of a WaitGroup start in what it was given, and not in the same function.
TEST(WaitStats, KnowWhatAWaitGroupWasGiven) {
  const StackFrame wrapper = {9, "sync.(*WaitGroup).Go.func1", "/go/src/sync/waitgroup.go", 9};
  std::vector<StackFrame> lock(std::begin(kLock), std::end(kLock));
  lock.push_back(wrapper);
  const StackFrame unlock[] = {{4, "sync.(*Mutex).Unlock", "/go/src/sync/mutex.go", 5},
                               {5, "main.load", "/p/main.go", 6},
                               {6, "main.get", "/p/main.go", 7},
                               {7, "main.main.func2", "/p/main.go", 8},
                               wrapper};
  const auto waits = [&] {
    Waits some;
    some.Wait(7, 10, "sync", lock);
    some.Wake(7, 20, 1, unlock);
    return some;
  };
  EXPECT_EQ(waits().Text(),
            "main.main.func1: sync mutex sync.(*Mutex).Lock: main.(*Cache).Get /p/cache.go:17 -> "
            "sync.(*Mutex).Lock <- main.load goroutine: 1 10\n");
  const std::string holder =
      "mutex: main.main.func1 in main.(*Cache).Get /p/cache.go:17 <- main.get: Running in "
      "main.load: 10\n";
  EXPECT_EQ(waits().Holders(), holder);
  EXPECT_EQ(waits().Holders("main.*func1"), holder);
  EXPECT_EQ(waits().Holders("main.main"), "");
}

// Goroutine 7 begins task 1, goroutine 8 has a region of task 2, and goroutine 9 of none.
TEST(WaitStats, KnowTheTasksThatWait) {
  using enum EventType;
  Waits waits;
  waits.Annotate(kUserTaskBegin, 7, 5, 1, "request");
  waits.Annotate(kUserTaskBegin, 7, 6, 2, "batch");
  waits.Annotate(kUserRegionBegin, 8, 8, 2, "part");
  waits.Annotate(kUserRegionBegin, 9, 9, kBackgroundTask.value, "idle");
  for (const int64_t g : {8, 9}) waits.Wait(g, 10 + g, "sync", kLock);
  waits.Annotate(kUserTaskEnd, 7, 30, 2, "");
  waits.Wait(7, 40, "sync", kLock);
  waits.Wake(7, 110, 1, kMain);
  waits.Wake(8, 118, 1, kMain);
  waits.Wake(9, 119, 1, kMain);
  EXPECT_EQ(waits.Tasks(), "mutex main.(*Cache).Get /p/cache.go:17: request: 1 70\n");
  Waits more;
  more.Annotate(kUserTaskBegin, 7, 5, 2, "batch");
  more.Annotate(kUserRegionBegin, 8, 8, 2, "part");
  more.Wait(8, 20, "sync", kLock);
  more.Wake(8, 50, 1, kMain);
  EXPECT_EQ(more.Tasks(), "mutex main.(*Cache).Get /p/cache.go:17: batch: 1 30\n");
}

TEST(WaitStats, TellLocksFromWaitGroupsAndFromTheRuntime) {
  const StackFrame read_lock[] = {{1, "sync.runtime_SemacquireRWMutexR", "", 1},
                                  {2, "sync.(*RWMutex).RLock", "", 2},
                                  {3, "main.read", "a.go", 3}};
  const StackFrame write_lock[] = {{1, "sync.runtime_SemacquireMutex", "", 1},
                                   {2, "sync.(*Mutex).Lock", "", 2},
                                   {3, "sync.(*RWMutex).Lock", "", 3},
                                   {4, "main.write", "a.go", 4}};
  const StackFrame log[] = {{2, "sync.(*Mutex).Lock", "", 2},
                            {3, "log.(*Logger).output", "", 3},
                            {4, "log.Printf", "", 4},
                            {5, "main.handle", "a.go", 5}};
  const StackFrame group[] = {{2, "sync.(*WaitGroup).Wait", "", 2}, {3, "main.all", "a.go", 6}};
  const StackFrame collector[] = {{1, "runtime.gcStart", "", 1},
                                  {2, "runtime.mallocgc", "", 2},
                                  {3, "main.allocate", "a.go", 7}};
  Waits waits;
  waits.Wait(7, 10, "sync", read_lock);
  waits.Wait(8, 20, "sync", write_lock);
  waits.Wait(9, 30, "sync", log);
  waits.Wait(10, 40, "sync", group);
  waits.Wait(11, 50, "sync", collector);
  EXPECT_EQ(waits.Text(),
            "main.read: sync rwmutex sync.(*RWMutex).RLock: main.read a.go:3 -> "
            "sync.(*RWMutex).RLock <- open: 1 990\n"
            "main.write: sync rwmutex sync.(*RWMutex).Lock: main.write a.go:4 -> "
            "sync.(*RWMutex).Lock <- open: 1 980\n"
            "main.handle: sync mutex sync.(*Mutex).Lock: main.handle a.go:5 -> log.Printf <- open: "
            "1 970\n"
            "main.all: sync waitgroup sync.(*WaitGroup).Wait: main.all a.go:6 -> "
            "sync.(*WaitGroup).Wait <- open: 1 960\n"
            "main.allocate: sync other: main.allocate a.go:7 <- open: 1 950\n");
}

TEST(WaitStats, KnowWhatEndedChannelWaits) {
  const StackFrame receive[] = {{1, "runtime.chanrecv1", "", 1}, {2, "main.get", "a.go", 3}};
  const StackFrame select[] = {{1, "runtime.selectgo", "", 1}, {2, "main.call", "a.go", 4}};
  const StackFrame deadline[] = {{1, "runtime.closechan", "", 1},
                                 {2, "context.(*cancelCtx).cancel", "", 2},
                                 {3, "context.WithDeadlineCause.func2", "", 3}};
  const StackFrame worker[] = {{1, "runtime.bgsweep", "", 1}};
  Waits waits;
  waits.Wait(7, 10, "chan receive", receive);
  waits.Wake(7, 110, -1, {});
  waits.Wait(8, 10, "select", select);
  waits.Wake(8, 60, 1, deadline);
  waits.Wait(9, 100, "select", select);
  waits.Wake(9, 130, 1, worker);
  const StackFrame connection[] = {{1, "runtime.selectgo", "", 1},
                                   {2, "net/http.(*Transport).getConn", "", 2},
                                   {3, "main.load", "a.go", 5}};
  const StackFrame give_back[] = {{1, "net/http.(*Transport).tryPutIdleConn", "", 1},
                                  {2, "net/http.(*persistConn).readLoop", "", 2}};
  const StackFrame dial[] = {{1, "net/http.(*wantConn).tryDeliver", "", 1},
                             {2, "net/http.(*Transport).dialConnFor", "", 2}};
  waits.Wait(2, 200, "select", connection);
  waits.Wake(2, 220, 1, give_back);
  waits.Wait(3, 300, "select", connection);
  waits.Wake(3, 310, 1, dial);
  EXPECT_EQ(waits.Text(),
            "main.get: chan receive chan: main.get a.go:3 <- timer: 1 100\n"
            "main.call: select select: main.call a.go:4 <- deadline: 1 50\n"
            "main.call: select select: main.call a.go:4 <- runtime: 1 30\n"
            "main.load: select select: main.load a.go:5 -> net/http.(*Transport).getConn <- "
            "net/http.(*Transport).tryPutIdleConn peer: 1 20\n"
            "main.load: select select: main.load a.go:5 -> net/http.(*Transport).getConn <- "
            "net/http.(*wantConn).tryDeliver goroutine: 1 10\n");
}

// Goroutine 1 asks others, of which one answers, and one does not until a timer ends the wait in
// the next generation. Then it waits without having asked.
TEST(WaitStats, KnowWhoWaitsForAnAnswer) {
  const StackFrame fetch[] = {{1, "runtime.selectgo", "", 1}, {2, "main.fetch", "a.go", 4}};
  const StackFrame query[] = {{3, "main.query", "a.go", 5}};
  BuiltEvents events;
  const auto ask = [&](int64_t g, int64_t time) {
    events.Push(events.Builder(EventType::kGoCreate, time, 0, 1)
                    .Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable)
                    .TransitionStack(query)
                    .Stack(fetch));
  };
  const auto wait = [&](int64_t time) {
    events.Push(events.Builder(EventType::kGoBlock, time, 0, 1)
                    .Transition(GoId{1}, GoState::kRunning, GoState::kWaiting)
                    .Reason("select")
                    .Stack(fetch));
  };
  const auto start = [&](int64_t g, int64_t time) {
    events.Go(EventType::kGoStart, time, 0, g, GoState::kRunnable, GoState::kRunning);
  };
  // Goroutine `by` ends the wait, or a timer if it is -1.
  const auto wake = [&](int64_t by, int64_t time) {
    events.Push(events.Builder(EventType::kGoUnblock, time, 0, by)
                    .Transition(GoId{1}, GoState::kWaiting, GoState::kRunnable)
                    .Stack(by == -1 ? absl::Span<const StackFrame>() : query));
    start(1, time + 1);
  };
  events.Sync(0, 1);
  events.Go(EventType::kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kRunning);
  ask(2, 10);
  wait(11);
  start(2, 12);
  wake(2, 15);
  ask(3, 20);
  wait(21);
  start(3, 22);
  events.Sync(100, 2);
  events.Go(EventType::kGoStatus, 100, 0, 1, GoState::kWaiting, GoState::kWaiting);
  wake(-1, 121);
  wait(130);
  wake(-1, 140);
  events.Sync(1000, 3);
  const std::unique_ptr<AnalysisSink> sink = ExpectSameHoweverCut(
      events.events(), [](AnalysisSink::Options options) { return MakeSink(options); }, TextOf);
  std::vector<std::string> found;
  for (const WaitGroup& group : StatsOf(*sink).groups()) {
    found.push_back(absl::StrCat(NameOf(group.key.end), " ", group.durations.count(), " ",
                                 group.durations.sum(), " ", group.asked));
  }
  EXPECT_EQ(absl::StrJoin(found, ", "), "timer 2 110 1, goroutine 1 4 1");
}

// Goroutine 1 wakes goroutine 2 up, waits, and is woken up by it, three times in one generation.
// The lines of its wake and its wait say which of the two asks.
TEST(WaitStats, KnowWhoAsksByTheOrderOfLines) {
  const auto asked_by = [](const std::vector<StackFrame>& wake,
                           const std::vector<StackFrame>& receive) {
    const StackFrame other[] = {{9, "runtime.selectgo", "", 1}, {8, "main.other", "a.go", 90}};
    Waits waits;
    for (int64_t time = 10; time < 100; time += 30) {
      waits.Wait(2, time, "select", other);
      waits.Wake(2, time + 5, 1, wake);
      waits.Start(2, time + 6);
      waits.Wait(1, time + 7, "chan receive", receive);
      waits.Wake(1, time + 20, 2, other);
      waits.Start(1, time + 21);
    }
    return waits.Asked(1);
  };
  const auto in_one = [](absl::string_view call, uint64_t line) {
    return std::vector<StackFrame>{{5, call, "", 1}, {6, "main.one", "a.go", line}};
  };
  EXPECT_EQ(asked_by(in_one("runtime.chansend1", 4), in_one("runtime.chanrecv1", 5)), 3);
  EXPECT_EQ(asked_by(in_one("main.ask", 4), in_one("runtime.chanrecv1", 4)), 3);
  EXPECT_EQ(asked_by(in_one("runtime.chansend1", 5), in_one("runtime.chanrecv1", 4)), 0);
}

// Places of the program come before those of other modules, and these before the standard library.
TEST(WaitStats, NameTheProgramsFunction) {
  const StackFrame through_module[] = {
      {1, "net.(*netFD).Read", "/go/src/net/fd_posix.go", 1},
      {2, "github.com/x/pool.(*Conn).Read", "/m/github.com/x/pool@v1.2.3/conn.go", 2},
      {3, "example.com/shop/db.Query", "/src/db/query.go", 3},
      {4, "net/http.HandlerFunc.ServeHTTP", "/go/src/net/http/server.go", 4}};
  const StackFrame only_module[] = {
      {1, "net.(*netFD).Read", "/go/src/net/fd_posix.go", 1},
      {2, "github.com/x/pool.(*Conn).loop", "/m/github.com/x/pool@v1.2.3/conn.go", 8}};
  const StackFrame vendored[] = {{1, "time.Sleep", "/go/src/runtime/time.go", 1},
                                 {2, "github.com/y/z.Wait", "/src/vendor/github.com/y/z/a.go", 2},
                                 {3, "main.main", "main.go", 3}};
  const StackFrame only_standard[] = {
      {1, "internal/poll.runtime_pollWait", "/go/src/runtime/netpoll.go", 1},
      {2, "net.(*netFD).Read", "/go/src/net/fd_posix.go", 2},
      {3, "net/http.(*conn).serve", "/go/src/net/http/server.go", 3}};
  const StackFrame forced[] = {{1, "runtime.GC", "/go/src/runtime/mgc.go", 1},
                               {2, "main.main", "main.go", 9}};
  const StackFrame c_call[] = {{1, "runtime.cgocall", "/go/src/runtime/cgocall.go", 1},
                               {2, "main._Cfunc_sum", "_cgo_gotypes.go", 44},
                               {3, "main.sum", "sum.go", 5}};
  const StackFrame profile[] = {{1, "time.Sleep", "", 1},
                                {2, "net/http/pprof.Trace", "", 2},
                                {3, "net/http.(*conn).serve", "", 3}};
  Waits waits;
  waits.Wait(7, 10, "network", through_module);
  waits.Wait(8, 20, "network", only_module);
  waits.Wait(9, 30, "sleep", vendored);
  waits.Wait(10, 40, "network", only_standard);
  waits.Wait(11, 50, "wait until GC ends", forced);
  waits.Wait(12, 60, "sleep", profile);
  waits.Wait(13, 70, "preempted", c_call);
  EXPECT_EQ(waits.Text(),
            "net/http.HandlerFunc.ServeHTTP: network other: example.com/shop/db.Query "
            "/src/db/query.go:3 -> github.com/x/pool.(*Conn).Read <- open: 1 990\n"
            "github.com/x/pool.(*Conn).loop: network other: github.com/x/pool.(*Conn).loop "
            "/m/github.com/x/pool@v1.2.3/conn.go:8 -> net.(*netFD).Read <- open: 1 980\n"
            "main.main: sleep other: main.main main.go:3 -> github.com/y/z.Wait <- open: 1 970\n"
            "net/http.(*conn).serve: network other: net.(*netFD).Read /go/src/net/fd_posix.go:2 -> "
            "internal/poll.runtime_pollWait <- open: 1 960\n"
            "main.main: wait until GC ends other: main.main main.go:9 -> runtime.GC <- open: 1 "
            "950\n"
            "net/http.(*conn).serve (system): sleep other: time.Sleep :1 <- open: 1 940\n"
            "main.sum: preempted other: main.sum sum.go:5 -> main._Cfunc_sum <- open: 1 930\n");
}

TEST(RuntimeFunctions, KnowTheGoroutinesOfTheSystem) {
  for (const absl::string_view start :
       {"runtime.bgsweep", "runtime.gcBgMarkWorker", "runtime/trace.Start.func1",
        "runtime/pprof.profileWriter", "runtime.(*traceAdvancerState).start.func1",
        "os/signal.loop", "golang.org/x/exp/trace.(*FlightRecorder).Start.func1"}) {
    EXPECT_TRUE(IsOfSystem(start)) << start;
  }
  for (const absl::string_view start : {"", "runtime.main", "main.main", "net/http.(*conn).serve",
                                        "runtimes.main", "os/signal.NotifyContext.func1",
                                        "example.com/runtime.Run", "golang.org/x/exp/tracer.Run"}) {
    EXPECT_FALSE(IsOfSystem(start)) << start;
  }
}

}  // namespace wait_stats_test
}  // namespace gotrace::internal
