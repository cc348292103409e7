#include "util/name_pool.h"

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace name_pool_test {

// Removes texts without references, and returns how many remain.
size_t SizeAfterSweep(NamePool* pool) {
  pool->Sweep();
  return pool->size();
}

TEST(NamePoolTest, KeepsEachNameOnceAndOnlyWhileItIsHeld) {
  NamePool pool;
  std::optional<NamePool::Name> first = pool.Get("build");
  NamePool::Name second = pool.Get("build");
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(first->view().data(), second.view().data());
  EXPECT_EQ(first->text(), second.text());
  first.reset();
  EXPECT_EQ(SizeAfterSweep(&pool), 1u);
  EXPECT_EQ(second.view(), "build");
  second = pool.Get("test");
  EXPECT_EQ(second.view(), "test");
  EXPECT_EQ(SizeAfterSweep(&pool), 1u);
  EXPECT_EQ(second.view(), "test");
}

TEST(NamePoolTest, AMovedNameIsHeldByItsNewHolder) {
  NamePool pool;
  NamePool::Name name = pool.Get("");
  EXPECT_EQ(SizeAfterSweep(&pool), 1u);
  {
    const NamePool::Name moved = std::move(name);
    EXPECT_EQ(moved.view(), "");
    EXPECT_EQ(SizeAfterSweep(&pool), 1u);
  }
  EXPECT_EQ(SizeAfterSweep(&pool), 0u);
}

TEST(NamePoolTest, KeepsWhatNobodyHoldsUntilItIsSwept) {
  NamePool pool;
  NamePool::Text* const build = pool.Keep("build");
  EXPECT_EQ(build->first, "build");
  EXPECT_EQ(pool.Keep("build"), build);
  EXPECT_EQ(pool.held(), 0u);
  for (int i = 0; i < 3; ++i) {
    const NamePool::Name name = pool.Hold(build);
    EXPECT_EQ(name.text(), build);
    EXPECT_EQ(pool.held(), 1u);
  }
  EXPECT_EQ(pool.held(), 0u);
  EXPECT_EQ(pool.size(), 1u);
  NamePool::Name held = pool.Hold(build);
  EXPECT_EQ(SizeAfterSweep(&pool), 1u);
  EXPECT_EQ(pool.Get("build").text(), build);
  EXPECT_EQ(pool.Keep("build"), build);
  { const NamePool::Name gone = std::move(held); }
  EXPECT_EQ(SizeAfterSweep(&pool), 0u);
}

}  // namespace name_pool_test
}  // namespace gotrace::internal
