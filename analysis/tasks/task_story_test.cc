#include "gotrace/task_story.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "gotrace/event_kind.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace task_story_test {

std::unique_ptr<AnalysisSink> MakeSink(TaskId task, EventFilter::Times window = {}) {
  AnalysisSink::Options options;
  options.window = window;
  return std::make_unique<AnalysisSink>(
      [=](Interner* interner) { return std::make_unique<TaskStory>(interner, task, window); },
      options);
}

absl::Span<const StoryRow> RowsOf(const AnalysisSink& sink) {
  return static_cast<const TaskStory&>(sink.analysis()).rows();
}

std::string TextOf(const AnalysisSink& sink) {
  constexpr absl::string_view kNames[] = {"task+",   "task-",   "child+", "child-",
                                          "region+", "region-", "log",    ""};
  const Interner& interner = sink.interner();
  std::string text;
  for (const StoryRow& row : RowsOf(sink)) {
    absl::StrAppend(&text, row.begin);
    if (row.kind == StoryKind::kState) {
      absl::StrAppend(&text, "-", row.end, " G", row.goroutine.value, " ", GoStateName(row.state),
                      " ", interner.String(row.reason));
      if (row.woken_by.kind != CauseKind::kUnknown) {
        absl::StrAppend(&text, " by ", CauseKindName(row.woken_by.kind), " ",
                        row.woken_by.goroutine.value);
      }
    } else {
      absl::StrAppend(&text, " G", row.goroutine.value, " ", kNames[static_cast<int>(row.kind)],
                      " ", interner.String(row.category), interner.String(row.text));
      if (row.child != TaskId::kNone) absl::StrAppend(&text, " ", row.child.value);
    }
    text += "\n";
  }
  return text;
}

TEST(TaskStory, ShowsStopsOfTheWorld) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kUserTaskBegin, 10, 0, 1).Task(TaskId{7}).TaskType("request"));
  events.Push(events.Builder(kSTWBegin, 12, 0, 1).Reason("read mem stats"));
  events.Push(events.Builder(kSTWEnd, 15, 0, 1).Reason("read mem stats"));
  events.Push(events.Builder(kUserTaskEnd, 20, 0, 1).Task(TaskId{7}).TaskType("request"));
  events.Sync(30, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink(TaskId{7});
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(TextOf(*sink),
            "10 G1 task+ request\n"
            "10-12 G1 Running \n"
            "12-15 G1 Running world stopped (read mem stats)\n"
            "15-20 G1 Running \n"
            "20 G1 task- request\n");
}

// The events of a task with two goroutines. G 1 begins task 7, which G 2 ends.
BuiltEvents MakeEvents() {
  BuiltEvents events;
  using enum EventType;
  constexpr GoState kRunnable = GoState::kRunnable;
  constexpr GoState kRunning = GoState::kRunning;
  constexpr GoState kWaiting = GoState::kWaiting;
  const auto builder = [&](EventType type, int64_t time, int64_t g) {
    return events.Builder(type, time, /*p=*/g, g).Thread(ThreadId{g});
  };
  const auto push = [&](const EventBuilder& made) { events.Push(made); };
  const auto region = [&](EventType type, int64_t time, int64_t g, uint64_t task) {
    push(builder(type, time, g).Task(TaskId{task}).RegionType(task == 7 ? "query" : "other"));
  };
  events.Sync(0, 1);
  push(builder(kGoStatus, 1, 1).Transition(GoId{1}, GoState::kUndetermined, kRunning));
  push(builder(kGoStatus, 1, 2).Transition(GoId{2}, GoState::kUndetermined, kRunning));
  push(builder(kUserTaskBegin, 10, 1).Task(TaskId{7}).TaskType("request"));
  region(kUserRegionBegin, 11, 2, 9);
  push(builder(kGoBlock, 12, 1).Transition(GoId{1}, kRunning, kWaiting).Reason("chan receive"));
  region(kUserRegionBegin, 13, 2, 7);
  push(builder(kUserTaskBegin, 14, 2).Task(TaskId{8}).Parent(TaskId{7}).TaskType("part"));
  region(kUserRegionBegin, 15, 2, 9);
  push(builder(kGoUnblock, 16, 2).Transition(GoId{1}, kWaiting, kRunnable));
  region(kUserRegionEnd, 17, 2, 9);
  push(builder(kUserTaskEnd, 18, 2).Task(TaskId{8}).Parent(TaskId{7}).TaskType("part"));
  push(builder(kGoStart, 19, 1).Goroutine(GoId::kNone).Transition(GoId{1}, kRunnable, kRunning));
  push(builder(kUserLog, 20, 1).Task(TaskId{7}).Log("note", "done"));
  push(builder(kUserLog, 20, 1).Task(TaskId{9}).Log("note", "of another task"));
  region(kUserRegionEnd, 21, 2, 7);
  region(kUserRegionEnd, 22, 2, 9);
  push(builder(kUserTaskEnd, 25, 2).Task(TaskId{7}).TaskType("request"));
  push(builder(kGoStop, 30, 1).Transition(GoId{1}, kRunning, kRunnable).Reason("preempted"));
  return events;
}

