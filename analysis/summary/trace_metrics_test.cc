#include "gotrace/trace_metrics.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "analysis/core/built_events.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/heap_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace trace_metrics_test {

template <class AnalysisType>
class Finished {
 public:
  explicit Finished(EventFilter::Times window = {}) {
    AnalysisSink::Options options;
    options.window = window;
    sink = std::make_unique<AnalysisSink>(
        [=](Interner* interner) -> std::unique_ptr<Analysis> {
          if constexpr (std::is_same_v<AnalysisType, TraceMetrics>) {
            return std::make_unique<TraceMetrics>(interner, window);
          } else {
            GoroutineStats::Options stats;
            stats.filter.times = window;
            return std::make_unique<GoroutineStats>(interner, stats);
          }
        },
        options);
  }

  const AnalysisType& operator*() const {
    return static_cast<const AnalysisType&>(sink->analysis());
  }
  const AnalysisType* operator->() const { return &**this; }
  const Interner& names() const { return sink->interner(); }

  std::unique_ptr<AnalysisSink> sink;
};

using Metrics = Finished<TraceMetrics>;

std::vector<MetricChange> Compare(const Metrics& a, const Metrics& b,
                                  MetricBase base = MetricBase::kSecond) {
  return CompareTraces(*a, a.names(), *b, b.names(), base);
}

TraceMetricValue Find(const Metrics& metrics, TraceMetric metric, absl::string_view function) {
  for (const TraceMetricValue& value : metrics->values()) {
    const absl::string_view name = value.of_all ? "(all)" : metrics.names().String(value.function);
    if (value.metric == metric && name == function) return value;
  }
  return {};
}

// A program with a goroutine that waits for a P for `latency` and runs for `runs` of the 1000 ns of
// each generation, and is blocked for the rest. A goroutine of main.idle waits all the time. A task
// ends in each generation.
class Program : private BuiltEvents {
 public:
  explicit Program(const std::vector<int64_t>& runs, int64_t latency = 10) {
    int64_t begin = 0;
    uint64_t syncs = 0;
    Sync(begin, ++syncs);
    for (const int64_t g : {1, 2}) {
      Push(Builder(EventType::kGoStatusStack, 1)
               .Transition(GoId{g}, GoState::kUndetermined, GoState::kWaiting)
               .Stack({StackOf(g)}));
    }
    for (const int64_t run : runs) {
      if (begin > 0) Sync(begin, ++syncs);
      Go(EventType::kGoUnblock, begin + 100 - latency, GoState::kWaiting, GoState::kRunnable);
      Go(EventType::kGoStart, begin + 100, GoState::kRunnable, GoState::kRunning);
      Push(Builder(EventType::kUserTaskEnd, begin + 101).Goroutine(GoId{1}).Task(TaskId{7}));
      Go(EventType::kGoBlock, begin + 100 + run, GoState::kRunning, GoState::kWaiting);
      begin += 1000;
    }
    Sync(begin, ++syncs);
  }

  void AddTo(AnalysisSink* sink) const {
    sink->Add(events());
    EXPECT_TRUE(sink->Finish().ok());
  }

 private:
  void Go(EventType type, int64_t time, GoState from, GoState to) {
    Push(Builder(type, time).Transition(GoId{1}, from, to).Stack({StackOf(1)}));
  }
  static StackFrame StackOf(int64_t g) {
    return {static_cast<uint64_t>(g), g == 1 ? "main.work" : "main.idle", "", 1};
  }
};

Metrics Measure(const std::vector<int64_t>& runs, EventFilter::Times window = {},
                int64_t latency = 10) {
  const Program program(runs, latency);
  Metrics metrics(window);
  program.AddTo(metrics.sink.get());
  return metrics;
}

