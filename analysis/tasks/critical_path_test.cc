#include "gotrace/critical_path.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/intervals/interval_log.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace critical_path_test {

std::unique_ptr<AnalysisSink> MakeSink(EventFilter::Times window = {}) {
  AnalysisSink::Options options;
  options.window = window;
  const CriticalPaths::Options path_options = {.window = window, .keep_procs = true};
  return std::make_unique<AnalysisSink>(
      [=](Interner* interner) { return std::make_unique<CriticalPaths>(interner, path_options); },
      options);
}

const CriticalPaths& PathsOf(const AnalysisSink& sink) {
  return static_cast<const CriticalPaths&>(sink.analysis());
}

// One line for each piece.
std::string TextOf(absl::Span<const PathPiece> pieces, const Interner& interner) {
  std::string text;
  for (const PathPiece& piece : pieces) {
    absl::StrAppend(&text, piece.begin, "-", piece.end, " G", piece.goroutine.value, " ",
                    GoStateName(piece.state));
    if (piece.reason != StringId::kEmpty) {
      absl::StrAppend(&text, " (", interner.String(piece.reason), ")");
    }
    if (piece.woken_by != CauseKind::kUnknown) {
      absl::StrAppend(&text, " by ", CauseKindName(piece.woken_by));
    }
    if (piece.region != StringId::kEmpty) {
      absl::StrAppend(&text, " in ", interner.String(piece.region));
    }
    absl::StrAppend(&text, " depth ", piece.depth);
    if (piece.stack != StackId::kNone) {
      const FrameId leaf = interner.Frames(piece.stack).front();
      absl::StrAppend(&text, " at ", interner.Frame(leaf).func);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// Builds the events of goroutines, all of which are on P 0 and thread 1 whenever they run.
class Events : public BuiltEvents {
 public:
  explicit Events(int64_t begin) { Sync(begin, 1); }

  EventBuilder Builder(EventType type, int64_t time, int64_t g) {
    return BuiltEvents::Builder(type, time, /*p=*/0, g);
  }

  void Status(int64_t time, int64_t g, GoState state) {
    Push(Builder(EventType::kGoStatus, time, g).Transition(GoId{g}, GoState::kUndetermined, state));
  }
  void Start(int64_t time, int64_t g) {
    Push(Builder(EventType::kGoStart, time, -1)
             .Transition(GoId{g}, GoState::kRunnable, GoState::kRunning));
  }
  void Block(int64_t time, int64_t g, absl::string_view reason, absl::string_view func = "") {
    EventBuilder builder = Builder(EventType::kGoBlock, time, g);
    builder.Transition(GoId{g}, GoState::kRunning, GoState::kWaiting).Reason(reason);
    AddStack(func, &builder);
    Push(builder);
  }
  void Stop(int64_t time, int64_t g) {
    Push(Builder(EventType::kGoStop, time, g)
             .Transition(GoId{g}, GoState::kRunning, GoState::kRunnable)
             .Reason("preempted"));
  }
  // If `by` is -1, no goroutine wakes it up.
  void Wake(int64_t time, int64_t g, int64_t by, absl::string_view func = "") {
    EventBuilder builder = Builder(EventType::kGoUnblock, time, by);
    builder.Transition(GoId{g}, GoState::kWaiting, GoState::kRunnable);
    AddStack(func, &builder);
    Push(builder);
  }
  void Create(int64_t time, int64_t g, int64_t by, absl::string_view func = "") {
    EventBuilder builder = Builder(EventType::kGoCreate, time, by);
    builder.Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable);
    AddStack(func, &builder);
    Push(builder);
  }
  void Task(EventType type, int64_t time, int64_t g, uint64_t id) {
    Push(Builder(type, time, g).Task(TaskId{id}).TaskType("request"));
  }
  // A region of task 7, in a function that is named after the time.
  void Region(EventType type, int64_t time, int64_t g, absl::string_view name) {
    const std::string function = absl::StrCat("at", time);
    const StackFrame frames[] = {{1, function, "main.go", 1}};
    Push(Builder(type, time, g).Task(TaskId{7}).RegionType(name).Stack(frames));
  }
  void BeginTask(int64_t time, int64_t g) { Task(EventType::kUserTaskBegin, time, g, 1); }
  void EndTask(int64_t time, int64_t g) { Task(EventType::kUserTaskEnd, time, g, 1); }

  std::unique_ptr<AnalysisSink> Run(EventFilter::Times window = {}) {
    std::unique_ptr<AnalysisSink> sink = MakeSink(window);
    sink->Add(events());
    EXPECT_TRUE(sink->Finish().ok());
    return sink;
  }

  // The path of the only task.
  std::string TaskPath(EventFilter::Times window = {}) {
    const std::unique_ptr<AnalysisSink> sink = Run(window);
    const absl::Span<const PathSpan> tasks = PathsOf(*sink).tasks();
    if (tasks.size() != 1) return absl::StrCat(tasks.size(), " tasks");
    return TextOf(PathsOf(*sink).Find(tasks[0]), sink->interner());
  }

 private:
  static void AddStack(absl::string_view func, EventBuilder* builder) {
    if (func.empty()) return;
    const StackFrame frames[] = {{1, func, "main.go", 1}};
    builder->Stack(frames);
  }
};

constexpr GoState kRunnable = GoState::kRunnable;
constexpr GoState kRunning = GoState::kRunning;
constexpr GoState kWaiting = GoState::kWaiting;

TEST(CriticalPaths, FollowWhatWokeTheGoroutineUp) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kRunnable);
  events.BeginTask(10, 1);
  events.Block(20, 1, "chan receive", "main.receive");
  events.Start(22, 2);
  events.Wake(30, 1, /*by=*/2, "main.send");
  events.Block(35, 2, "sleep");
  events.Start(40, 1);
  events.EndTask(50, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-20 G1 Running depth 0 at main.receive\n"
            "20-22 G2 Runnable depth 1\n"
            "22-30 G2 Running depth 1 at main.send\n"
            "30-40 G1 Runnable depth 0 at main.receive\n"
            "40-50 G1 Running depth 0\n");
}

