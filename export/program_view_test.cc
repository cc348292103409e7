#include "export/program_view.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gotrace/event_builder.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace program_view_test {

ViewSlice SliceNamed(uint32_t name) {
  const StringId id{name};
  return {.key = {.name = id}, .name = id};
}

uint32_t NameOf(const ViewSlice& slice) { return static_cast<uint32_t>(slice.name); }

TEST(OpenSlicesTest, FindsTheLastWithAKey) {
  OpenSlices slices;
  // A plain list is searched at first, and a table later.
  std::vector<OpenSlices::Iterator> all;
  for (uint32_t i = 0; i < 100; ++i) {
    const OpenSlices::Iterator found = slices.FindLast(SliceNamed(7).key);
    EXPECT_EQ(found, i <= 7 ? slices.end() : all[7 + (i - 8) / 10 * 10]);
    slices.Push(SliceNamed(i % 10));
    all.push_back(std::prev(slices.end()));
  }
  // In any order across keys, and the last one of each key.
  for (uint32_t key = 0; key < 10; ++key) {
    for (uint32_t i = 100; i > 0; i -= 10) {
      const OpenSlices::Iterator found = slices.FindLast(SliceNamed(key).key);
      EXPECT_EQ(found, all[i - 10 + key]);
      slices.Remove(found);
    }
    EXPECT_EQ(slices.FindLast(SliceNamed(key).key), slices.end());
  }
  EXPECT_TRUE(slices.empty());
}

TEST(OpenSlicesTest, HidesWhatIsShownInside) {
  OpenSlices slices;
  for (uint32_t i = 0; i < 5; ++i) {
    ViewSlice& slice = slices.Push(SliceNamed(i));
    if (i != 2) slices.Show(&slice);
  }
  const auto names = [](const std::vector<ViewSlice*>& shown) {
    return absl::StrJoin(shown, " ", [](std::string* out, const ViewSlice* slice) {
      absl::StrAppend(out, NameOf(*slice));
    });
  };
  EXPECT_EQ(names(slices.shown()), "0 1 3 4");
  const OpenSlices::Iterator second = std::next(slices.begin());
  EXPECT_EQ(names(slices.Hide(&*second)), "4 3");
  EXPECT_EQ(names(slices.shown()), "0");
  slices.Remove(second);
  EXPECT_EQ(slices.size(), 4u);
  slices.Show(&*std::next(slices.begin(), 2));
  EXPECT_EQ(names(slices.shown()), "0 3");
}

// Writes each call as a line.
class Recorder final : public ProgramView::Delegate {
 public:
  explicit Recorder(ProgramView::Options options = {}) : view(std::move(options), &interner, this) {
    Add(EventBuilder::MakeSync(1, tables_));
  }

  // Events are 10 ns apart.
  void Add(EventBuilder builder) {
    view.Add(absl::MakeConstSpan(&builder.Time(time_ += 10).Build(), 1));
  }
  EventBuilder On(EventType type, int64_t go) {
    EventBuilder builder(type, tables_);
    builder.Goroutine(GoId{go}).Thread(ThreadId{5}).Proc(ProcId{0});
    return builder;
  }
  void Change(EventType type, int64_t go, GoState from, GoState to, int64_t by = -1) {
    EventBuilder builder(type, tables_);
    builder.Transition(GoId{go}, from, to).Thread(ThreadId{5}).Proc(ProcId{0});
    Add(builder.Goroutine(GoId{by}).Reason("sync"));
  }
  void Wait(int64_t time) { time_ += time; }

  // Returns the lines since the last call.
  std::string Take() { return absl::StrJoin(std::exchange(lines_, {}), "\n"); }

