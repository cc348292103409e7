#include "gotrace/leak_stats.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/built_events.h"
#include "analysis/cut_trace.h"
#include "gotrace/goroutine_stats.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace leak_stats_test {

std::unique_ptr<AnalysisSink> MakeSink(int64_t longer, AnalysisSink::Options sink_options = {}) {
  LeakStats::Options options;
  options.longer = longer;
  options.filter.times = sink_options.window;
  return std::make_unique<AnalysisSink>(
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

TEST(LeakStats, HaveAWindow) {
  const BuiltEvents events = FourLeaks();
  AnalysisSink::Options options;
  options.window = {.from = 250, .to = 650};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(0, options);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  // Where the first two were created is before the window.
  EXPECT_EQ(TextOf(*sink),
            "2 400 800 2,2,2,2,2 main.leak chan send; main.leak:2;\n"
            "2 345 590 0,1,2,2,2 main.leak chan send main.main:1; main.leak:2;\n");
}

}  // namespace leak_stats_test
}  // namespace gotrace::internal
