#include "util/id_table.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace id_table_test {

using Table = IdTable<std::string>;

// Inserts all of `ids` and checks that each is found, in order of insertion, and nothing else is.
void ExpectFinds(const std::vector<uint64_t>& ids) {
  Table table;
  std::unordered_map<uint64_t, uint32_t> expected;
  for (const uint64_t id : ids) {
    const bool is_new = expected.emplace(id, expected.size()).second;
    ASSERT_EQ(table.Insert(id, std::to_string(id)), is_new) << id;
    ASSERT_EQ(table.Find(id), expected[id]) << id;
    ASSERT_LE(table.gapless(), table.last_near());
    for (const uint64_t near : {id, id + 1, id + 2}) {
      if (near == 0) continue;
      ASSERT_EQ(table.Contains(near), expected.count(near) > 0) << near;
      ASSERT_TRUE(!table.near().Has(near) || table.Contains(near)) << near;
      ASSERT_TRUE(!table.near().Has(near) || near <= table.last_near()) << near;
    }
  }
  ASSERT_EQ(table.size(), expected.size());
  for (const auto& [id, index] : expected) {
    ASSERT_EQ(table.Find(id), index) << id;
    ASSERT_EQ(table[index], std::to_string(id));
    for (const uint64_t near : {id - 1, id + 1, 2 * id, id ^ (uint64_t{1} << 63)}) {
      if (expected.count(near) > 0) continue;
      ASSERT_EQ(table.Find(near), Table::kAbsent) << near;
    }
  }
}

TEST(IdTableTest, BeginsEmpty) {
  Table table;
  EXPECT_EQ(table.size(), 0u);
  for (const uint64_t id : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, ~uint64_t{0}}) {
    EXPECT_EQ(table.Find(id), Table::kAbsent);
  }
}

TEST(IdTableTest, FindsDenseIds) {
  std::vector<uint64_t> rising, falling;
  for (uint64_t id = 0; id < 5000; ++id) {
    rising.push_back(id);
    falling.push_back(5000 - id);
  }
  ExpectFinds(rising);
  ExpectFinds(falling);
}

TEST(IdTableTest, FindsIdsWithGapsByIndex) {
  Table table;
  EXPECT_TRUE(table.near().Has(0));
  EXPECT_FALSE(table.near().Has(1));
  EXPECT_FALSE(table.near().Has(~uint64_t{0}));
  EXPECT_EQ(table.last_near(), 0u);
  // Rising, so that the index grows again and again, and each time up to its end.
  for (uint64_t id = 1; id < 20000; ++id) {
    if (id % 7 == 0) continue;
    ASSERT_TRUE(table.Insert(id, ""));
    ASSERT_TRUE(table.near().Has(id)) << id;
    ASSERT_FALSE(table.near().Has(id + 1)) << id;
    ASSERT_TRUE(id < 7 || !table.near().Has(id - id % 7)) << id;
    ASSERT_EQ(table.last_near(), id);
  }
  ASSERT_TRUE(table.Insert(uint64_t{1} << 40, ""));
  EXPECT_EQ(table.last_near(), 19998u);
  EXPECT_FALSE(table.near().Has(uint64_t{1} << 40));
}

TEST(IdTableTest, FindsIdsInNoOrderByIndexOnceAllAreThere) {
  std::mt19937_64 random(1);
  for (const uint64_t count : {1000, 1025, 1026, 3000, 5000, 20000}) {
    std::vector<uint64_t> ids(count);
    std::iota(ids.begin(), ids.end(), uint64_t{1});
    for (const bool falling : {false, true}) {
      if (falling) {
        std::reverse(ids.begin(), ids.end());
      } else {
        std::shuffle(ids.begin(), ids.end(), random);
        // The last one is far at first.
        std::swap(ids[0], *std::max_element(ids.begin(), ids.end()));
      }
      Table table;
      for (const uint64_t id : ids) ASSERT_TRUE(table.Insert(id, ""));
      EXPECT_EQ(table.gapless(), count);
      EXPECT_EQ(table.last_near(), count);
      for (const uint64_t id : ids) ASSERT_TRUE(table.near().Has(id)) << id << " of " << count;
      std::sort(ids.begin(), ids.end());
    }
  }
}

TEST(IdTableTest, FindsSparseAndHugeIds) {
  std::vector<uint64_t> ids;
  for (int bit = 0; bit < 64; ++bit) {
    for (const int64_t d : {-1, 0, 1}) ids.push_back((uint64_t{1} << bit) + d);
  }
  ExpectFinds(ids);
  ids.clear();
  for (uint64_t i = 0; i < 2000; ++i) ids.push_back(i * 1000003);
  ExpectFinds(ids);
  ExpectFinds({~uint64_t{0}, 0, ~uint64_t{0} - 1, uint64_t{1} << 32, (uint64_t{1} << 32) + 1});
}

TEST(IdTableTest, FindsSparseIdsThatBecomeDense) {
  // The first ids are too large to be found by index; the following ids fill the gap before them.
  std::vector<uint64_t> ids = {3000, 2999, 5000, 1024, 1030};
  for (uint64_t id = 1; id <= 6000; ++id) ids.push_back(id);
  ExpectFinds(ids);
}

TEST(IdTableTest, RefusesDuplicates) {
  Table table;
  for (const uint64_t id : {uint64_t{5}, uint64_t{1} << 40}) {
    EXPECT_TRUE(table.Insert(id, "first"));
    EXPECT_FALSE(table.Insert(id, "second"));
    EXPECT_EQ(table[table.Find(id)], "first");
  }
  EXPECT_EQ(table.size(), 2u);
}

TEST(IdTableTest, FindsRandomIds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint64_t> ids;
    for (int i = 0; i < 3000; ++i) ids.push_back(random() >> (random() % 64));
    ExpectFinds(ids);
  }
}

}  // namespace id_table_test
}  // namespace gotrace::internal