  void BeginWindow(int64_t time) override {
    Line(time, "window");
    for (ViewGoroutine* const goroutine : view.Goroutines()) {
      Line(goroutine->since, Text(*goroutine), " ", GoStateName(goroutine->state));
      view.ShowSlices(goroutine->track, time);
    }
    for (auto& [id, track] : view.procs()) view.ShowSlices(track, time);
    view.ShowSlices(view.program(), time);
    view.ShowTasks(time);
    view.ShowMetrics(time);
  }
  void TakeEvent(const Event& event) override { Line(event.time(), EventKindName(event.kind())); }
  void TakeLateEvent(const Event& event) override {
    if (event.kind() == EventKind::kRangeActive) Line(event.time(), "late range");
  }
  void AddGoroutine(ViewGoroutine& goroutine, const Event&) override {
    Line(goroutine.since, "old ", Text(goroutine), " ", GoStateName(goroutine.state));
  }
  void CreateGoroutine(ViewGoroutine& goroutine, const Event& event) override {
    Line(event.time(), "create ", Text(goroutine), " ", GoStateName(goroutine.state));
  }
  void ChangeState(ViewGoroutine& goroutine, GoState state, StringId reason,
                   const Event& event) override {
    Line(event.time(), Text(goroutine), " ", GoStateName(goroutine.state), "->", GoStateName(state),
         reason == StringId::kEmpty ? "" : " for ", interner.String(reason));
  }
  void EndGoroutine(ViewGoroutine& goroutine, const Event& event) override {
    Line(event.time(), "end ", Text(goroutine));
  }
  void AddInterval(const GoInterval& interval) override {
    Line(interval.end, "interval of G", interval.goroutine.value, " since ", interval.begin);
  }
  void AddThread(const ThreadInterval& interval, int64_t begin, int64_t end) override {
    Line(end, "thread M", interval.thread.value, " ", ThreadStateName(interval.state), " since ",
         begin);
  }
  void AddProc(ProcId id) override { Line(0, "P", id.value); }
  ViewSlice::Key KeyOf(const Region&, StringId name) override {
    return {.kind = ViewSlice::Kind::kRegion, .name = name};
  }
  void BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event) override {
    Line(time, event == nullptr ? "show " : "begin ", Text(track), " ",
         interner.String(slice.name));
  }
  void EndSlice(ViewTrack& track, const ViewSlice& slice, absl::Span<ViewSlice* const> inside,
                const ViewEnd& end) override {
    Line(end.time, "end ", Text(track), " ", interner.String(slice.name), " with ", inside.size());
    for (const ViewEnd::Attribute& attribute : end.attributes) {
      Line(end.time, interner.String(attribute.name), "=", attribute.value);
    }
  }
  void EndUnknownRegion(ViewTrack& track, const Event& event) override {
    Line(event.time(), "end unknown ", Text(track), " ", event.region().type);
  }
  void BeginTask(const ViewTask& task, int64_t time, const Event* event) override {
    Line(time, event == nullptr ? "show task " : "begin task ", task.id.value);
  }
  void EndTask(const ViewTask& task, const Event& event) override {
    if (task.is_shown) Line(event.time(), "end task ", task.id.value);
  }
  void EndUnknownTask(const Event& event) override {
    Line(event.time(), "end unknown task ", event.task().id.value);
  }
  void SetMetric(int64_t time, size_t metric, uint64_t value) override {
    Line(time, kMetricCounters[metric].name, "=", value);
  }
  void SetStateCounter(int64_t time, size_t counter, uint64_t value) override {
    if (value > 0)
      counters += absl::StrCat(time, " ", StateCounters::kSpecs[counter].name, "=", value, "\n");
  }

  Interner interner;
  ProgramView view;
  std::string counters;  // Those that are not 0.

 private:
  template <class... Parts>
  void Line(int64_t time, const Parts&... parts) {
    lines_.push_back(absl::StrCat(time, " ", parts...));
  }
  static std::string Text(const ViewGoroutine& goroutine) {
    return absl::StrCat("G", goroutine.id.value);
  }
  static std::string Text(const ViewTrack& track) {
    if (track.goroutine != nullptr) return Text(*track.goroutine);
    return track.scope.kind == ResourceKind::kProc ? absl::StrCat("P", track.scope.id) : "program";
  }

  BuiltTables tables_;
  int64_t time_ = 0;
  std::vector<std::string> lines_;
};

