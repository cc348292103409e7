#include "parser/name_pool.h"

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace gotrace {
namespace {

TEST(NamePoolTest, KeepsEachNameOnceAndOnlyWhileItIsHeld) {
  NamePool pool;
  std::optional<NamePool::Name> first = pool.Get("build");
  NamePool::Name second = pool.Get("build");
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(first->view().data(), second.view().data());
  first.reset();
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(second.view(), "build");
  second = pool.Get("test");
  EXPECT_EQ(second.view(), "test");
  EXPECT_EQ(pool.size(), 1u);
}

TEST(NamePoolTest, AMovedNameIsHeldByItsNewHolder) {
  NamePool pool;
  NamePool::Name name = pool.Get("");
  EXPECT_EQ(pool.size(), 1u);
  {
    const NamePool::Name moved = std::move(name);
    EXPECT_EQ(moved.view(), "");
    EXPECT_EQ(pool.size(), 1u);
  }
  EXPECT_EQ(pool.size(), 0u);
}

}  // namespace
}  // namespace gotrace
