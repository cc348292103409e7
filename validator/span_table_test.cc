#include "validator/span_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace span_table_test {

constexpr absl::string_view kStop = "stop-the-world";

OpenSpan Range(absl::string_view what, absl::string_view reason) {
  OpenSpan range(reason, TaskId::kNone, EventMark());
  range.what = what;
  return range;
}

TEST(RangeSpansTest, ARangeIsFoundByWhatItIsAndItsReason) {
  RangeSpans ranges;
  EXPECT_TRUE(ranges.empty());
  ranges.Add(Range(kStop, "a"));
  ranges.Add(Range("GC", ""));
  EXPECT_EQ(ranges.Find(kStop, "b"), RangeSpans::kNone);
  EXPECT_EQ(ranges.Find("GC", "a"), RangeSpans::kNone);
  // Equal texts need not be at the same address.
  const std::string same(kStop);
  EXPECT_EQ(ranges.Find(same, "a"), 0u);
  EXPECT_EQ(ranges.Find("GC", ""), 1u);
  EXPECT_EQ(ranges.First().what, "GC");
  ranges.Remove(0);
  EXPECT_EQ(ranges.Find(kStop, "a"), RangeSpans::kNone);
  EXPECT_EQ(ranges.Find("GC", ""), 0u);
  ranges.Remove(0);
  EXPECT_TRUE(ranges.empty());
}

// Far more ranges than are searched one by one.
TEST(RangeSpansTest, FindsEachOfManyRanges) {
  RangeSpans ranges;
  constexpr size_t kCount = 100;
  const auto reason = [](size_t i) { return absl::StrCat("reason ", 1000 + i); };
  for (size_t i = 0; i < kCount; ++i) ranges.Add(Range(kStop, reason(i)));
  // Removes every other range, including the last one.
  for (size_t i = 1; i < kCount; i += 2) ranges.Remove(ranges.Find(kStop, reason(i)));
  EXPECT_EQ(ranges.all().size(), kCount / 2);
  for (size_t i = 0; i < kCount; ++i) {
    const size_t place = ranges.Find(kStop, reason(i));
    ASSERT_EQ(place == RangeSpans::kNone, i % 2 == 1) << i;
    if (i % 2 == 0) {
      EXPECT_EQ(ranges.all()[place].name, reason(i));
    }
  }
  EXPECT_EQ(ranges.First().name, reason(0));
  ranges.Remove(ranges.Find(kStop, reason(0)));
  EXPECT_EQ(ranges.First().name, reason(2));
}

}  // namespace span_table_test
}  // namespace gotrace::internal
