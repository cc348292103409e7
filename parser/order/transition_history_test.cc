#include "gotrace/internal/transition_history.h"

#include <cstdint>
#include <vector>

#include "gotrace/states.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace transition_history_test {

TEST(TransitionHistoryTest, ListsTheLastFewInOrder) {
  TransitionHistory history;
  uint8_t count = 0;
  EXPECT_TRUE(history.List(count).empty());
  std::vector<PastTransition> all;
  for (uint64_t i = 0; i < 20; ++i) {
    const EventType type = i % 2 == 0 ? EventType::kGoStart : EventType::kGoBlock;
    const GoState from = static_cast<GoState>(i % 6);
    const GoState to = static_cast<GoState>((i + 1) % 6);
    // An offset larger than that of any real trace.
    const uint64_t offset = (uint64_t{1} << 48) - 1 - i;
    history.Add(offset, TagsOf(type).WithTransition(from, to), &count);
    all.push_back({offset, type, static_cast<uint8_t>(from), static_cast<uint8_t>(to)});
    const size_t kept = std::min<size_t>(all.size(), TransitionHistory::kKept);
    EXPECT_EQ(history.List(count), std::vector<PastTransition>(all.end() - kept, all.end())) << i;
  }
}

}  // namespace transition_history_test
}  // namespace gotrace::internal
