#include "gotrace/leak_stats.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "gotrace/goroutine_stats.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace leak_stats_test {

std::unique_ptr<MergeableAnalysisSink<LeakStats>> MakeSink(
    int64_t longer, AnalysisSink::Options sink_options = {}) {
  LeakStats::Options options;
  options.longer = longer;
  options.filter.times = sink_options.window;
  return std::make_unique<MergeableAnalysisSink<LeakStats>>(
      [&](Interner* interner) { return std::make_unique<LeakStats>(interner, options); },
      sink_options);
}

absl::Span<const LeakGroup> GroupsOf(const AnalysisSink& sink) {
  return static_cast<const LeakStats&>(sink.analysis()).groups();
}

std::string TextOf(const AnalysisSink& sink) {
  const Interner& interner = sink.interner();
  std::string text;
  for (const LeakGroup& group : GroupsOf(sink)) {
    absl::StrAppend(&text, group.count, " ", group.longest, " ", group.total, " ",
                    absl::StrJoin(group.counts, ","), " ", interner.String(group.start), " ",
                    interner.String(group.reason));
    for (const StackId stack : {group.created_at, group.blocked_at}) {
      for (const FrameId id : interner.Frames(stack)) {
        absl::StrAppend(&text, " ", interner.Frame(id).func, ":", interner.Frame(id).line);
      }
      absl::StrAppend(&text, ";");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

TEST(LeakStats, AreTheSameHoweverTheTraceIsCut) {
  uint64_t known_creators = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(test.name),
        [](AnalysisSink::Options options) { return MakeSink(0, options); }, TextOf);
    for (const LeakGroup& group : GroupsOf(*whole)) {
      EXPECT_FALSE(absl::StartsWith(whole->interner().String(group.start), "runtime"));
      EXPECT_EQ(group.counts.back(), group.count);
      if (group.created_at != StackId::kNone) ++known_creators;
    }
  }
  EXPECT_GT(known_creators, 0);
}

// Goroutines that main creates at 100, 200, 300 and 400 and that block 5 later, each in the same
// place; one that goes on, and one of the runtime.
BuiltEvents FourLeaks() {
  using enum EventType;
  BuiltEvents events;
  const StackFrame main[] = {{1, "main.main", "", 1}};
  const StackFrame leak[] = {{2, "main.leak", "", 2}};
  const StackFrame collector[] = {{3, "runtime.bgsweep", "", 3}};
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGoCreateBlocked, 2, 0, 1)
                  .Transition(GoId{2}, GoState::kNotExist, GoState::kWaiting)
                  .Stack(main)
                  .TransitionStack(collector));
  for (int64_t i = 1; i <= 5; ++i) {
    const GoId id{10 + i};
    events.Push(events.Builder(kGoCreate, i * 100, 0, 1)
                    .Transition(id, GoState::kNotExist, GoState::kRunnable)
                    .Stack(main)
                    .TransitionStack(leak));
    events.Go(kGoStart, i * 100 + 2, 1, id.value, GoState::kRunnable, GoState::kRunning);
    events.Push(events.Builder(kGoBlock, i * 100 + 5, 1, id.value)
                    .Transition(id, GoState::kRunning, GoState::kWaiting)
                    .Reason("chan send")
                    .Stack(leak)
                    .TransitionStack(leak));
  }
  events.GoBy(1, kGoUnblock, 600, 0, 15, GoState::kWaiting, GoState::kRunnable);
  events.Sync(800, 2);
  return events;
}

TEST(LeakStats, FindWhatIsBlockedAtTheEnd) {
  const BuiltEvents events = FourLeaks();
  const std::unique_ptr<AnalysisSink> sink = MakeSink(300);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  // That of 400 has been blocked for 395.
  EXPECT_EQ(TextOf(*sink), "4 695 2180 0,1,3,4,4 main.leak chan send main.main:1; main.leak:2;\n");
  const std::unique_ptr<AnalysisSink> shorter = MakeSink(400);
  shorter->Add(events.events());
  ASSERT_TRUE(shorter->Finish().ok());
  EXPECT_EQ(TextOf(*shorter),
            "3 695 1785 0,1,3,3,3 main.leak chan send main.main:1; main.leak:2;\n");
}

