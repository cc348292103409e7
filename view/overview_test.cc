#include "view/overview.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "analysis/core/cut_trace.h"
#include "analysis/intervals/interval_log.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace overview_test {

using Sink = MergeableAnalysisSink<Overview>;

std::unique_ptr<Sink> MakeSink(AnalysisSink::Options options = {}) {
  return std::make_unique<Sink>(
      [](Interner* interner) { return std::make_unique<Overview>(interner); }, options);
}

int64_t TotalOf(const LaneColumns& lane, LaneState state) {
  return lane.totals()[static_cast<size_t>(state)];
}

void AppendLane(const LaneColumns& columns, std::string* text) {
  LaneColumns lane = columns;
  for (size_t i = 0; i < kLaneStates; ++i) {
    const auto state = static_cast<LaneState>(i);
    if (TotalOf(lane, state) == 0) continue;
    uint64_t hash = 0;
    lane.columns(state).ForEach([&](size_t column, int64_t value) {
      hash = hash * 1000003 + column * 31 + static_cast<uint64_t>(value);
    });
    absl::StrAppend(text, " ", LaneStateName(state), " ", TotalOf(lane, state), " (", hash, ")");
  }
  for (const LaneSpan& span : lane.SortedSpans()) {
    absl::StrAppend(text, " [", span.begin, " ", span.end, " ", LaneStateName(span.state), " ",
                    span.subject, "]");
  }
  *text += "\n";
}

std::string AllTextOf(const AnalysisSink& sink) {
  const auto& overview = static_cast<const Overview&>(sink.analysis());
  const Interner& interner = sink.interner();
  std::string text = absl::StrCat(overview.begin(), " ", overview.duration(), "\n");
  for (const auto& [proc, lane] : overview.procs()) {
    absl::StrAppend(&text, "P ", proc.value);
    AppendLane(lane.lane(), &text);
  }
  for (const Overview::Group& group : overview.groups()) {
    absl::StrAppend(&text, interner.String(group.start), " ", group.goroutines);
    AppendLane(group.lane.lane(), &text);
  }
  for (const Overview::Goroutine& goroutine : overview.goroutines()) {
    absl::StrAppend(&text, "G ", goroutine.id.value, " ", goroutine.group, " ", goroutine.begin,
                    " ", goroutine.end, " ", goroutine.begins, goroutine.ends, "\n");
  }
  for (const Overview::Mark& mark : overview.stops()) {
    absl::StrAppend(&text, mark.begin, " ", mark.end, " ", interner.String(mark.name), "\n");
  }
  for (const Overview::Mark& mark : overview.cycles()) {
    absl::StrAppend(&text, mark.begin, " ", mark.end, " ", interner.String(mark.name), "\n");
  }
  for (const int64_t value :
       overview.metric(Overview::kHeap).MaxIn({0, overview.step(), GrowingLane::kMaxColumns})) {
    absl::StrAppend(&text, value, " ");
  }
  for (const int64_t value :
       overview.runnable().MaxIn({0, overview.step(), GrowingLane::kMaxColumns})) {
    absl::StrAppend(&text, value, " ");
  }
  // Also whether a piece crosses: those that do not are found in their generation.
  std::vector<std::string> crossing;
  overview.crossing().ForEach([&](const LanePiece& piece) {
    crossing.push_back(absl::StrCat(piece.begin, " ", piece.end, " ", piece.proc_until, " G ",
                                    piece.goroutine.value, " P ", piece.proc.value, " M ",
                                    piece.thread.value, " ", LaneStateName(piece.state), " ",
                                    interner.String(piece.reason), "\n"));
  });
  absl::c_sort(crossing);
  for (const std::string& piece : crossing) text += piece;
  absl::StrAppend(&text, overview.threads().size(), " threads ", overview.tasks().size(),
                  " tasks\n");
  return text;
}

TEST(Overview, IsTheSameHoweverTheTraceIsCut) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    ExpectSameHoweverCut(
        ReadTestTrace(test.name), [](AnalysisSink::Options options) { return MakeSink(options); },
        AllTextOf);
  }
}

TEST(Overview, HasTheTimesOfPsAndGoroutines) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<Sink> sink = MakeSink();
    AnalysisSink procs(
        [](Interner* interner) { return std::make_unique<ProcStats>(interner, EventFilter()); },
        {});
    TrackedTrace tracked;
    ASSERT_TRUE(ReadInto(*reader, {sink.get(), &procs, &tracked.tracker}).ok());
    const Overview& overview = sink->analysis();

    for (const ProcUse& use : static_cast<const ProcStats&>(procs.analysis()).procs()) {
      SCOPED_TRACE(use.proc.value);
      const auto found = overview.procs().find(use.proc);
      if (found == overview.procs().end()) {
        EXPECT_EQ(use.times.Busy(), 0);
        continue;
      }
      const LaneColumns& lane = found->second.lane();
      EXPECT_EQ(TotalOf(lane, LaneState::kRunning), use.times.user);
      EXPECT_EQ(TotalOf(lane, LaneState::kGc), use.times.gc);
      EXPECT_EQ(TotalOf(lane, LaneState::kAssist), use.times.assist);
      EXPECT_EQ(TotalOf(lane, LaneState::kSyscall), use.times.syscall);
      EXPECT_EQ(TotalOf(lane, LaneState::kScheduler), use.times.scheduler);
    }

    std::map<GoState, int64_t> expected;
    for (const GoInterval& interval : tracked.log.goroutines()) {
      expected[interval.state] += static_cast<int64_t>(interval.duration());
    }
    std::map<GoState, int64_t> totals;
    EXPECT_TRUE(absl::c_is_sorted(overview.groups(), [](const auto& a, const auto& b) {
      return a.goroutines > b.goroutines;
    }));
    for (const Overview::Group& group : overview.groups()) {
      const LaneColumns& lane = group.lane.lane();
      totals[GoState::kRunning] += TotalOf(lane, LaneState::kRunning) +
                                   TotalOf(lane, LaneState::kGc) +
                                   TotalOf(lane, LaneState::kAssist);
      totals[GoState::kRunnable] += TotalOf(lane, LaneState::kRunnable);
      totals[GoState::kSyscall] += TotalOf(lane, LaneState::kSyscall);
      totals[GoState::kWaiting] +=
          TotalOf(lane, LaneState::kBlocked) + TotalOf(lane, LaneState::kNetwork);
    }
    for (const auto& [state, total] : totals)
      EXPECT_EQ(total, expected[state]) << GoStateName(state);
  }
}

}  // namespace overview_test
}  // namespace gotrace::internal
