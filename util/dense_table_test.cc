#include "util/dense_table.h"

#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace dense_table_test {

struct Entry {
  int64_t id = -1;
  uint64_t value = 0;
};
using Table = DenseTable<Entry>;

// Inserts and erases `ids` in some order, with at most `alive` entries at a time, and compares the
// table with a plain map.
void ExpectBehavesAsMap(const std::vector<int64_t>& ids, size_t alive) {
  Table table;
  std::unordered_map<int64_t, Entry*> expected;
  std::mt19937_64 random(1);
  for (int step = 0; step < 20000; ++step) {
    const int64_t id = ids[random() % ids.size()];
    const auto found = expected.find(id);
    ASSERT_EQ(table.Find(id), found == expected.end() ? nullptr : found->second) << id;
    if (found != expected.end()) {
      ASSERT_EQ(found->second->value, static_cast<uint64_t>(id) * 3) << id;
      table.Erase(found->second);
      expected.erase(found);
    } else if (expected.size() < alive) {
      Entry* const entry = table.Insert(id);
      ASSERT_EQ(entry->id, id);
      ASSERT_EQ(entry->value, 0u);
      entry->value = static_cast<uint64_t>(id) * 3;
      expected.emplace(id, entry);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [id, entry] : expected) ASSERT_EQ(table.Find(id), entry) << id;
  const std::vector<Entry*> sorted = table.Sorted();
  ASSERT_EQ(sorted.size(), expected.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    ASSERT_EQ(sorted[i], expected.at(sorted[i]->id));
    ASSERT_TRUE(i == 0 || sorted[i - 1]->id < sorted[i]->id);
  }
}

TEST(DenseTableTest, HoldsDenseIds) {
  std::vector<int64_t> ids;
  for (int64_t id = -100; id < 3000; ++id) ids.push_back(id);
  ExpectBehavesAsMap(ids, ids.size());
  ExpectBehavesAsMap(ids, 10);
}

TEST(DenseTableTest, HoldsIdsThatFallOnOnePlace) {
  std::vector<int64_t> ids = {std::numeric_limits<int64_t>::min(), -1, 0};
  for (int64_t i = 1; i < 2000; ++i) ids.push_back(i << 40);
  ExpectBehavesAsMap(ids, ids.size());
}

TEST(DenseTableTest, GrowsWithWhatIsAliveOnly) {
  Table table;
  constexpr int64_t kAlive = 100;
  for (int64_t id = 0; id < 1'000'000; ++id) {
    table.Insert(id);
    if (id >= kAlive) table.Erase(table.Find(id - kAlive));
  }
  EXPECT_EQ(table.size(), static_cast<size_t>(kAlive));
  EXPECT_LE(table.slot_count(), 4u * (kAlive + 1));
}

TEST(DenseTableTest, BeginsWithAsManySlotsAsAskedAndGoesBackToThem) {
  DenseTable<Entry> table(256);
  EXPECT_EQ(table.slot_count(), 256u);
  for (int64_t id = 0; id < 1000; ++id) table.Insert(id);
  EXPECT_GE(table.slot_count(), 2000u);
  table.Clear();
  EXPECT_EQ(table.slot_count(), 256u);
}

TEST(DenseTableTest, IsEmptyOnceClearedWithoutHavingGrown) {
  DenseTable<Entry> table(4096);
  for (int64_t id = -50; id < 50; ++id) table.Insert(id * 4097);
  table.Insert(50 << 20);  // In the slot of 0.
  table.Erase(table.Find(4097));
  table.Clear();
  EXPECT_EQ(table.slot_count(), 4096u);
  EXPECT_EQ(table.size(), 0u);
  for (int64_t id = -50; id < 50; ++id) EXPECT_EQ(table.Find(id * 4097), nullptr) << id;
  EXPECT_EQ(table.Find(50 << 20), nullptr);
  Entry* const entry = table.Insert(50 << 20);
  EXPECT_EQ(table.Find(50 << 20), entry);
}

TEST(DenseTableTest, WhatIsErasedIsAsIfItWereNew) {
  Table table;
  Entry* const entry = table.Insert(1);
  entry->value = 7;
  table.Erase(entry);
  EXPECT_EQ(entry->id, -1);
  EXPECT_EQ(entry->value, 0u);
  EXPECT_EQ(table.Insert(2), entry);
}

TEST(DenseTableTest, IsEmptyOnceCleared) {
  Table table;
  for (int64_t id = 0; id < 1000; ++id) table.Insert(id * 4097);
  table.Clear();
  EXPECT_EQ(table.size(), 0u);
  for (int64_t id = 0; id < 1000; ++id) EXPECT_EQ(table.Find(id * 4097), nullptr);
  EXPECT_EQ(table.Insert(5)->value, 0u);
}

}  // namespace dense_table_test
}  // namespace gotrace::internal