// Two goroutines that block in the trace, and one that was blocked before, of which the status has
// the runtime's frames, but no reason.
TEST(LeakStats, KnowWhereThoseFromBeforeTheTraceAreBlocked) {
  using enum EventType;
  const StackFrame create[] = {{1, "main.main", "", 1}};
  const StackFrame start[] = {{2, "main.leak", "", 2}};
  const StackFrame event[] = {{4, "runtime.chansend1", "", 4}, {3, "main.leak", "", 3}};
  const StackFrame status[] = {{7, "runtime.gopark", "", 7},
                               {6, "runtime.chansend", "", 6},
                               {4, "runtime.chansend1", "", 4},
                               {3, "main.leak", "", 3}};
  const StackFrame elsewhere[] = {{7, "runtime.gopark", "", 7}, {9, "main.leak", "", 9}};
  const auto text_of = [&](bool has_creator, absl::string_view second_reason) {
    BuiltEvents events;
    events.Sync(0, 1);
    events.Go(kGoStatus, 10, 0, 1, GoState::kUndetermined, GoState::kRunning);
    for (int64_t id = 11; id <= 12; ++id) {
      const StackFrame other[] = {{8, "main.other", "", 8}};
      events.Push(events.Builder(kGoCreate, 20, 0, 1)
                      .Transition(GoId{id}, GoState::kNotExist, GoState::kRunnable)
                      .Stack(id == 11 || has_creator ? create : other)
                      .TransitionStack(start));
      events.Go(kGoStart, 21, 1, id, GoState::kRunnable, GoState::kRunning);
      events.Push(events.Builder(kGoBlock, 22, 1, id)
                      .Transition(GoId{id}, GoState::kRunning, GoState::kWaiting)
                      .Reason(id == 11 ? "chan send" : second_reason)
                      .Stack(event)
                      .TransitionStack(event));
    }
    events.Push(events.Builder(kGoStatusStack, 90)
                    .Transition(GoId{20}, GoState::kUndetermined, GoState::kWaiting)
                    .Stack(status)
                    .TransitionStack(status));
    events.Push(events.Builder(kGoStatusStack, 90)
                    .Transition(GoId{21}, GoState::kUndetermined, GoState::kWaiting)
                    .Stack(elsewhere)
                    .TransitionStack(elsewhere));
    events.Sync(100, 2);
    const std::unique_ptr<AnalysisSink> sink = MakeSink(0);
    sink->Add(events.events());
    EXPECT_TRUE(sink->Finish().ok());
    return TextOf(*sink);
  };
  const std::string rest = "1 90 90 1,1,1,1,1 main.leak ; runtime.gopark:7 main.leak:9;\n";
  EXPECT_EQ(text_of(true, "chan send"),
            absl::StrCat("3 90 246 1,3,3,3,3 main.leak chan send main.main:1;"
                         " runtime.chansend1:4 main.leak:3;\n",
                         rest));
  const absl::string_view chan_send = "runtime.chansend1:4 main.leak:3;\n";
  // They were created in two places.
  EXPECT_EQ(text_of(false, "chan send"),
            absl::StrCat(rest, "1 90 90 1,1,1,1,1 main.leak chan send; ", chan_send,
                         "1 78 78 0,1,1,1,1 main.leak chan send main.main:1; ", chan_send,
                         "1 78 78 0,1,1,1,1 main.leak chan send main.other:8; ", chan_send));
  // They are blocked for two reasons.
  EXPECT_EQ(text_of(true, "select"),
            absl::StrCat("1 90 90 1,1,1,1,1 main.leak ; runtime.gopark:7 runtime.chansend:6 ",
                         chan_send, rest, "1 78 78 0,1,1,1,1 main.leak chan send main.main:1; ",
                         chan_send, "1 78 78 0,1,1,1,1 main.leak select main.main:1; ", chan_send));
}

// Events before a window say where goroutines were created that are older, also if others that are
// blocked in the same place were created elsewhere.
TEST(LeakStats, KnowWhereThoseFromBeforeTheWindowWereCreated) {
  using enum EventType;
  BuiltEvents events;
  const StackFrame leak[] = {{2, "main.leak", "", 2}};
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  const auto create = [&](int64_t time, int64_t g, absl::string_view function) {
    const StackFrame creator[] = {{1, function, "", 1}};
    events.Push(events.Builder(kGoCreate, time, 0, 1)
                    .Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable)
                    .Stack(creator)
                    .TransitionStack(leak));
    events.Go(kGoStart, time + 1, 1, g, GoState::kRunnable, GoState::kRunning);
    events.Push(events.Builder(kGoBlock, time + 2, 1, g)
                    .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
                    .Reason("chan send")
                    .Stack(leak)
                    .TransitionStack(leak));
  };
  create(100, 11, "main.first");
  create(200, 12, "main.second");
  create(300, 13, "main.first");
  events.Sync(400, 2);
  AnalysisSink::Options options;
  options.window = {.from = 250, .to = 400};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(0, options);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(TextOf(*sink),
            "2 150 248 1,1,2,2,2 main.leak chan send main.first:1; main.leak:2;\n"
            "1 150 150 1,1,1,1,1 main.leak chan send main.second:1; main.leak:2;\n");
}

TEST(LeakStats, HaveAWindow) {
  const BuiltEvents events = FourLeaks();
  AnalysisSink::Options options;
  options.window = {.from = 250, .to = 650};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(0, options);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  // Where the first two were created is before the window; the others are blocked in the same
  // place.
  EXPECT_EQ(TextOf(*sink), "4 400 1390 2,3,4,4,4 main.leak chan send main.main:1; main.leak:2;\n");
}

}  // namespace leak_stats_test
}  // namespace gotrace::internal