// G 3 wakes up G 2, which wakes up G 1. G 3 is followed only as long as G 2 waited, and G 2 only as
// long as G 1 waited.
TEST(CriticalPaths, FollowAChainOfWakers) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kWaiting);
  events.Status(3, 3, kRunnable);
  events.BeginTask(10, 1);
  events.Wake(12, 2, /*by=*/1);
  events.Block(20, 1, "chan receive");
  events.Start(24, 2);
  events.Block(30, 2, "sync");
  events.Start(33, 3);
  events.Wake(40, 2, /*by=*/3);
  events.Stop(45, 3);
  events.Start(46, 2);
  events.Wake(60, 1, /*by=*/2);
  events.Block(62, 2, "sync");
  events.Start(70, 1);
  events.EndTask(71, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-20 G1 Running depth 0\n"
            "20-24 G2 Runnable depth 1\n"
            "24-30 G2 Running depth 1\n"
            "30-33 G3 Runnable depth 2\n"
            "33-40 G3 Running depth 2\n"
            "40-46 G2 Runnable depth 1\n"
            "46-60 G2 Running depth 1\n"
            "60-70 G1 Runnable depth 0\n"
            "70-71 G1 Running depth 0\n");
}

// Before the waker existed, the path is on its creator.
TEST(CriticalPaths, ContinueWithTheCreatorOfANewGoroutine) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kRunnable);
  events.BeginTask(10, 1);
  events.Block(20, 1, "sync");
  events.Start(21, 2);
  events.Create(30, 3, /*by=*/2, "main.start");
  events.Stop(31, 2);
  events.Start(35, 3);
  events.Wake(40, 1, /*by=*/3);
  events.Block(41, 3, "sleep");
  events.Start(42, 1);
  events.EndTask(50, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-20 G1 Running depth 0\n"
            "20-21 G2 Runnable depth 2\n"
            "21-30 G2 Running depth 2 at main.start\n"
            "30-35 G3 Runnable depth 1\n"
            "35-40 G3 Running depth 1\n"
            "40-42 G1 Runnable depth 0\n"
            "42-50 G1 Running depth 0\n");
}

