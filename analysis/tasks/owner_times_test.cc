#include "analysis/tasks/owner_times.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "gotrace/analysis.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace owner_times_test {

class OwnerAnalysis final : public Analysis {
 public:
  explicit OwnerAnalysis(const EventFilter& filter) : times_(filter) {}

  void AddEvents(absl::Span<const Event> events) override { times_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { times_.AddGoroutine(interval); }
  void Finish(int64_t /*end*/) override { times_.Finish(); }

  const OwnerTimes& times() const { return times_; }

 private:
  OwnerTimes times_;
};

// Task 7 is on goroutine 1 from 10 to 50, task 8 from 40 until goroutine 2 ends it at 60, and task
// 9 from 70 on. The begin of task 5 is missing. Goroutine 1 sleeps from 20 to 30, and waits for a P
// until 35. Goroutine 3 begins task 6 at 62, and ends at 66.
BuiltEvents FiveTasks() {
  using enum EventType;
  BuiltEvents events;
  const auto task = [&](EventType type, int64_t time, int64_t p, int64_t g, uint64_t id) {
    events.Push(events.Builder(type, time, p, g).Task(TaskId{id}).TaskType("request"));
  };
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 2, 1, 2, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 3, 2, 3, GoState::kUndetermined, GoState::kRunning);
  task(kUserTaskEnd, 5, 1, 2, 5);
  task(kUserTaskBegin, 10, 0, 1, 7);
  events.Go(kGoBlock, 20, 0, 1, GoState::kRunning, GoState::kWaiting, "sleep");
  events.GoBy(-1, kGoUnblock, 30, 0, 1, GoState::kWaiting, GoState::kRunnable);
  events.Go(kGoStart, 35, 0, 1, GoState::kRunnable, GoState::kRunning);
  task(kUserTaskBegin, 40, 0, 1, 8);
  task(kUserTaskEnd, 50, 0, 1, 7);
  task(kUserTaskEnd, 60, 1, 2, 8);
  task(kUserTaskBegin, 62, 2, 3, 6);
  events.Go(kGoDestroy, 66, 2, 3, GoState::kRunning, GoState::kNotExist);
  task(kUserTaskEnd, 68, 1, 2, 6);
  task(kUserTaskBegin, 70, 0, 1, 9);
  events.Sync(80, 2);
  return events;
}

// The times of each task: in all, running, ready to run, and blocked.
std::string TimesOf(const EventFilter& filter, EventFilter::Times window = {}) {
  AnalysisSink::Options options;
  options.window = window;
  AnalysisSink sink([&](Interner*) { return std::make_unique<OwnerAnalysis>(filter); }, options);
  const BuiltEvents events = FiveTasks();
  sink.Add(events.events());
  EXPECT_TRUE(sink.Finish().ok());
  std::string text;
  for (uint64_t id = 5; id <= 9; ++id) {
    const ExecutionTimes* const times =
        static_cast<const OwnerAnalysis&>(sink.analysis()).times().Find(TaskId{id});
    if (times == nullptr) continue;
    absl::StrAppend(&text, id, ": ", times->total, " ", times->running, " ", times->runnable);
    for (const NamedTime& reason : times->blocked) {
      absl::StrAppend(&text, " ", sink.interner().String(reason.name), " ", reason.time);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

TEST(OwnerTimes, AreThoseOfWhoBeganTheTask) {
  EXPECT_EQ(TimesOf({}),
            "6: 4 4 0\n"
            "7: 40 25 5 sleep 10\n"
            "8: 20 20 0\n"
            "9: 10 10 0\n");
}

TEST(OwnerTimes, AreOnlyOfSelectedGoroutines) {
  EventFilter filter;
  filter.goroutines = {GoId{3}};
  EXPECT_EQ(TimesOf(filter), "6: 4 4 0\n");
}

TEST(OwnerTimes, AreCutToTheWindow) {
  EXPECT_EQ(TimesOf({}, {.from = 25, .to = 45}),
            "6: 0 0 0\n"
            "7: 20 10 5 sleep 5\n"
            "8: 5 5 0\n"
            "9: 0 0 0\n");
}

}  // namespace owner_times_test
}  // namespace gotrace::internal
