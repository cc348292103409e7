#include "analysis/summary/proc_suspicions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace proc_suspicions_test {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

// A trace of a second with two Ps, which are busy for `busy`.
ProcEvidence OneSecond(int64_t busy) {
  ProcEvidence evidence;
  evidence.duration = kSecond;
  evidence.all_procs = 2 * kSecond;
  evidence.busy_procs = busy;
  return evidence;
}

// Adds time in which goroutines of `start`, which live as long as the trace, waited.
void AddWait(ReadyCause cause, int64_t time, absl::string_view start, int64_t running,
             ProcEvidence* evidence) {
  evidence->ready.by_cause[static_cast<size_t>(cause)] += time;
  ProcEvidence::Function function;
  function.start = std::string(start);
  function.waited.by_cause[static_cast<size_t>(cause)] = time;
  function.goroutines = 1;
  function.lifetime = kSecond;
  function.running = running;
  ProcEvidence more;
  more.functions.push_back(function);
  MergeProcEvidence(more, evidence);
}

std::vector<std::string> IdsOf(const ProcEvidence& evidence) {
  std::vector<std::string> ids;
  for (const ProcSuspicion& one : FindProcSuspicions(evidence)) ids.push_back(one.id);
  return ids;
}
using Ids = std::vector<std::string>;

TEST(ProcSuspicions, OfNothing) {
  EXPECT_EQ(IdsOf({}), Ids());
  EXPECT_EQ(IdsOf(OneSecond(2 * kSecond)), Ids());
}

TEST(ProcSuspicions, FewProcsOnlyIfTheProgramNeedsThem) {
  ProcEvidence evidence = OneSecond(2 * kSecond);
  AddWait(ReadyCause::kProgram, 1200 * kMs, "main.worker", 800 * kMs, &evidence);
  const std::vector<ProcSuspicion> found = FindProcSuspicions(evidence);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "few-ps");
  EXPECT_EQ(found[0].cost_ns, 1200 * kMs);
  EXPECT_EQ(found[0].place.function, "main.worker");
  ASSERT_EQ(found[0].victims.size(), 1);
  EXPECT_EQ(found[0].victims[0].start, "main.worker");
  EXPECT_EQ(found[0].victims[0].time, 1200 * kMs);

  // Ps were not busy.
  ProcEvidence idle = evidence;
  idle.busy_procs = kSecond;
  EXPECT_EQ(IdsOf(idle), Ids());
  // Others had the Ps.
  ProcEvidence gc = evidence;
  AddWait(ReadyCause::kGc, 1300 * kMs, "main.worker", 0, &gc);
  EXPECT_EQ(IdsOf(gc), Ids());
  // A goroutine that is always ready and hardly runs.
  ProcEvidence reader = OneSecond(2 * kSecond);
  AddWait(ReadyCause::kProgram, 1200 * kMs, "main.reader", 20 * kMs, &reader);
  EXPECT_EQ(IdsOf(reader), Ids());
  // Many short goroutines do need their time.
  reader.functions[0].goroutines = 100;
  EXPECT_EQ(IdsOf(reader), Ids({"few-ps"}));
}

TEST(ProcSuspicions, IdleProcs) {
  ProcEvidence evidence = OneSecond(kSecond);
  AddWait(ReadyCause::kIdleProcs, 99 * kMs, "main.worker", 800 * kMs, &evidence);
  EXPECT_EQ(IdsOf(evidence), Ids());
  AddWait(ReadyCause::kIdleProcs, 1 * kMs, "main.worker", 0, &evidence);
  EXPECT_EQ(IdsOf(evidence), Ids({"idle-ps"}));
}

ProcEvidence WithLongRuns(uint64_t runs, int64_t peers) {
  ProcEvidence evidence = OneSecond(2 * kSecond);
  AddWait(ReadyCause::kLongRun, 1200 * kMs, "main.victim", 800 * kMs, &evidence);
  ProcEvidence::LongRun run;
  run.start = "main.hog";
  run.goroutine = 7;
  run.place = {"main.scan", "scan.go", 3, "bytes.IndexByte"};
  run.runs = runs;
  run.longest = 331 * kMs;
  run.waited = 1200 * kMs;
  run.peers_waited = peers;
  evidence.long_runs.push_back(run);
  return evidence;
}

TEST(ProcSuspicions, HogOnlyIfOthersWait) {
  const std::vector<ProcSuspicion> found = FindProcSuspicions(WithLongRuns(2, 200 * kMs));
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "hog");
  EXPECT_EQ(found[0].cost_ns, kSecond);
  EXPECT_EQ(found[0].culprit, "main.hog");
  EXPECT_EQ(found[0].place.library, "bytes.IndexByte");
  // Goroutines that all compute have too few Ps.
  EXPECT_EQ(IdsOf(WithLongRuns(2, 601 * kMs)), Ids({"few-ps"}));
  // One long run may be the host's doing.
  EXPECT_EQ(IdsOf(WithLongRuns(1, 0)), Ids());
}

