#include "parser/order/goroutine_table.h"

#include <cstdint>
#include <map>
#include <random>

#include "gtest/gtest.h"
#include "util/name_pool.h"

namespace gotrace::internal {
namespace goroutine_table_test {

TEST(GoroutineStateTest, IsFollowedByTheNextNumberOfTheSameGeneration) {
  GoroutineState state;
  state.generation = 3;
  state.number = 7;
  EXPECT_TRUE(state.IsFollowedBy(8, 3));
  EXPECT_FALSE(state.IsFollowedBy(7, 3));
  EXPECT_FALSE(state.IsFollowedBy(9, 3));
  EXPECT_FALSE(state.IsFollowedBy(8, 4));
  EXPECT_FALSE(state.IsFollowedBy(8, 2));
  state.number = ~uint64_t{0};
  EXPECT_TRUE(state.IsFollowedBy(0, 3));
}

TEST(GoroutineStateTest, HasNothingOpenUntilAsked) {
  GoroutineState state;
  EXPECT_EQ(state.spans, nullptr);
  state.open().ranges.Add({EventType::kSTWBegin, 0});
  EXPECT_EQ(state.open().ranges.FindFirst(EventType::kSTWBegin), 0u);
  EXPECT_TRUE(state.open().regions.empty());
}

TEST(GoroutineTableTest, FindsWhatWasInserted) {
  GoroutineTable table(64);
  EXPECT_EQ(table.Find(GoId{1}), nullptr);
  EXPECT_EQ(table.Find(GoId::kNone), nullptr);
  GoroutineState* const one = table.Insert(GoId{1});
  GoroutineState* const none = table.Insert(GoId::kNone);
  EXPECT_NE(one, none);
  EXPECT_EQ(table.Find(GoId{1}), one);
  EXPECT_EQ(table.Find(GoId::kNone), none);
  EXPECT_EQ(table.Find(GoId{2}), nullptr);
  EXPECT_EQ(one->id, GoId{1});
  EXPECT_EQ(table.size(), 2u);
}

// The mark of a free slot is also an id, though not one that belongs to that slot.
TEST(GoroutineTableTest, HoldsIdsThatMarkFreeSlots) {
  GoroutineTable table(4);
  for (int64_t id = -8; id < 8; ++id) ASSERT_EQ(table.Find(GoId{id}), nullptr) << id;
  for (int64_t id = -8; id < 8; ++id) {
    table.Insert(GoId{id})->number = static_cast<uint64_t>(id);
    for (int64_t other = -8; other < 8; ++other) {
      const GoroutineState* const found = table.Find(GoId{other});
      ASSERT_EQ(found != nullptr, other <= id) << id << ", " << other;
      if (found != nullptr) {
        ASSERT_EQ(found->number, static_cast<uint64_t>(other));
      }
    }
  }
}

TEST(GoroutineTableTest, KeepsStatesWhileOthersComeAndGo) {
  GoroutineTable table(64);
  std::mt19937_64 random(1);
  std::map<int64_t, uint64_t> expected;
  for (uint64_t i = 0; i < 50000; ++i) {
    // Uses ids that are close to each other, and some that share their lowest bits.
    const uint64_t high = random() % 4 == 0 ? random() % 64 << 32 : 0;
    const GoId id{static_cast<int64_t>(random() % 2000 + high)};
    const auto it = expected.find(id.value);
    GoroutineState* const state = table.Find(id);
    ASSERT_EQ(state != nullptr, it != expected.end());
    if (state == nullptr) {
      GoroutineState* const inserted = table.Insert(id);
      ASSERT_EQ(inserted->id, id);
      ASSERT_EQ(inserted->number, 0u);
      inserted->number = expected[id.value] = i;
    } else {
      ASSERT_EQ(state->number, it->second);
      table.Erase(state);
      expected.erase(it);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  EXPECT_GT(table.size(), 1000u);
  EXPECT_GE(table.slot_count(), 2 * table.size());
}

TEST(GoroutineTableTest, FindsIdsThatShareASlot) {
  GoroutineTable table(64);
  table.Insert(GoId{3})->number = 1;
  table.Insert(GoId{67})->number = 2;
  table.Insert(GoId{-61})->number = 3;
  EXPECT_EQ(table.Find(GoId{3})->number, 1u);
  EXPECT_EQ(table.Find(GoId{67})->number, 2u);
  EXPECT_EQ(table.Find(GoId{-61})->number, 3u);
  EXPECT_EQ(table.Find(GoId{131}), nullptr);
  table.Erase(table.Find(GoId{-61}));
  EXPECT_EQ(table.Find(GoId{-61}), nullptr);
  EXPECT_EQ(table.Find(GoId{67})->number, 2u);
  table.Erase(table.Find(GoId{3}));
  EXPECT_EQ(table.Find(GoId{3}), nullptr);
  EXPECT_EQ(table.Find(GoId{67})->number, 2u);
  EXPECT_EQ(table.FindOrInsert(GoId{67})->number, 2u);
  EXPECT_EQ(table.FindOrInsert(GoId{3})->number, 0u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(GoroutineTableTest, ClearErasesAll) {
  for (const int64_t count : {20, 1000}) {
    GoroutineTable table(64);
    for (int round = 0; round < 3; ++round) {
      for (int64_t id = 0; id < count; ++id) {
        ASSERT_EQ(table.Find(GoId{id}), nullptr);
        ASSERT_EQ(table.Insert(GoId{id})->number, 0u);
      }
      EXPECT_EQ(table.size(), static_cast<size_t>(count));
      table.Find(GoId{7})->number = 1;
      table.Find(GoId{7})->open();
      table.Clear();
      EXPECT_EQ(table.size(), 0u);
      EXPECT_EQ(table.slot_count(), 64u);
    }
  }
}

TEST(GoroutineTableTest, ErasedStatesAreForgotten) {
  NamePool names;
  GoroutineTable table(64);
  // The second one has no slot of its own.
  for (const GoId id : {GoId{1}, GoId{65}}) {
    GoroutineState* const state = table.Insert(id);
    state->status = GoStatus::kRunning;
    state->number = 5;
    state->generation = 4;
    state->open().regions.push_back({TaskId{1}, names.Get("open")});
  }
  EXPECT_EQ(names.held(), 2u);
  for (const GoId id : {GoId{1}, GoId{65}}) table.Erase(table.Find(id));
  EXPECT_EQ(names.held(), 0u);
  for (const GoId id : {GoId{1}, GoId{65}}) {
    EXPECT_EQ(table.Find(id), nullptr);
    const GoroutineState* const next = table.Insert(id);
    EXPECT_EQ(next->status, GoStatus::kBad);
    EXPECT_EQ(next->number, 0u);
    EXPECT_EQ(next->generation, 0u);
    EXPECT_EQ(next->spans, nullptr);
  }
}

}  // namespace goroutine_table_test
}  // namespace gotrace::internal