// Goroutine 1, which a status names, creates and wakes goroutine 2, and both have slices and tasks.
void AddProgram(Recorder& program) {
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);     // 20
  program.Add(program.On(EventType::kHeapAlloc, 1).Arg(0, 4096));                         // 30
  program.Add(program.On(EventType::kUserTaskBegin, 1).Task(TaskId{3}).TaskType("job"));  // 40
  program.Add(program.On(EventType::kUserRegionBegin, 1).RegionType("step"));             // 50
  program.Add(program.On(EventType::kGCSweepBegin, 1));                                   // 60
  program.Change(EventType::kGoCreate, 2, GoState::kNotExist, GoState::kRunnable, 1);     // 70
  program.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, 1);        // 80
  program.Change(EventType::kGoStart, 2, GoState::kRunnable, GoState::kRunning);          // 90
  program.Add(program.On(EventType::kUserLog, 2).Log("", "text"));                        // 100
  program.Change(EventType::kGoUnblock, 1, GoState::kWaiting, GoState::kRunnable, 2);     // 110
  program.Add(program.On(EventType::kUserRegionBegin, 2).RegionType("open"));             // 120
  program.Change(EventType::kGoDestroy, 2, GoState::kRunning, GoState::kNotExist, 2);     // 130
  program.Add(program.On(EventType::kGCSweepEnd, 1).Arg(0, 7).Arg(1, 8));                 // 140
  program.Add(program.On(EventType::kUserRegionEnd, 1).RegionType("step"));               // 150
  program.Add(program.On(EventType::kUserTaskEnd, 1).Task(TaskId{3}).TaskType("job"));    // 160
  program.Add(program.On(EventType::kUserRegionEnd, 1).RegionType("older"));              // 170
  program.Add(program.On(EventType::kUserTaskEnd, 1).Task(TaskId{2}).TaskType("older"));  // 180
  program.view.Finish();
}

TEST(ProgramViewTest, GivesEachChange) {
  Recorder program;
  AddProgram(program);
  EXPECT_EQ(program.Take(), R"(10 window
10 Sync
10 old G1 Running
30 heap=4096
30 Metric
40 begin task 3
50 begin G1 step
0 P0
60 begin P0 GC incremental sweep
70 create G2 Runnable
80 G1 Running->Waiting for sync
90 G2 Runnable->Running
100 Log
110 G1 Waiting->Runnable
120 begin G2 open
130 end G2
130 end G2 open with 0
140 end P0 GC incremental sweep with 0
140 bytes swept=7
140 bytes reclaimed=8
150 end G1 step with 0
160 end task 3
170 end unknown G1 older
180 end unknown task 2)");
  EXPECT_EQ(program.counters, "10 running goroutines=1\n180 runnable goroutines=1\n");
}

TEST(ProgramViewTest, AWindowBeginsWithWhatIsCurrent) {
  ProgramView::Options options;
  options.filter.times = {95, 125};
  Recorder program(options);
  AddProgram(program);
  EXPECT_EQ(program.Take(), R"(95 old G1 Running
70 create G2 Runnable
80 G1 Running->Waiting for sync
90 G2 Runnable->Running
95 window
95 G1 Waiting
95 show G1 step
95 G2 Running
95 show P0 GC incremental sweep
95 show task 3
95 heap=4096
100 Log
110 G1 Waiting->Runnable
120 begin G2 open)");
  EXPECT_EQ(program.view.end(), 125);
}

TEST(ProgramViewTest, AddsAnOffsetToAllTimes) {
  ProgramView::Options options;
  options.filter.times = {105, 125};
  options.time_offset = 1000;
  Recorder program(options);
  AddProgram(program);
  const std::string lines = program.Take();
  EXPECT_TRUE(absl::StrContains(lines, "\n1105 window\n1105 G1 Waiting\n")) << lines;
  EXPECT_TRUE(absl::EndsWith(lines, "\n1120 begin G2 open")) << lines;
}