TEST(ProcSuspicions, AssistsAndGc) {
  ProcEvidence evidence = OneSecond(2 * kSecond);
  evidence.assist_running = 40 * kMs;
  evidence.assist_waiting = 10 * kMs;
  evidence.assists.push_back({{"main.tree", "tree.go", 21, ""}, 5, 50 * kMs});
  AddWait(ReadyCause::kAssist, 50 * kMs, "main.victim", 0, &evidence);
  std::vector<ProcSuspicion> found = FindProcSuspicions(evidence);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "assists");
  EXPECT_EQ(found[0].cost_ns, 100 * kMs);
  EXPECT_EQ(found[0].place.line, 21);
  evidence.assist_waiting = 9 * kMs;
  EXPECT_EQ(IdsOf(evidence), Ids());

  evidence = OneSecond(2 * kSecond);
  evidence.workers = 300 * kMs;
  evidence.idle_workers = 199 * kMs;
  EXPECT_EQ(IdsOf(evidence), Ids());
  evidence.idle_workers = 200 * kMs;
  AddWait(ReadyCause::kGc, 100 * kMs, "main.victim", 0, &evidence);
  found = FindProcSuspicions(evidence);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "gc");
  EXPECT_EQ(found[0].cost_ns, 400 * kMs);  // Idle workers take nothing from the program.

  evidence = OneSecond(2 * kSecond);
  evidence.gc_waits.push_back({{"main.stats", "stats.go", 4, "runtime.GC"}, 0, 200 * kMs});
  found = FindProcSuspicions(evidence);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "gc");
  EXPECT_EQ(found[0].place.library, "runtime.GC");
}

TEST(ProcSuspicions, Stopped) {
  ProcEvidence evidence = OneSecond(kSecond);
  evidence.stops.push_back({"read mem stats",
                            {"main.stats", "stats.go", 4, "runtime.ReadMemStats"},
                            9,
                            49 * kMs,
                            40 * kMs,
                            1 * kMs,
                            19 * kMs,
                            "main.loop"});
  EXPECT_EQ(IdsOf(evidence), Ids());
  evidence.stops[0].longest = 20 * kMs;  // Everybody notices that.
  EXPECT_EQ(IdsOf(evidence), Ids({"stopped"}));
  evidence.stops[0].longest = 19 * kMs;
  evidence.stops[0].time = 50 * kMs;
  AddWait(ReadyCause::kStopped, 100 * kMs, "main.victim", 0, &evidence);
  AddWait(ReadyCause::kTracer, 100 * kMs, "main.victim", 0, &evidence);
  const std::vector<ProcSuspicion> found = FindProcSuspicions(evidence);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "stopped");
  EXPECT_EQ(found[0].cost_ns, 150 * kMs);
  EXPECT_EQ(found[0].culprit, "main.loop");
  EXPECT_EQ(found[0].place.function, "main.stats");
}

// The cost of two traces is the sum, and so are thresholds.
TEST(ProcSuspicions, AddUp) {
  ProcEvidence both = WithLongRuns(1, 0);
  MergeProcEvidence(WithLongRuns(1, 0), &both);
  const std::vector<ProcSuspicion> found = FindProcSuspicions(both);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].id, "hog");
  EXPECT_EQ(found[0].cost_ns, 2400 * kMs);
  MergeProcEvidence(OneSecond(2 * kSecond), &both);
  EXPECT_EQ(both.duration, 3 * kSecond);
}

// The evidence of real traces is the sums of the analyses.
TEST(ProcSuspicions, AreCollected) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    // All with the ids of one interner.
    Interner interner;
    ProcStats procs(&interner, EventFilter());
    GcStats gc(&interner, EventFilter::Times());
    GoroutineStats goroutines(&interner, GoroutineStats::Options());
    struct All final : IntervalConsumer {
      void AddGoroutine(const GoInterval& interval) override {
        for (Analysis* const one : all) one->AddGoroutine(interval);
      }
      void AddProc(const ProcInterval& interval) override {
        for (Analysis* const one : all) one->AddProc(interval);
      }
      std::vector<Analysis*> all;
    } consumer;
    consumer.all = {&procs, &gc, &goroutines};
    StateTracker tracker(&interner, &consumer);
    int64_t first = 0;
    int64_t last = 0;
    while (const Event* const event = reader->Next()) {
      if (first == 0) first = event->time();
      last = event->time();
      for (Analysis* const one : consumer.all) one->AddEvents(absl::MakeConstSpan(event, 1));
      tracker.Add(absl::MakeConstSpan(event, 1));
    }
    ASSERT_TRUE(tracker.Finish().ok());
    for (Analysis* const one : consumer.all) one->Finish(last);
    const ProcEvidence evidence = CollectProcEvidence(
        procs, gc, goroutines.groups(), last - first, interner, [&](StackId stack) -> ProgramPlace {
          return {std::string(interner.RootFunction(stack)), "", 0, ""};
        });
    int64_t waited = 0;
    for (const ProcEvidence::Function& function : evidence.functions) {
      waited += function.waited.Total();
      EXPECT_LE(function.running, function.lifetime) << function.start;
    }
    EXPECT_EQ(waited, evidence.ready.Total());
    EXPECT_LE(evidence.busy_procs, evidence.all_procs);
    int64_t stopped = 0;
    for (const ProcEvidence::Stops& stops : evidence.stops) {
      stopped += stops.time;
      EXPECT_NE(stops.reason, "start trace");
      EXPECT_LE(stops.stopping + stops.restarting, stops.time);
      EXPECT_GE(std::min(stops.stopping, stops.restarting), 0);
    }
    EXPECT_LE(stopped, evidence.duration);
    EXPECT_EQ(evidence.cycles, gc.cycles().size());
    EXPECT_GE(evidence.assist_waiting, 0);
    for (const ProcSuspicion& one : FindProcSuspicions(evidence)) {
      EXPECT_GT(one.cost_ns, 0) << one.id;
      for (size_t i = 1; i < one.victims.size(); ++i) {
        EXPECT_LE(one.victims[i].time, one.victims[i - 1].time);
      }
    }
  }
}

}  // namespace proc_suspicions_test
}  // namespace gotrace::internal