TEST(TraceMetrics, SplitsIntervalsAtTheBordersOfGenerations) {
  const Metrics metrics = Measure({500, 600, 700, 600});
  EXPECT_EQ(metrics->duration(), 4000);
  EXPECT_EQ(metrics->tasks(), 4);
  const TraceMetricValue work = Find(metrics, TraceMetric::kRunning, "main.work");
  EXPECT_EQ(work.value, 2400);
  // 500, 600, 700 and 600 ns of 1 µs.
  EXPECT_NEAR(work.deviation.value(), 81.65e6, 0.01e6);
  EXPECT_NEAR(work.deviation_per_task.value(), 81.65, 0.01);
  const TraceMetricValue idle = Find(metrics, TraceMetric::kBlocked, "main.idle");
  EXPECT_EQ(idle.value, 4000);
  EXPECT_NEAR(idle.deviation.value(), 0, 1);
  EXPECT_EQ(Find(metrics, TraceMetric::kBlocked, "(all)").value, 4000 + 1560);
  EXPECT_EQ(Find(metrics, TraceMetric::kRunnable, "(all)").value, 40);
  EXPECT_EQ(Find(metrics, TraceMetric::kLatencyP99, "(all)").value, 10);
  EXPECT_NEAR(Find(metrics, TraceMetric::kLatencyP99, "(all)").deviation.value(), 0, 1e-6);
}

TEST(TraceMetrics, OneGenerationHasNoDeviation) {
  EXPECT_FALSE(Find(Measure({500}), TraceMetric::kRunning, "(all)").deviation.has_value());
}

TEST(CompareTraces, HasTheLargestChangeFirst) {
  const Metrics a = Measure({500, 510, 500, 510});
  const Metrics b = Measure({800, 810, 800});
  const std::vector<MetricChange> changes = Compare(a, b);
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].metric, TraceMetric::kRunning);
  EXPECT_NEAR(changes[0].a, 505e6, 1);
  EXPECT_NEAR(changes[0].b, 2410e6 / 3, 1);
  EXPECT_NEAR(changes[0].weight, 1 - 505 / (2410 / 3.0), 1e-6);
  ASSERT_TRUE(changes[0].spread.has_value());
  EXPECT_LT(*changes[0].spread, changes[0].b - changes[0].a);
  // The task of each generation.
  const std::vector<MetricChange> by_tasks = Compare(a, b, MetricBase::kTask);
  ASSERT_FALSE(by_tasks.empty());
  EXPECT_EQ(by_tasks[0].metric, TraceMetric::kRunning);
  EXPECT_NEAR(by_tasks[0].a, 505, 1e-6);
  EXPECT_NEAR(by_tasks[0].b, 2410 / 3.0, 1e-6);
  for (size_t i = 1; i < changes.size(); ++i) EXPECT_LE(changes[i].weight, changes[i - 1].weight);
}

TEST(CompareTraces, ASmallChangeDoesNotExceedTheSpread) {
  const std::vector<MetricChange> changes =
      Compare(Measure({300, 700, 300, 700}), Measure({320, 710, 300, 720}));
  ASSERT_FALSE(changes.empty());
  for (const MetricChange& change : changes) {
    ASSERT_TRUE(change.spread.has_value());
    EXPECT_GT(*change.spread, std::abs(change.b - change.a));
  }
}

TEST(CompareTraces, ComparesWindowsOfOneTrace) {
  const std::vector<int64_t> runs = {500, 500, 800, 800};
  const std::vector<MetricChange> changes =
      Compare(Measure(runs, {0, 2000}), Measure(runs, {2000, 4000}));
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].metric, TraceMetric::kRunning);
  EXPECT_NEAR(changes[0].a, 500e6, 1);
  EXPECT_NEAR(changes[0].b, 800e6, 1);
}

TEST(CompareTraces, ALatencyCountsAsMuchAsItsWaits) {
  // All waits are those of main.work.
  const Metrics a = Measure({500, 500});
  const Metrics b = Measure({500, 500}, {}, 20);
  const std::vector<MetricChange> changes = Compare(a, b);
  size_t latencies = 0;
  for (const MetricChange& change : changes) {
    if (IsSum(change.metric)) continue;
    ++latencies;
    EXPECT_EQ(change.a, 10);
    EXPECT_EQ(change.b, 20);
    EXPECT_EQ(change.weight, 0.5);
    EXPECT_NE(change.function, "main.idle");
  }
  EXPECT_EQ(latencies, 4);
  // There is nothing to compare with.
  for (const MetricChange& change : Compare(a, Measure({}))) EXPECT_TRUE(IsSum(change.metric));
}

