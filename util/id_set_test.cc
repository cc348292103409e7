#include "util/id_set.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace id_set_test {

TEST(IdSetTest, HasWhatWasAdded) {
  IdSet set;
  EXPECT_FALSE(set.Has(0));
  for (const uint64_t id : {0, 63, 64, 5000, 4'000'000}) {
    EXPECT_FALSE(set.Has(id));
    set.Add(id);
    EXPECT_TRUE(set.Has(id));
    EXPECT_FALSE(set.Has(id + 1));
  }
  set.Clear();
  for (const uint64_t id : {0, 63, 64, 5000, 4'000'000}) EXPECT_FALSE(set.Has(id));
  set.Add(64);
  EXPECT_TRUE(set.Has(64));
  EXPECT_FALSE(set.Has(63));
}

TEST(IdSetTest, DoesNotRememberWhatNoProgramWrites) {
  IdSet set;
  for (const uint64_t id : {uint64_t{1} << 22, ~uint64_t{0}}) {
    set.Add(id);
    EXPECT_FALSE(set.Has(id));
  }
}

}  // namespace id_set_test
}  // namespace gotrace::internal
