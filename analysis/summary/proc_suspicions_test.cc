#include "analysis/summary/proc_suspicions.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/gc_stats.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace proc_suspicions_test {

using Suspicion = TraceSummary::Suspicion;

constexpr int64_t kMs = 1'000'000;

// The summary of a trace with two Ps that run goroutines for `running` in all.
TraceSummary Summary(int64_t running, int64_t duration = 1000 * kMs) {
  TraceSummary summary;
  summary.traces = summary.events = 1;
  summary.duration = duration;
  summary.procs.user = running;
  summary.procs.idle = 2 * duration - running;
  return summary;
}

void SetReady(ReadyCause cause, int64_t time, TraceSummary* summary) {
  summary->ready.by_cause[static_cast<size_t>(cause)] = time;
}

Suspicion Candidate(SuspicionKind kind, int64_t charged) {
  Suspicion candidate;
  candidate.kind = kind;
  candidate.charged = charged;
  return candidate;
}

bool IsRaised(const Suspicion& candidate, TraceSummary summary) {
  summary.candidates.push_back(candidate);
  return summary.Suspicions().size() == 1;
}

TEST(ProcSuspicions, FewProcsOnlyIfTheProgramNeedsThem) {
  TraceSummary summary = Summary(1200 * kMs);
  SetReady(ReadyCause::kProgram, 1000 * kMs, &summary);
  SetReady(ReadyCause::kLongRun, 200 * kMs, &summary);
  SetReady(ReadyCause::kGc, 1000 * kMs, &summary);
  SetReady(ReadyCause::kAssist, 200 * kMs, &summary);
  SetReady(ReadyCause::kIdleProcs, 9000 * kMs, &summary);
  Suspicion few = Candidate(SuspicionKind::kFewProcs, 1200 * kMs);
  few.own = 1000 * kMs;
  EXPECT_TRUE(IsRaised(few, summary));
  TraceSummary idle = summary;
  --idle.procs.user;
  ++idle.procs.idle;
  EXPECT_FALSE(IsRaised(few, idle));
  TraceSummary collecting = summary;
  SetReady(ReadyCause::kGc, 1000 * kMs + 1, &collecting);
  EXPECT_FALSE(IsRaised(few, collecting));
  --few.own;
  EXPECT_FALSE(IsRaised(few, summary));
}

TEST(ProcSuspicions, IdleProcs) {
  EXPECT_TRUE(IsRaised(Candidate(SuspicionKind::kIdleProcs, 140 * kMs), Summary(0)));
  EXPECT_FALSE(IsRaised(Candidate(SuspicionKind::kIdleProcs, 140 * kMs - 1), Summary(0)));
}

TEST(ProcSuspicions, HogOnlyIfOthersWait) {
  const TraceSummary summary = Summary(2000 * kMs, 2000 * kMs);
  Suspicion hog = Candidate(SuspicionKind::kHog, 40 * kMs);
  hog.runs = 2;
  hog.peers = 40 * kMs;
  EXPECT_TRUE(IsRaised(hog, summary));
  Suspicion peers = hog;
  ++peers.peers;
  EXPECT_FALSE(IsRaised(peers, summary));
  Suspicion once = hog;
  once.runs = 1;
  EXPECT_FALSE(IsRaised(once, summary));
  hog.peers = 0;
  --hog.charged;
  EXPECT_FALSE(IsRaised(hog, summary));
}

TEST(ProcSuspicions, Assists) {
  Suspicion assists = Candidate(SuspicionKind::kAssists, 100 * kMs);
  assists.own = 50 * kMs;
  EXPECT_TRUE(IsRaised(assists, Summary(0)));
  Suspicion few = assists;
  --few.own;
  EXPECT_FALSE(IsRaised(few, Summary(0)));
  --assists.charged;
  EXPECT_FALSE(IsRaised(assists, Summary(0)));
}