TEST(CompareTraces, NeedsABase) {
  const Metrics a = Measure({500, 500});
  EXPECT_TRUE(Compare(a, Measure({}), MetricBase::kTask).empty());
  EXPECT_TRUE(Compare(a, a).empty());
}

TraceMetricValue FindPlace(const Metrics& metrics, TraceMetric metric, absl::string_view function,
                           absl::string_view reason) {
  for (const TraceMetricValue& value : metrics->values()) {
    if (value.metric == metric && metrics.names().String(value.function) == function &&
        metrics.names().String(value.reason) == reason) {
      return value;
    }
  }
  return {};
}

// A goroutine waits for a lock for `lock` ns, then 300 ns for a channel, and is in a syscall for 50
// ns, all in one function. One of the runtime waits for a P for 500 ns.
Metrics MeasurePlaces(int64_t lock) {
  using enum EventType;
  const StackFrame get = {2, "main.get", "/src/get.go", 7};
  const StackFrame work = {3, "main.work", "/src/work.go", 8};
  const StackFrame mutex[] = {{1, "sync.(*Mutex).Lock", "", 1}, get, work};
  const StackFrame receive[] = {{1, "runtime.chanrecv1", "", 1}, get, work};
  const StackFrame call[] = {{1, "syscall.Fsync", "", 1}, get, work};
  const StackFrame sweep[] = {{1, "runtime.bgsweep", "", 1}};
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGoStatusStack, 0)
                  .Transition(GoId{2}, GoState::kUndetermined, GoState::kWaiting)
                  .Stack(sweep));
  const auto block = [&](int64_t time, absl::string_view reason, absl::Span<const StackFrame> stack,
                         int64_t length) {
    events.Push(events.Builder(kGoBlock, time, 0, 1)
                    .Transition(GoId{1}, GoState::kRunning, GoState::kWaiting)
                    .Reason(reason)
                    .Stack(stack));
    events.GoBy(-1, kGoUnblock, time + length, 0, 1, GoState::kWaiting, GoState::kRunnable);
    events.Go(kGoStart, time + length + 10, 0, 1, GoState::kRunnable, GoState::kRunning);
  };
  block(100, "sync", mutex, lock);
  block(1000, "chan receive", receive, 300);
  events.Push(events.Builder(kGoSyscallBegin, 1500, 0, 1)
                  .Transition(GoId{1}, GoState::kRunning, GoState::kSyscall)
                  .Stack(call));
  events.Go(kGoSyscallEnd, 1550, 0, 1, GoState::kSyscall, GoState::kRunning);
  events.GoBy(1, kGoUnblock, 1600, 0, 2, GoState::kWaiting, GoState::kRunnable);
  events.Go(kGoStart, 2100, 1, 2, GoState::kRunnable, GoState::kRunning);
  events.Sync(3000, 2);
  Metrics metrics;
  metrics.sink->Add(events.events());
  EXPECT_TRUE(metrics.sink->Finish().ok());
  return metrics;
}

TEST(TraceMetrics, HaveWaitsByPlaceWithLocksApart) {
  const Metrics metrics = MeasurePlaces(200);
  const TraceMetricValue lock = FindPlace(metrics, TraceMetric::kLockWaits, "main.get", "sync");
  EXPECT_EQ(lock.value, 200);
  EXPECT_EQ(metrics.names().String(lock.library), "sync.(*Mutex).Lock");
  const TraceMetricValue other =
      FindPlace(metrics, TraceMetric::kOtherWaits, "main.get", "chan receive");
  EXPECT_EQ(other.value, 300);
  EXPECT_EQ(metrics.names().String(other.library), "");
  const TraceMetricValue call = FindPlace(metrics, TraceMetric::kCalls, "main.get", "");
  EXPECT_EQ(call.value, 50);
  EXPECT_EQ(metrics.names().String(call.library), "syscall.Fsync");
  EXPECT_EQ(Find(metrics, TraceMetric::kLockWaits, "(all)").value, 200);
  EXPECT_EQ(Find(metrics, TraceMetric::kOtherWaits, "(all)").value, 300);
  EXPECT_EQ(Find(metrics, TraceMetric::kCalls, "(all)").value, 50);
  // Waits of the runtime for a P have a row of their own.
  EXPECT_EQ(Find(metrics, TraceMetric::kLatencyP99, "(all)").value, 10);
  EXPECT_EQ(Find(metrics, TraceMetric::kLatencyP99, "(all)").count, 2);
  EXPECT_EQ(Find(metrics, TraceMetric::kLatencyP99, "runtime.bgsweep").value, 500);
}