// The task begins on G 1 and ends on G 2, which G 1 created in the task.
TEST(CriticalPaths, ReachATasksBeginOnAnotherGoroutine) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.BeginTask(10, 1);
  events.Create(15, 2, /*by=*/1, "main.handle");
  events.Block(18, 1, "select");
  events.Start(20, 2);
  events.EndTask(30, 2);
  EXPECT_EQ(events.TaskPath(),
            "10-15 G1 Running depth 1 at main.handle\n"
            "15-20 G2 Runnable depth 0\n"
            "20-30 G2 Running depth 0\n");
}

TEST(CriticalPaths, EndWhereNoGoroutineIsTheCause) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.BeginTask(10, 1);
  events.Block(20, 1, "network", "net.Read");
  events.Wake(30, 1, /*by=*/-1);
  events.Start(31, 1);
  events.Block(40, 1, "sleep");
  events.Wake(50, 1, /*by=*/-1);
  events.Start(51, 1);
  events.EndTask(60, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-20 G1 Running depth 0 at net.Read\n"
            "20-30 G1 Waiting (network) by network depth 0 at net.Read\n"
            "30-31 G1 Runnable depth 0 at net.Read\n"
            "31-40 G1 Running depth 0\n"
            "40-50 G1 Waiting (sleep) by timer depth 0\n"
            "50-51 G1 Runnable depth 0\n"
            "51-60 G1 Running depth 0\n");
}

// The task begins before the trace, and the waker's first status is in the middle of it.
TEST(CriticalPaths, AreCutToTheTrace) {
  Events events(5);
  events.Status(6, 1, kWaiting);
  events.Start(15, 2);
  events.Wake(20, 1, /*by=*/2);
  events.Stop(21, 2);
  events.Start(25, 1);
  events.EndTask(30, 1);
  EXPECT_EQ(events.TaskPath(),
            "5-15 G2 Undetermined depth 1\n"
            "15-20 G2 Running depth 1\n"
            "20-25 G1 Runnable depth 0\n"
            "25-30 G1 Running depth 0\n");
}

// A goroutine that is not seen before the second generation was somewhere before.
TEST(CriticalPaths, StayOnAGoroutineThatIsSeenLate) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.BeginTask(10, 1);
  events.Block(20, 1, "sync");
  events.Sync(30, 2);
  events.Push(events.Builder(EventType::kGoStatus, 31, 2).Transition(GoId{2}, kRunning, kRunning));
  events.Wake(40, 1, /*by=*/2);
  events.Start(45, 1);
  events.EndTask(50, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-20 G1 Running depth 0\n"
            "20-30 G2 Undetermined depth 1\n"
            "30-40 G2 Running depth 1\n"
            "40-45 G1 Runnable depth 0\n"
            "45-50 G1 Running depth 0\n");
}

TEST(CriticalPaths, AreCutToTheWindow) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kRunnable);
  events.BeginTask(10, 1);
  events.Block(20, 1, "sync");
  events.Start(22, 2);
  events.Wake(30, 1, /*by=*/2);
  events.Stop(31, 2);
  events.Start(35, 1);
  events.EndTask(40, 1);
  EXPECT_EQ(events.TaskPath({25, 38}),
            "25-30 G2 Running depth 1\n"
            "30-35 G1 Runnable depth 0\n"
            "35-38 G1 Running depth 0\n");
  // It is not known what will wake it up.
  EXPECT_EQ(events.TaskPath({15, 29}),
            "15-20 G1 Running depth 0\n"
            "20-29 G1 Waiting (sync) depth 0\n");
  EXPECT_EQ(events.TaskPath({50, 60}), "0 tasks");
}