TEST(ProcSuspicions, Gc) {
  Suspicion gc = Candidate(SuspicionKind::kGc, 50 * kMs);
  gc.workers = 500 * kMs;
  EXPECT_TRUE(IsRaised(gc, Summary(2000 * kMs)));
  Suspicion fewer = gc;
  --fewer.workers;
  EXPECT_FALSE(IsRaised(fewer, Summary(2000 * kMs)));
  --gc.charged;
  EXPECT_FALSE(IsRaised(gc, Summary(2000 * kMs)));
  Suspicion waits = Candidate(SuspicionKind::kGc, 200 * kMs);
  waits.own = 200 * kMs;
  EXPECT_TRUE(IsRaised(waits, Summary(2000 * kMs)));
  --waits.own;
  EXPECT_FALSE(IsRaised(waits, Summary(2000 * kMs)));
}

TEST(ProcSuspicions, Stopped) {
  Suspicion stopped = Candidate(SuspicionKind::kStopped, 100 * kMs);
  for (int i = 0; i < 5; ++i) stopped.lost.Add(10 * kMs);
  EXPECT_TRUE(IsRaised(stopped, Summary(0)));
  EXPECT_FALSE(IsRaised(stopped, Summary(0, 1000 * kMs + 1)));
  Suspicion one = Candidate(SuspicionKind::kStopped, 0);
  one.lost.Add(20 * kMs);  // Everybody notices that.
  EXPECT_TRUE(IsRaised(one, Summary(0, 2000 * kMs)));
  EXPECT_FALSE(IsRaised(one, Summary(0, 2000 * kMs + 1)));
}

// The costs of two traces are added, and so are the times that thresholds refer to. But a single
// long run of two traces each may be the host's doing.
TEST(ProcSuspicions, AddUp) {
  TraceSummary summary = Summary(2000 * kMs);
  Suspicion gc = Candidate(SuspicionKind::kGc, 50 * kMs);
  gc.workers = 500 * kMs;
  gc.own = 20 * kMs;
  gc.places.push_back({.function = "main.work", .time = 20 * kMs});
  Suspicion hog = Candidate(SuspicionKind::kHog, 1000 * kMs);
  hog.start = "main.scan";
  hog.runs = 1;
  hog.longest = 300 * kMs;
  hog.goroutine = 7;
  summary.candidates = {hog, gc};
  SetReady(ReadyCause::kGc, 30 * kMs, &summary);
  TraceSummary other = summary;
  other.candidates[0].goroutine = 5;
  TraceSummary both = summary;
  both.Merge(other);
  EXPECT_EQ(both.ready.Of(ReadyCause::kGc), 60 * kMs);
  ASSERT_EQ(both.Suspicions().size(), 1);
  EXPECT_EQ(both.Suspicions()[0].Cost(), 100 * kMs);
  EXPECT_EQ(both.Suspicions()[0].workers, 1000 * kMs);
  EXPECT_EQ(both.Suspicions()[0].own, 40 * kMs);
  ASSERT_EQ(both.Suspicions()[0].places.size(), 1);
  EXPECT_EQ(both.Suspicions()[0].places[0].time, 40 * kMs);
  ASSERT_EQ(both.candidates.size(), 2);
  EXPECT_EQ(both.candidates[0].runs, 1);
  EXPECT_EQ(both.candidates[0].longest, 300 * kMs);
  EXPECT_EQ(both.candidates[0].goroutine, 5);
  // With a trace in which nothing happens, the share is half as large.
  both.Merge(Summary(2000 * kMs, 2000 * kMs));
  EXPECT_EQ(both.Suspicions().size(), 0);
}

struct Both {
  std::unique_ptr<Interner> interner = std::make_unique<Interner>();
  SummaryStats summary{interner.get(), EventFilter::Times()};
  ProcStats procs{interner.get(), EventFilter()};
  GcStats gc{interner.get(), EventFilter::Times()};
};