// The lock takes three times as long, and nothing else differs in where goroutines wait.
TEST(CompareTraces, NamesTheLockThatTakesLonger) {
  const Metrics a = MeasurePlaces(200);
  const Metrics b = MeasurePlaces(600);
  size_t places = 0;
  for (const MetricChange& change : Compare(a, b)) {
    if (change.metric < TraceMetric::kLockWaits) continue;
    ++places;
    EXPECT_EQ(change.metric, TraceMetric::kLockWaits);
    EXPECT_NEAR(change.a, 200e9 / 3000, 1);
    EXPECT_NEAR(change.b, 600e9 / 3000, 1);
    EXPECT_NEAR(change.weight, 2 / 3.0, 1e-6);
    EXPECT_EQ(change.function, change.of_all ? "" : "main.get");
    EXPECT_EQ(change.library, change.of_all ? "" : "sync.(*Mutex).Lock");
    EXPECT_EQ(change.reason, change.of_all ? "" : "sync");
  }
  EXPECT_EQ(places, 2);
}

// Tasks of two types, of which one takes longer than before.
TEST(CompareTraces, HasTasksAndRegionsByType) {
  using enum EventType;
  const auto measure = [](int64_t length) {
    BuiltEvents events;
    events.Sync(0, 1);
    events.Go(kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kRunning);
    const auto task = [&](uint64_t id, absl::string_view type, int64_t begin, int64_t end) {
      events.Push(events.Builder(kUserTaskBegin, begin, 0, 1).Task(TaskId{id}).TaskType(type));
      if (type == "request") {
        events.Push(
            events.Builder(kUserRegionBegin, begin, 0, 1).Task(TaskId{id}).RegionType("all"));
        events.Push(events.Builder(kUserRegionEnd, end, 0, 1).Task(TaskId{id}).RegionType("all"));
      }
      events.Push(events.Builder(kUserTaskEnd, end, 0, 1).Task(TaskId{id}).TaskType(type));
    };
    for (uint64_t i = 0; i < 3; ++i) {
      const auto begin = static_cast<int64_t>(1000 * i);
      task(2 * i + 1, "request", begin + 10, begin + 10 + length);
      task(2 * i + 2, "audit", begin + 900, begin + 964);
    }
    events.Sync(4000, 2);
    Metrics metrics;
    metrics.sink->Add(events.events());
    EXPECT_TRUE(metrics.sink->Finish().ok());
    return metrics;
  };
  const Metrics a = measure(64);
  const Metrics b = measure(256);
  std::map<std::pair<TraceMetric, std::string>, std::pair<double, double>> found;
  for (const MetricChange& change : Compare(a, b)) {
    if (change.metric < TraceMetric::kTaskP50) continue;
    found[{change.metric, change.type}] = {change.a, change.b};
    EXPECT_FALSE(change.of_all);
    // Half of the tasks, and all of the regions, are of the type.
    EXPECT_NEAR(change.weight, change.type == "request" ? 0.375 : 0.75, 1e-9);
  }
  const std::map<std::pair<TraceMetric, std::string>, std::pair<double, double>> expected = {
      {{TraceMetric::kTaskP50, "request"}, {64, 256}},
      {{TraceMetric::kTaskP99, "request"}, {64, 256}},
      {{TraceMetric::kRegionP50, "all"}, {64, 256}},
      {{TraceMetric::kRegionP99, "all"}, {64, 256}},
  };
  EXPECT_EQ(found, expected);
}