// What woke the goroutine up after the end of the span is not a cause of what was before.
TEST(CriticalPaths, MayEndInAWait) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kRunning);
  events.Block(20, 1, "sync");
  events.Wake(30, 1, /*by=*/2);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  PathSpan span;
  span.goroutine = GoId{1};
  span.begin = 10;
  span.end = 25;
  EXPECT_EQ(TextOf(PathsOf(*sink).Find(span), sink->interner()),
            "10-20 G1 Running depth 0\n"
            "20-25 G1 Waiting (sync) depth 0\n");
  span.end = span.begin;
  EXPECT_TRUE(PathsOf(*sink).Find(span).empty());
}

TEST(CriticalPaths, ShowMarkAssists) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.BeginTask(10, 1);
  events.Push(events.Builder(EventType::kGCMarkAssistBegin, 12, 1));
  events.Push(events.Builder(EventType::kGCMarkAssistEnd, 15, 1));
  events.Push(events.Builder(EventType::kGCMarkAssistBegin, 18, 1));
  events.Block(20, 1, "GC mark assist wait for work");
  events.Wake(25, 1, /*by=*/-1);
  events.Start(26, 1);
  events.Push(events.Builder(EventType::kGCMarkAssistEnd, 28, 1));
  events.EndTask(30, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-12 G1 Running depth 0\n"
            "12-15 G1 Running (GC mark assist) depth 0\n"
            "15-18 G1 Running depth 0\n"
            "18-20 G1 Running (GC mark assist) depth 0\n"
            "20-25 G1 Waiting (GC mark assist wait for work) by garbage collector depth 0\n"
            "25-26 G1 Runnable depth 0\n"
            "26-28 G1 Running (GC mark assist) depth 0\n"
            "28-30 G1 Running depth 0\n");
}

// A goroutine stops the world in an assist, and is ready when another one does.
TEST(CriticalPaths, ShowStopsOfTheWorld) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.BeginTask(5, 1);
  events.Push(events.Builder(EventType::kGCMarkAssistBegin, 7, 1));
  events.Push(events.Builder(EventType::kSTWBegin, 10, 1)
                  .Reason("read mem stats")
                  .Stack({{1, "main.stats", "main.go", 1}}));
  events.Push(events.Builder(EventType::kSTWEnd, 30, 1));
  events.Push(events.Builder(EventType::kGCMarkAssistEnd, 32, 1));
  events.Stop(35, 1);
  events.Push(events.Builder(EventType::kSTWBegin, 40, 2).Reason("GC sweep termination"));
  events.Push(events.Builder(EventType::kSTWEnd, 50, 2));
  events.Start(55, 1);
  events.EndTask(60, 1);
  EXPECT_EQ(events.TaskPath(),
            "5-7 G1 Running depth 0\n"
            "7-10 G1 Running (GC mark assist) depth 0\n"
            "10-30 G1 Running (world stopped (read mem stats)) depth 0 at main.stats\n"
            "30-32 G1 Running (GC mark assist) depth 0\n"
            "32-35 G1 Running depth 0\n"
            "35-40 G1 Runnable (preempted) depth 0\n"
            "40-50 G1 Runnable (world stopped (GC sweep termination)) depth 0\n"
            "50-55 G1 Runnable (preempted) depth 0\n"
            "55-60 G1 Running depth 0\n");
}

// Its begin is missing, so it may have been there since the trace began.
TEST(CriticalPaths, ShowAMarkAssistThatOnlyEnds) {
  Events events(1);
  events.Status(2, 1, kRunning);
  events.BeginTask(10, 1);
  events.Sync(20, 2);
  events.Push(events.Builder(EventType::kGCMarkAssistEnd, 25, 1));
  events.EndTask(30, 1);
  EXPECT_EQ(events.TaskPath(),
            "10-25 G1 Running (GC mark assist) depth 0\n"
            "25-30 G1 Running depth 0\n");
}