TEST(ProgramViewTest, ShowsWhatTheFilterSelects) {
  ProgramView::Options options;
  options.filter.kinds = {EventKind::kRegionBegin};
  Recorder program(options);
  AddProgram(program);
  const std::string lines = program.Take();
  EXPECT_TRUE(absl::StrContains(lines, "50 begin G1 step")) << lines;
  EXPECT_TRUE(absl::StrContains(lines, "150 end G1 step")) << lines;
  for (const char* const other : {"sweep", "begin task", "heap"}) {
    EXPECT_FALSE(absl::StrContains(lines, other)) << other;
  }
}

TEST(ProgramViewTest, SlicesEndThoseInsideOrNot) {
  for (const bool ends_inside : {true, false}) {
    ProgramView::Options options;
    options.ends_inside = ends_inside;
    Recorder program(options);
    program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 20
    program.Add(program.On(EventType::kGCMarkAssistBegin, 1));                           // 30
    program.Add(program.On(EventType::kUserRegionBegin, 1).RegionType("inner"));         // 40
    program.Take();
    program.Add(program.On(EventType::kGCMarkAssistEnd, 1));                    // 50
    program.Add(program.On(EventType::kUserRegionEnd, 1).RegionType("inner"));  // 60
    // Without a place in the file any more, the region has no end there either.
    EXPECT_EQ(program.Take(), ends_inside ? "50 end G1 inner with 0\n"
                                            "50 end G1 GC mark assist with 0\n"
                                            "60 end unknown G1 inner"
                                          : "50 end G1 GC mark assist with 1");
  }
}

// Each generation states what is active, which is known already after the first one.
TEST(ProgramViewTest, ActiveRangesBeginWithTheGeneration) {
  Recorder program;
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 20
  program.Take();
  for (int i = 0; i < 2; ++i) {
    program.Add(program.On(EventType::kGCMarkAssistActive, 1).Arg(0, 1));
    EXPECT_EQ(program.Take(), i == 0 ? "10 begin G1 GC mark assist" : "");
  }
}

TEST(ProgramViewTest, TakesActiveRangesAfterTheWindow) {
  for (const bool is_nested : {false, true}) {
    ProgramView::Options options;
    options.filter.times = {15, 25};
    Recorder program(options);
    const EventBuilder other = program.On(EventType::kSTWBegin, 1).Reason("other");
    program.Add(is_nested ? other : program.On(EventType::kHeapAlloc, 1));  // 20
    program.Take();
    program.Add(program.On(EventType::kGCMarkAssistActive, 1).Arg(0, 1));  // 30
    program.Add(program.On(EventType::kGCMarkAssistEnd, 1));               // 40
    EXPECT_EQ(program.Take(),
              is_nested ? "30 late range" : "15 begin G1 GC mark assist\n30 late range");
    program.Add(EventBuilder::MakeSync(2));
    program.Add(program.On(EventType::kGCMarkAssistActive, 2).Arg(0, 2));
    EXPECT_EQ(program.Take(), "");
    // Times of a damaged trace may go back.
    program.Wait(-50);
    program.Add(program.On(EventType::kGCMarkAssistEnd, 3));               // 20
    program.Add(program.On(EventType::kGCMarkAssistActive, 3).Arg(0, 3));  // 30
    EXPECT_TRUE(absl::StrContains(program.Take(), "30 late range"));
  }
}

