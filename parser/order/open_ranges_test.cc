#include "parser/order/open_ranges.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace open_ranges_test {

constexpr EventType kStop = EventType::kSTWBegin;
constexpr EventType kAssist = EventType::kGCMarkAssistBegin;

TEST(OpenRangesTest, RangesAreTheSameByTypeAndKind) {
  OpenRanges open;
  EXPECT_EQ(open.Find({kStop, 5}), OpenRanges::kNone);
  open.Add({kStop, 5});
  EXPECT_EQ(open.Find({kStop, 5}), 0u);
  EXPECT_EQ(open.Find({kStop, 6}), OpenRanges::kNone);
  EXPECT_EQ(open.Find({kAssist, 5}), OpenRanges::kNone);
}

TEST(OpenRangesTest, AnEndRemovesTheFirstOfItsTypeAndTheLastReplacesIt) {
  for (const int count : {3, 100}) {
    OpenRanges open;
    open.Add({kAssist, 0});
    for (uint64_t kind = 1; kind <= static_cast<uint64_t>(count); ++kind) open.Add({kStop, kind});
    for (int left = count; left > 0; --left) {
      EXPECT_EQ(open.FindFirst(kAssist), 0u);
      const size_t place = open.FindFirst(kStop);
      ASSERT_EQ(place, 1u);
      // After the first range is removed, the others are removed from the back.
      EXPECT_EQ(open.at(place).kind, left == count ? 1u : left + 1u);
      open.Remove(place);
    }
    EXPECT_EQ(open.FindFirst(kStop), OpenRanges::kNone);
    EXPECT_EQ(open.Find({kAssist, 0}), 0u);
    open.Remove(0);
    EXPECT_EQ(open.FindFirst(kAssist), OpenRanges::kNone);
  }
}

}  // namespace open_ranges_test
}  // namespace gotrace::internal