TEST(CriticalPaths, SayWhatHadThePs) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Status(2, 2, kRunnable);
  events.Status(3, 3, kRunnable);
  events.Stop(10, 1);
  events.Start(11, 2);
  events.Stop(20, 2);
  events.Start(21, 3);
  events.Stop(40, 3);
  events.Start(41, 1);
  events.Sync(50, 2);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  const std::optional<PathSpan> span = PathsOf(*sink).SpanOf(GoId{1});
  ASSERT_TRUE(span.has_value());
  const std::vector<PathPiece> pieces = PathsOf(*sink).Find(*span);
  EXPECT_EQ(TextOf(pieces, sink->interner()),
            "0-10 G1 Running depth 0\n"
            "10-41 G1 Runnable (preempted) depth 0\n"
            "41-50 G1 Running depth 0\n");
  const std::vector<std::vector<GoroutineTime>> had = PathsOf(*sink).HadProcsDuring(pieces);
  ASSERT_EQ(had.size(), 3);
  EXPECT_TRUE(had[0].empty());
  ASSERT_EQ(had[1].size(), 2);
  EXPECT_EQ(had[1][0].goroutine, GoId{3});
  EXPECT_EQ(had[1][0].time, 19);
  EXPECT_EQ(had[1][1].goroutine, GoId{2});
  EXPECT_EQ(had[1][1].time, 9);
  EXPECT_FALSE(PathsOf(*sink).SpanOf(GoId{9}).has_value());
}

// Where two goroutines that wait are said to have woken each other up, the path stays on one.
TEST(CriticalPaths, DoNotGoInCircles) {
  Events events(0);
  events.Status(1, 1, kWaiting);
  events.Status(2, 2, kWaiting);
  events.Wake(10, 1, /*by=*/2);
  events.Wake(10, 2, /*by=*/1);
  events.Start(11, 1);
  events.EndTask(20, 1);
  EXPECT_EQ(events.TaskPath(),
            "0-10 G1 Waiting by goroutine depth 0\n"
            "10-11 G1 Runnable depth 0\n"
            "11-20 G1 Running depth 0\n");
}

TEST(CriticalPaths, LeaveOutAGoroutineWithoutAnId) {
  Events events(0);
  events.Status(1, -1, kRunning);
  events.Status(2, 1, kWaiting);
  events.Wake(10, 1, /*by=*/-1);
  events.Start(11, 1);
  events.EndTask(20, 1);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  EXPECT_FALSE(PathsOf(*sink).SpanOf(GoId::kNone).has_value());
  EXPECT_EQ(PathsOf(*sink).Find(PathsOf(*sink).tasks()[0]).size(), 3);
}

// Each goroutine waits for the next one, from the first to the last.
TEST(CriticalPaths, CanBeDeep) {
  constexpr int64_t kGoroutines = 100'000;
  Events events(0);
  for (int64_t g = 1; g <= kGoroutines; ++g) {
    events.Status(g, g, g == 1 ? kRunning : kRunnable);
  }
  int64_t time = kGoroutines + 1;
  events.BeginTask(time++, 1);
  for (int64_t g = 1; g < kGoroutines; ++g) {
    events.Block(time++, g, "sync");
    events.Start(time++, g + 1);
  }
  for (int64_t g = kGoroutines; g > 1; --g) {
    events.Wake(time++, g - 1, /*by=*/g);
    events.Stop(time++, g);
    events.Start(time++, g - 1);
  }
  events.EndTask(time, 1);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  const std::vector<PathPiece> pieces = PathsOf(*sink).Find(PathsOf(*sink).tasks()[0]);
  // G 1 runs; each waker is first ready to run, runs, ...
  ASSERT_EQ(pieces.size(), 4 * kGoroutines - 3);
  uint64_t deepest = 0;
  for (const PathPiece& piece : pieces) deepest = std::max(deepest, piece.depth);
  EXPECT_EQ(deepest, kGoroutines - 1);
}

