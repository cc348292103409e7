#include "validator/stack_watch.h"

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace stack_watch_test {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(StackWatchTest, WatchesForNothingAtFirst) {
  const StackWatch watch;
  for (const uint64_t id : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, kMax}) {
    EXPECT_FALSE(watch.Has(id)) << id;
  }
}

TEST(StackWatchTest, WatchesForAllAbove) {
  StackWatch watch;
  watch.Begin(100, {});
  EXPECT_FALSE(watch.Has(0));
  EXPECT_FALSE(watch.Has(100));
  EXPECT_TRUE(watch.Has(101));
  EXPECT_TRUE(watch.Has(kMax));
  watch.Forget(101);
  EXPECT_TRUE(watch.Has(101));
}

TEST(StackWatchTest, WatchesForIdsUntilTheyAreForgotten) {
  StackWatch watch;
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    const uint64_t last = 1 + random() % 300;
    std::set<uint64_t> expected;
    for (int i = 0; i < round % 10; ++i) expected.insert(1 + random() % last);
    watch.Begin(last, std::vector<uint64_t>(expected.begin(), expected.end()));
    while (true) {
      for (uint64_t id = 0; id <= last; ++id) {
        ASSERT_EQ(watch.Has(id), expected.count(id) > 0) << id << " of " << last;
      }
      ASSERT_TRUE(watch.Has(last + 1));
      if (expected.empty()) break;
      auto id = expected.begin();
      std::advance(id, random() % expected.size());
      watch.Forget(*id);
      expected.erase(id);
    }
  }
}

TEST(StackWatchTest, MayKnowAllIds) {
  StackWatch watch;
  watch.Begin(kMax, {});
  EXPECT_FALSE(watch.Has(kMax));
}

}  // namespace stack_watch_test
}  // namespace gotrace::internal
