#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "export/summary/summarized.h"
#include "export/summary/summary_page.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace suspicions_of_waits_test {

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

}  // namespace suspicions_of_waits_test
}  // namespace gotrace::internal