TEST(CriticalPaths, AreAddedUpToALimit) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Stop(10, 1);
  events.Start(20, 1);
  events.Sync(30, 2);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  const std::vector<PathSpan> spans(5, *PathsOf(*sink).SpanOf(GoId{1}));
  const PathSum sum = PathsOf(*sink).Sum(spans, /*max_pieces=*/4);
  EXPECT_EQ(sum.paths, 2);
  ASSERT_EQ(sum.samples.size(), 2);
  EXPECT_EQ(sum.samples[0].key.state, kRunning);
  EXPECT_EQ(sum.samples[0].value.count, 4);
  EXPECT_EQ(sum.samples[0].value.time, 40);
  EXPECT_EQ(sum.samples[1].key.state, kRunnable);
  EXPECT_EQ(sum.samples[1].value.time, 20);
  EXPECT_EQ(PathsOf(*sink).Sum(spans, UINT64_MAX).paths, 5);
}

TEST(CriticalPaths, HaveRegions) {
  Events events(0);
  events.Status(1, 1, kRunning);
  const auto region = [&](EventType type, int64_t time, absl::string_view name) {
    events.Region(type, time, 1, name);
  };
  region(EventType::kUserRegionEnd, 5, "before");
  region(EventType::kUserRegionBegin, 10, "outer");
  region(EventType::kUserRegionBegin, 12, "inner");
  region(EventType::kUserRegionBegin, 14, "outer");
  region(EventType::kUserRegionEnd, 16, "outer");
  region(EventType::kUserRegionEnd, 18, "inner");
  region(EventType::kUserRegionEnd, 20, "outer");
  region(EventType::kUserRegionBegin, 22, "outer");
  events.Sync(30, 2);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  std::string text;
  for (const PathSpan& span : PathsOf(*sink).regions()) {
    absl::StrAppend(&text, sink->interner().String(span.type), " ", span.begin, "-", span.end,
                    span.begin_clipped ? " begin clipped" : "",
                    span.end_clipped ? " end clipped" : "", span.is_nested ? " nested" : "");
    for (const FrameId id : sink->interner().Frames(span.end_stack)) {
      absl::StrAppend(&text, " ", sink->interner().Frame(id).func);
    }
    absl::StrAppend(&text, "\n");
    EXPECT_EQ(span.task, TaskId{7});
  }
  EXPECT_EQ(text,
            "before 0-5 begin clipped at5\n"
            "outer 14-16 nested at16\n"
            "inner 12-18 at18\n"
            "outer 10-20 at20\n"
            "outer 22-30 end clipped\n");
}

std::unique_ptr<AnalysisSink> RunByRegion(const Events& events) {
  auto sink = std::make_unique<AnalysisSink>(
      [](Interner* interner) {
        const CriticalPaths::Options options = {
            .window = {}, .keep_procs = false, .by_region = true};
        return std::make_unique<CriticalPaths>(interner, options);
      },
      AnalysisSink::Options());
  sink->Add(events.events());
  EXPECT_TRUE(sink->Finish().ok());
  return sink;
}

