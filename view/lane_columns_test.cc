#include "view/lane_columns.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "view/growing_metric.h"

namespace gotrace::internal {
namespace lane_columns_test {

LaneSpan SpanOf(int64_t begin, int64_t end, LaneState state) {
  LaneSpan span;
  span.begin = begin;
  span.end = end;
  span.state = state;
  return span;
}

std::string TextOf(LaneColumns lane) {
  std::string text = absl::StrCat(lane.range().begin, " ", lane.range().step, "\n");
  for (size_t i = 0; i < kLaneStates; ++i) {
    const auto state = static_cast<LaneState>(i);
    if (lane.totals()[i] == 0) continue;
    absl::StrAppend(&text, LaneStateName(state), " ", lane.totals()[i], ":");
    lane.columns(state).ForEach(
        [&](size_t column, int64_t value) { absl::StrAppend(&text, " ", column, "=", value); });
    text += "\n";
  }
  for (size_t i = 0; i < lane.longest().size(); ++i) {
    const LaneColumns::Longest& longest = lane.longest()[i];
    if (longest.length == 0) continue;
    absl::StrAppend(&text, "longest ", i, " ", longest.length, " ", LaneStateName(longest.state),
                    "\n");
  }
  for (const LaneSpan& span : lane.SortedSpans()) {
    absl::StrAppend(&text, span.begin, " to ", span.end, " ", LaneStateName(span.state),
                    span.cut_begin ? " cut begin" : "", span.cut_end ? " cut end" : "", "\n");
  }
  return text;
}

TEST(LaneColumns, KeepsLongSpansAndAddsOthersToColumns) {
  LaneColumns lane({160, 16, 5}, LaneColumns::Spans::kKept);
  lane.Add(SpanOf(128, 166, LaneState::kRunning));  // Cut to six.
  lane.Add(SpanOf(166, 171, LaneState::kSyscall));
  lane.Add(SpanOf(171, 202, LaneState::kRunning));  // One less than two columns.
  lane.Add(SpanOf(202, 234, LaneState::kBlocked));
  lane.Add(SpanOf(234, 300, LaneState::kRunning));  // Cut to six.
  lane.Add(SpanOf(100, 150, LaneState::kRunning));  // Outside.
  lane.Add(SpanOf(240, 300, LaneState::kRunning));
  EXPECT_EQ(TextOf(lane),
            "160 16\n"
            "running 43: 0=11 1=16 2=10 4=6\n"
            "syscall 5: 0=5\n"
            "blocked 32:\n"
            "longest 0 31 running\n"
            "longest 4 66 running\n"
            "202 to 234 blocked\n");
}

TEST(LaneColumns, CutsSpansThatStayLong) {
  LaneColumns lane({160, 16, 5}, LaneColumns::Spans::kKept);
  lane.Add(SpanOf(0, 1000, LaneState::kBlocked));
  EXPECT_EQ(TextOf(lane), "160 16\nblocked 80:\n160 to 240 blocked cut begin cut end\n");
}

TEST(LaneColumns, AddsLongSpansToColumnsIfNoneAreKept) {
  LaneColumns lane({0, 16, 10}, LaneColumns::Spans::kNone);
  lane.Add(SpanOf(5, 155, LaneState::kBlocked));
  lane.Add(SpanOf(50, 51, LaneState::kBlocked));
  EXPECT_EQ(TextOf(lane), "0 16\nblocked 151: 0=11 1=16 2=16 3=17 4=16 5=16 6=16 7=16 8=16 9=11\n");
}

TEST(ColumnValues, AddsInAnyOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> expected(300);
    ColumnValues values;
    EXPECT_TRUE(values.empty());
    const size_t adds = 1 + random() % 20;
    for (size_t i = 0; i < adds; ++i) {
      const size_t first = random() % 250;
      const auto value = static_cast<int64_t>(1 + random() % 100);
      if (random() % 2 == 0) {
        values.Add(first, value);
        expected[first] += value;
        continue;
      }
      const size_t last = first + random() % 50;
      values.AddToAll(first, last, value);
      for (size_t column = first; column < last; ++column) expected[column] += value;
    }
    std::vector<int64_t> found(300);
    size_t last = 0;
    values.ForEach([&](size_t column, int64_t value) {
      EXPECT_TRUE(column > last || last == 0);
      EXPECT_NE(value, 0);
      last = column;
      found[column] = value;
    });
    ASSERT_EQ(found, expected);
  }
}

// Spans of a lane, one after another, of very different lengths.
std::vector<LaneSpan> RandomSpans(std::mt19937* random, int64_t end) {
  std::vector<LaneSpan> spans;
  for (int64_t time = 0; time < end;) {
    const int64_t length = 1 + (int64_t{1} << ((*random)() % 16)) * ((*random)() % 100) / 100;
    const auto state = static_cast<LaneState>((*random)() % kLaneStates);
    if (state != LaneState::kIdle) spans.push_back(SpanOf(time, time + length, state));
    time += length;
  }
  return spans;
}

TEST(LaneColumns, OfNarrowerColumnsAreThoseOfTheSpans) {
  std::mt19937 random(1);
  for (const LaneColumns::Spans keeps : {LaneColumns::Spans::kKept, LaneColumns::Spans::kNone}) {
    for (int round = 0; round < 50; ++round) {
      const std::vector<LaneSpan> spans = RandomSpans(&random, 100000);
      LaneColumns narrow({0, 64, 4096}, keeps);
      for (const LaneSpan& span : spans) narrow.Add(span);
      for (const ColumnRange& range : {ColumnRange{0, 64, 4096}, ColumnRange{0, 256, 1024},
                                       ColumnRange{8192, 1024, 16}, ColumnRange{65536, 128, 7}}) {
        LaneColumns direct(range, keeps);
        for (const LaneSpan& span : spans) direct.Add(span);
        LaneColumns derived(range, keeps);
        derived.Add(narrow);
        ASSERT_EQ(TextOf(derived), TextOf(direct));
      }
    }
  }
}

TEST(LaneColumns, OfPartsAddUp) {
  std::mt19937 random(2);
  const std::vector<LaneSpan> spans = RandomSpans(&random, 1 << 26);
  GrowingLane whole(LaneColumns::Spans::kKept);
  GrowingLane first(LaneColumns::Spans::kKept);
  GrowingLane second(LaneColumns::Spans::kKept);
  for (size_t i = 0; i < spans.size(); ++i) {
    whole.Add(spans[i]);
    (i < spans.size() / 3 ? first : second).Add(spans[i]);
  }
  first.Merge(second);
  EXPECT_GT(whole.lane().range().step, GrowingLane::kFirstStep);
  EXPECT_EQ(TextOf(first.lane()), TextOf(whole.lane()));
}

TEST(GrowingMetric, HasTheLargestValueOfAColumnOrTheLastBefore) {
  GrowingMetric metric;
  metric.Add(0, 5);
  metric.Add(1024, 9);
  metric.Add(1100, 2);
  metric.Add(5000, 3);
  EXPECT_EQ(metric.MaxIn({0, 1024, 6}), (std::vector<int64_t>{5, 9, 2, 2, 3, 3}));
  EXPECT_EQ(metric.MaxIn({2048, 1024, 2}), (std::vector<int64_t>{2, 2}));
  // Columns become wider.
  metric.Add(int64_t{1024} * GrowingLane::kMaxColumns * 2 - 1, 1);
  EXPECT_EQ(metric.step(), 2048);
  EXPECT_EQ(metric.MaxIn({0, 2048, 4}), (std::vector<int64_t>{9, 2, 3, 3}));
}

}  // namespace lane_columns_test
}  // namespace gotrace::internal