// Analyses a trace with the ids of one interner.
std::unique_ptr<Both> Analyze(const std::string& name) {
  auto both = std::make_unique<Both>();
  struct All final : IntervalConsumer {
    void AddGoroutine(const GoInterval& interval) override {
      for (Analysis* const one : all) one->AddGoroutine(interval);
    }
    void AddProc(const ProcInterval& interval) override {
      for (Analysis* const one : all) one->AddProc(interval);
    }
    std::vector<Analysis*> all;
  } consumer;
  consumer.all = {&both->summary, &both->procs, &both->gc};
  const std::string bytes = ReadTestTrace(name);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  StateTracker tracker(both->interner.get(), &consumer);
  int64_t last = 0;
  while (const Event* const event = reader->Next()) {
    if (last == 0) {
      for (Analysis* const one : consumer.all) one->Begin(event->time(), EventFilter::Times());
    }
    last = event->time();
    for (Analysis* const one : consumer.all) one->AddEvents(absl::MakeConstSpan(event, 1));
    tracker.Add(absl::MakeConstSpan(event, 1));
  }
  EXPECT_TRUE(tracker.Finish().ok());
  for (Analysis* const one : consumer.all) one->Finish(last);
  return both;
}

// No time counts twice: what is charged to the causes is part of the time in which goroutines were
// ready.
TEST(ProcSuspicions, CostNoMoreThanWasLost) {
  std::map<SuspicionKind, int> found;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<Both> both = Analyze(test.name);
    const TraceSummary& summary = both->summary.summary();
    const ReadyTimes& ready = summary.ready;
    EXPECT_EQ(ready, both->procs.ready());
    // Times of functions and of goroutines are rounded.
    const auto slack = static_cast<int64_t>(both->procs.ready_functions().size() +
                                            both->procs.long_runners().size());
    int64_t for_program = -2 * slack;
    for (const Suspicion& one : summary.candidates) {
      ++found[one.kind];
      EXPECT_GE(one.charged, 0);
      int64_t victims = 0;
      for (const Suspicion::Part& victim : one.victims) victims += victim.time;
      switch (one.kind) {
        case SuspicionKind::kFewProcs:
          EXPECT_EQ(one.charged, victims);
          EXPECT_LE(one.own, one.charged);
          for_program += one.charged;
          break;
        case SuspicionKind::kHog:
          for_program += one.charged;
          break;
        case SuspicionKind::kIdleProcs:
          EXPECT_EQ(one.charged, victims);
          EXPECT_LE(one.charged, ready.Of(ReadyCause::kIdleProcs) + slack);
          break;
        case SuspicionKind::kAssists:
          EXPECT_EQ(one.charged, one.own + victims);
          EXPECT_LE(victims, ready.Of(ReadyCause::kAssist) + slack);
          break;
        case SuspicionKind::kGc:
          EXPECT_LE(one.charged, one.own + one.workers + victims);
          EXPECT_LE(victims, ready.Of(ReadyCause::kGc) + slack);
          EXPECT_EQ(one.places.empty(), one.own == 0);
          break;
        case SuspicionKind::kStopped: {
          uint64_t tracers = 0;
          for (const WorldStop& stop : both->gc.stops()) {
            if (both->interner->String(stop.reason) == "start trace" ||
                both->interner->String(stop.reason) == "stop trace" ||
                both->interner->String(stop.reason) == "stop tracing") {
              ++tracers;
            }
          }
          EXPECT_EQ(one.lost.count() + tracers, both->gc.stops().size());
          EXPECT_EQ(one.charged, victims);
          int64_t waits = 0;
          for (const RuntimeWaits& in_place : both->procs.stop_waits()) waits += in_place.time;
          EXPECT_EQ(one.own, waits);
          EXPECT_LE(victims, ready.Of(ReadyCause::kStopped) + waits + slack);
          break;
        }
        default:
          break;
      }
    }
    EXPECT_LE(for_program, ready.Of(ReadyCause::kProgram) + ready.Of(ReadyCause::kLongRun));
  }
  for (const SuspicionKind kind :
       {SuspicionKind::kFewProcs, SuspicionKind::kIdleProcs, SuspicionKind::kAssists,
        SuspicionKind::kGc, SuspicionKind::kStopped}) {
    EXPECT_GT(found[kind], 0) << SuspicionId(kind);
  }
}

}  // namespace proc_suspicions_test
}  // namespace gotrace::internal