TEST(CriticalPaths, AreCutWhereRegionsChange) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Region(EventType::kUserRegionEnd, 6, 1, "older");
  events.BeginTask(10, 1);
  events.Region(EventType::kUserRegionBegin, 12, 1, "query");
  events.Region(EventType::kUserRegionBegin, 14, 1, "parse");
  events.Region(EventType::kUserRegionBegin, 15, 1, "parse");
  events.Region(EventType::kUserRegionEnd, 16, 1, "parse");
  events.Region(EventType::kUserRegionEnd, 17, 1, "parse");
  events.Block(18, 1, "sleep", "main.sleep");
  events.Wake(25, 1, /*by=*/-1);
  events.Start(26, 1);
  events.Region(EventType::kUserRegionEnd, 28, 1, "query");
  events.EndTask(30, 1);
  const std::unique_ptr<AnalysisSink> sink = RunByRegion(events);
  const CriticalPaths& paths = PathsOf(*sink);
  ASSERT_EQ(paths.tasks().size(), 1);
  EXPECT_EQ(TextOf(paths.Find(paths.tasks()[0]), sink->interner()),
            "10-12 G1 Running depth 0 at at12\n"
            "12-14 G1 Running in query depth 0 at at14\n"
            "14-17 G1 Running in parse depth 0 at at17\n"
            "17-18 G1 Running in query depth 0 at main.sleep\n"
            "18-25 G1 Waiting (sleep) by timer depth 0 at main.sleep\n"
            "25-26 G1 Runnable depth 0 at main.sleep\n"
            "26-28 G1 Running in query depth 0 at at28\n"
            "28-30 G1 Running depth 0\n");
  // The goroutine was in the older region from the beginning.
  const std::optional<PathSpan> goroutine = paths.SpanOf(GoId{1});
  ASSERT_TRUE(goroutine.has_value());
  const std::vector<PathPiece> pieces = paths.Find(*goroutine);
  EXPECT_EQ(sink->interner().String(pieces[0].region), "older");
  EXPECT_EQ(pieces[0].end, 6);
  int64_t parse = 0;
  for (const ProfileSample& sample : paths.Sum(paths.tasks(), UINT64_MAX).samples) {
    if (sink->interner().String(sample.key.region) == "parse") parse += sample.value.time;
  }
  EXPECT_EQ(parse, 3);
}

TEST(CriticalPaths, HaveGoroutines) {
  Events events(0);
  events.Status(1, 1, kRunning);
  events.Create(10, 2, /*by=*/1, "main.start");
  events.Stop(12, 1);
  events.Start(15, 2);
  events.Push(events.Builder(EventType::kGoDestroy, 30, 2)
                  .Transition(GoId{2}, GoState::kRunning, GoState::kNotExist));
  events.Start(40, 1);
  // The id is used again.
  events.Create(42, 2, /*by=*/1, "main.start");
  events.Sync(50, 2);
  const std::unique_ptr<AnalysisSink> sink = events.Run();
  std::string text;
  for (const PathSpan& span : PathsOf(*sink).goroutines()) {
    absl::StrAppend(&text, "G", span.goroutine.value, " ", span.begin, "-", span.end,
                    span.begin_clipped ? " begin clipped" : "",
                    span.end_clipped ? " end clipped" : "", "\n");
  }
  EXPECT_EQ(text,
            "G2 10-30\n"
            "G1 0-50 begin clipped end clipped\n"
            "G2 42-50 end clipped\n");
}

// The intervals of each goroutine, in order of time.
using IntervalMap = std::map<GoId, std::vector<GoInterval>>;