// What a generation states has lasted since it began, and not since the one before did.
TEST(ProgramViewTest, CountersOfAGenerationHaveNoStatusesOfTheNext) {
  Recorder program;
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 20
  program.Wait(200'000);
  program.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, 1);  // 200'030
  program.Wait(200'000);
  program.Change(EventType::kGoUnblock, 1, GoState::kWaiting, GoState::kRunnable, 1);  // 400'040
  program.Add(EventBuilder::MakeSync(2));                                              // 400'050
  program.Wait(200'000);
  program.Change(EventType::kGoStatus, 2, GoState::kUndetermined, GoState::kWaiting);  // 600'060
  program.view.Finish();
  EXPECT_EQ(program.counters,
            "10 running goroutines=1\n"
            "200030 waiting goroutines=1\n"
            "400040 runnable goroutines=1\n"
            "600060 runnable goroutines=1\n"
            "600060 waiting goroutines=1\n");
}

// The event that states a range may run on another goroutine or P than the range is of.
TEST(ProgramViewTest, SelectsRangesOfGoroutinesAndPs) {
  for (const int64_t selected : {0, 1, 2, 3}) {
    ProgramView::Options options;
    options.filter.goroutines = {GoId{selected}};
    Recorder of_goroutine(options);
    of_goroutine.Take();
    of_goroutine.Add(of_goroutine.On(EventType::kGCMarkAssistActive, 1).Arg(0, 2));
    EXPECT_EQ(of_goroutine.Take(), selected == 2 ? "10 begin G2 GC mark assist" : "");

    options.filter = {};
    options.filter.procs = {ProcId{selected}};
    Recorder of_proc(options);
    of_proc.Take();
    of_proc.Add(of_proc.On(EventType::kGCSweepActive, 1).Arg(0, 3));
    EXPECT_EQ(of_proc.Take(), selected == 3 ? "0 P3\n10 begin P3 GC incremental sweep" : "0 P3");
  }
}

TEST(ProgramViewTest, TakesFirstStatusesAfterTheWindow) {
  ProgramView::Options options;
  options.filter.times = {15, 25};
  Recorder program(options);
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 20
  program.Change(EventType::kGoStatus, 2, GoState::kUndetermined, GoState::kWaiting);  // 30
  program.Change(EventType::kGoCreate, 3, GoState::kNotExist, GoState::kRunnable, 1);
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kWaiting);
  program.Add(EventBuilder::MakeSync(2));
  program.Change(EventType::kGoStatus, 4, GoState::kUndetermined, GoState::kWaiting);
  program.view.Finish();
  EXPECT_EQ(program.Take(), "15 window\n15 old G1 Running\n15 old G2 Waiting");
  EXPECT_EQ(program.counters,
            "15 running goroutines=1\n15 waiting goroutines=1\n"
            "25 running goroutines=1\n25 waiting goroutines=1\n");
}

// In a damaged trace the status of a goroutine may be missing, or come late.
TEST(ProgramViewTest, ShowsSlicesOfGoroutinesWithoutAStatus) {
  Recorder program;
  program.Add(program.On(EventType::kUserRegionBegin, 1).RegionType("step"));          // 20
  program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 30
  program.Add(program.On(EventType::kUserRegionEnd, 1).RegionType("step"));            // 40
  EXPECT_EQ(program.Take(),
            "10 window\n10 Sync\n20 begin G1 step\n10 old G1 Running\n40 end G1 step with 0");
}

// A status says on which thread a goroutine runs, and thus on which P, if the thread still has one.
TEST(ProgramViewTest, FindsThePOfAGoroutineByItsThread) {
  for (const bool stops : {false, true}) {
    Recorder program;
    const auto change_proc = [&](EventType type, ProcState from, ProcState to) {
      program.Add(program.On(type, -1).Transition(ProcId{3}, from, to));
    };
    change_proc(EventType::kProcStatus, ProcState::kUndetermined, ProcState::kRunning);
    if (stops) change_proc(EventType::kProcStop, ProcState::kRunning, ProcState::kIdle);
    program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);
    ASSERT_EQ(program.view.Goroutines().size(), 1u);
    EXPECT_EQ(program.view.Goroutines()[0]->proc, stops ? ProcId::kNone : ProcId{3});
  }
}

TEST(ProgramViewTest, GivesIntervalsBeforeEventsOrAfterThem) {
  for (const auto intervals :
       {ProgramView::Intervals::kBeforeEvent, ProgramView::Intervals::kAfterEvent}) {
    ProgramView::Options options;
    options.intervals = intervals;
    Recorder program(options);
    program.Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning);  // 20
    program.Take();
    program.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, 1);  // 30
    const std::string lines = program.Take();
    const size_t interval = lines.find("30 interval of G1 since 10");
    const size_t change = lines.find("30 G1 Running->Waiting");
    ASSERT_NE(interval, std::string::npos) << lines;
    ASSERT_NE(change, std::string::npos) << lines;
    EXPECT_EQ(interval < change, intervals == ProgramView::Intervals::kBeforeEvent);
  }
}

}  // namespace program_view_test
}  // namespace gotrace::internal
