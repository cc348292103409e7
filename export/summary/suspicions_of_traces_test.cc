#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "export/summary/summarized.h"
#include "export/summary/summary_page.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace suspicions_of_traces_test {

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

}  // namespace suspicions_of_traces_test
}  // namespace gotrace::internal