class RealTrace {
 public:
  explicit RealTrace(const std::string& name) : sink_(MakeSink()) {
    const std::string bytes = ReadTestTrace(name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(ReadInto(*reader, {sink_.get(), &tracked_.tracker}).ok());
    for (const GoInterval& interval : tracked_.log.goroutines()) {
      intervals_[interval.goroutine].push_back(interval);
    }
  }

  const CriticalPaths& paths() const { return PathsOf(*sink_); }
  const IntervalMap& intervals() const { return intervals_; }

  // Checks the path of a span. Returns its pieces.
  std::vector<PathPiece> Check(const PathSpan& span) const {
    std::vector<PathPiece> pieces = paths().Find(span);
    int64_t time = span.begin;
    for (const PathPiece& piece : pieces) {
      EXPECT_EQ(piece.begin, time);
      EXPECT_GT(piece.end, piece.begin);
      time = piece.end;
      CheckState(piece);
    }
    EXPECT_EQ(time, span.end);
    return pieces;
  }

 private:
  // Checks that the goroutine was in the piece's state all the time.
  void CheckState(const PathPiece& piece) const {
    const auto found = intervals_.find(piece.goroutine);
    if (piece.state == GoState::kUndetermined) {
      // Nothing is known of it in that time.
      if (found == intervals_.end()) return;
      for (const GoInterval& interval : found->second) {
        EXPECT_TRUE(interval.begin >= piece.end || interval.end <= piece.begin);
      }
      return;
    }
    ASSERT_TRUE(found != intervals_.end());
    auto interval =
        std::upper_bound(found->second.begin(), found->second.end(), piece.begin,
                         [](int64_t time, const GoInterval& known) { return time < known.begin; });
    ASSERT_TRUE(interval != found->second.begin());
    --interval;
    EXPECT_LE(piece.end, interval->end);
    EXPECT_EQ(piece.state, interval->state);
    if (piece.is_stopped) {
      EXPECT_TRUE(piece.state == GoState::kRunning || piece.state == GoState::kRunnable);
      EXPECT_TRUE(absl::StartsWith(sink_->interner().String(piece.reason), "world stopped ("));
    } else if (piece.state != GoState::kRunning) {
      EXPECT_EQ(sink_->interner().String(piece.reason), tracked_.interner.String(interval->reason));
    }
    if (piece.state == kWaiting && piece.end == interval->end) {
      EXPECT_NE(interval->ended_by.kind, CauseKind::kGoroutine);
      EXPECT_EQ(piece.woken_by, interval->ended_by.kind);
    }
  }

  std::unique_ptr<AnalysisSink> sink_;
  TrackedTrace tracked_;
  IntervalMap intervals_;
};

TEST(CriticalPaths, PartitionEverySpan) {
  size_t tasks = 0;
  size_t regions = 0;
  size_t goroutines = 0;
  uint64_t deepest = 0;
  std::map<GoState, size_t> pieces_in_state;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const RealTrace trace(test.name);
    std::vector<PathSpan> spans(trace.paths().tasks().begin(), trace.paths().tasks().end());
    tasks += spans.size();
    constexpr size_t kMaxRegions = 1000;
    for (const PathSpan& span : trace.paths().regions()) {
      if (spans.size() < kMaxRegions) spans.push_back(span), ++regions;
    }
    for (const auto& [id, intervals] : trace.intervals()) {
      const std::optional<PathSpan> span = trace.paths().SpanOf(id);
      ASSERT_TRUE(span.has_value());
      EXPECT_EQ(span->end, intervals.back().end);
      spans.push_back(*span);
      ++goroutines;
    }
    uint64_t count = 0;
    int64_t time = 0;
    for (const PathSpan& span : spans) {
      time += span.end - span.begin;
      for (const PathPiece& piece : trace.Check(span)) {
        ++count;
        ++pieces_in_state[piece.state];
        deepest = std::max(deepest, piece.depth);
      }
    }
    ProfileValue sum;
    const PathSum paths = trace.paths().Sum(spans, UINT64_MAX);
    EXPECT_EQ(paths.paths, spans.size());
    for (const ProfileSample& sample : paths.samples) {
      sum.count += sample.value.count;
      sum.time += sample.value.time;
    }
    EXPECT_EQ(sum.count, count);
    EXPECT_EQ(sum.time, time);
  }
  EXPECT_GT(tasks, 50);
  EXPECT_GT(regions, 50);
  EXPECT_GT(goroutines, 1000);
  EXPECT_GT(deepest, 3);
  EXPECT_GT(pieces_in_state[GoState::kSyscall], 100);
  EXPECT_GT(pieces_in_state[kWaiting], 100);
  EXPECT_GT(pieces_in_state[kRunning], 1000);
}

}  // namespace critical_path_test
}  // namespace gotrace::internal