TEST(TaskStory, TellsWhatHappenedInOrder) {
  const std::unique_ptr<AnalysisSink> sink = MakeSink(TaskId{7});
  sink->Add(MakeEvents().events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(TextOf(*sink),
            "10 G1 task+ request\n"
            "10-12 G1 Running \n"
            "12-16 G1 Waiting chan receive by goroutine 2\n"
            "13 G2 region+ query\n"
            "13-21 G2 Running \n"
            "14 G2 child+ part 8\n"
            "16-19 G1 Runnable \n"
            "18 G2 child- part 8\n"
            "19-25 G1 Running \n"
            "20 G1 log notedone\n"
            "21 G2 region- query\n"
            "25 G2 task- request\n");
}

TEST(TaskStory, IsCutToTheWindow) {
  const std::unique_ptr<AnalysisSink> sink = MakeSink(TaskId{7}, {15, 20});
  sink->Add(MakeEvents().events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(TextOf(*sink),
            "15-16 G1 Waiting chan receive by goroutine 2\n"
            "15-20 G2 Running \n"
            "16-19 G1 Runnable \n"
            "18 G2 child- part 8\n"
            "19-20 G1 Running \n"
            "20 G1 log notedone\n");
}

// Counts what belongs to a task.
struct TaskEvents final : public EventSink {
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) {
      const EventKind kind = event.kind();
      if (kind == EventKind::kTaskBegin || kind == EventKind::kTaskEnd) {
        count += event.task().id == task || event.task().parent == task;
        if (event.task().id == task) {
          if (kind == EventKind::kTaskBegin) {
            begin = event.time();
            goroutine = event.goroutine();
          } else if (end == 0) {
            end = event.time();
          }
        }
      } else if (kind == EventKind::kRegionBegin || kind == EventKind::kRegionEnd) {
        count += event.region().task == task;
      } else if (kind == EventKind::kLog) {
        count += event.log().task == task;
      }
    }
  }
  absl::Status Finish() override { return absl::OkStatus(); }

  TaskId task;
  uint64_t count = 0;
  int64_t begin = 0;
  int64_t end = 0;
  GoId goroutine;
};

// The first tasks of each trace: all of their events are there, and the states of the goroutine
// that began the task partition its time.
TEST(TaskStory, IsComplete) {
  uint64_t whole_tasks = 0;
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    for (uint64_t id = 1; id < 12; ++id) {
      SCOPED_TRACE(absl::StrCat(test.name, " ", id));
      absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
      ASSERT_TRUE(reader.ok());
      const std::unique_ptr<AnalysisSink> sink = MakeSink(TaskId{id});
      TaskEvents expected;
      expected.task = TaskId{id};
      ASSERT_TRUE(ReadInto(*reader, {sink.get(), &expected}).ok());
      uint64_t count = 0;
      int64_t last = INT64_MIN;
      int64_t in_states = 0;
      for (const StoryRow& row : RowsOf(*sink)) {
        EXPECT_GE(row.begin, last);
        last = row.begin;
        if (row.kind != StoryKind::kState) {
          ++count;
        } else if (row.goroutine == expected.goroutine) {
          // Its regions may last longer than the task.
          in_states += std::max<int64_t>(0, std::min(row.end, expected.end) - row.begin);
        }
      }
      EXPECT_EQ(count, expected.count);
      if (expected.count == 0) break;
      if (expected.begin == 0 || expected.end == 0) continue;
      ++whole_tasks;
      EXPECT_EQ(in_states, expected.end - expected.begin);
    }
  }
  EXPECT_GT(whole_tasks, 40);
}

}  // namespace task_story_test
}  // namespace gotrace::internal