TEST(TraceMetrics, HaveWhatWasAllocated) {
  const auto read = [](const std::string& name, EventSink* sink) {
    const std::string bytes = ReadTestTrace(name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    ASSERT_TRUE(ReadInto(*reader, {sink}).ok());
  };
  const Metrics metrics;
  read("go1.27-alloc.trace", metrics.sink.get());
  AnalysisSink heap(
      [](Interner* interner) {
        return std::make_unique<HeapStats>(interner, EventFilter::Times());
      },
      {});
  read("go1.27-alloc.trace", &heap);
  const HeapAmount allocated = static_cast<const HeapStats&>(heap.analysis()).total().allocated;
  EXPECT_GT(allocated.objects, 0u);
  EXPECT_EQ(Find(metrics, TraceMetric::kAllocatedObjects, "(all)").value, allocated.objects);
  EXPECT_EQ(Find(metrics, TraceMetric::kAllocatedBytes, "(all)").value, allocated.bytes);
  // Other traces do not say it.
  const Metrics others;
  read("go1.27-gc.trace", others.sink.get());
  for (const TraceMetricValue& value : others->values()) {
    EXPECT_NE(value.metric, TraceMetric::kAllocatedObjects);
  }
}

// What the events say, without any of the states that TraceMetrics keeps.
struct CollectionSums : EventSink {
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) {
      if (event.type() == EventType::kGCBegin) ++cycles;
      const bool begins = event.type() == EventType::kSTWBegin;
      if (!begins && event.type() != EventType::kSTWEnd) continue;
      if (!absl::StrContains(event.range_parts().reason, "GC")) continue;
      if (begins) begun.push_back(event.time());
      if (!begins && !begun.empty()) pauses += event.time() - std::exchange(begun, {}).back();
    }
  }
  absl::Status Finish() override { return absl::OkStatus(); }

  uint64_t cycles = 0;
  int64_t pauses = 0;
  std::vector<int64_t> begun;
};

TEST(TraceMetrics, HaveTheCyclesAndPausesOfTheCollector) {
  uint64_t cycles = 0;
  int64_t pauses = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const Metrics metrics;
    CollectionSums sums;
    ASSERT_TRUE(ReadInto(*reader, {metrics.sink.get(), &sums}).ok());
    EXPECT_EQ(Find(metrics, TraceMetric::kGcCycles, "(all)").value, sums.cycles);
    EXPECT_EQ(Find(metrics, TraceMetric::kGcPauses, "(all)").value, sums.pauses);
    cycles += sums.cycles;
    pauses += sums.pauses;
  }
  EXPECT_GT(cycles, 100u);
  EXPECT_GT(pauses, 1000000);
}

TEST(TraceMetrics, AreThoseOfGoroutineStats) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const Metrics metrics;
    const Finished<GoroutineStats> stats;
    ASSERT_TRUE(ReadInto(*reader, {metrics.sink.get(), stats.sink.get()}).ok());
    std::map<TraceMetric, uint64_t> sums;
    for (const GoroutineGroup& group : stats->groups()) {
      const std::string name(stats.names().String(group.name));
      const std::pair<TraceMetric, int64_t> expected[] = {
          {TraceMetric::kRunning, group.times.RunningWithStops()},
          {TraceMetric::kRunnable, group.times.RunnableWithStops()},
          {TraceMetric::kBlocked, group.times.BlockedTotal()},
          {TraceMetric::kSyscall, group.times.syscall + group.times.syscall_blocked},
      };
      for (const auto& [metric, time] : expected) {
        EXPECT_EQ(Find(metrics, metric, name).value, static_cast<uint64_t>(time))
            << TraceMetricName(metric) << " " << name;
        sums[metric] += static_cast<uint64_t>(time);
      }
    }
    for (const auto& [metric, sum] : sums) {
      EXPECT_EQ(Find(metrics, metric, "(all)").value, sum) << TraceMetricName(metric);
    }
    // A trace does not differ from itself.
    EXPECT_TRUE(Compare(metrics, metrics).empty());
  }
}

}  // namespace trace_metrics_test
}  // namespace gotrace::internal
