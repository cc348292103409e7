#include "util/open_stack.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace open_stack_test {

struct Number {
  int key = 0;
  int number = 0;
};

size_t comparisons = 0;

struct NumberTraits {
  using Key = int;
  static int KeyOf(const Number& number) { return number.key; }
  static bool Has(const Number& number, int key) {
    ++comparisons;
    return number.key == key;
  }
};

TEST(OpenStackTest, FindsTheInnermost) {
  OpenStack<Number, NumberTraits> stack;
  // A plain vector is searched at first, and a table later.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(stack.FindLast(7), i <= 7 ? stack.kNone : static_cast<size_t>(7 + (i - 8) / 10 * 10));
    stack.Push({i % 10, i});
  }
  for (int i = 100; i-- > 0;) {
    EXPECT_EQ(stack.back().number, i);
    EXPECT_EQ(stack.FindLast(i % 10), static_cast<size_t>(i));
    stack.Pop();
    EXPECT_EQ(stack.FindLast(i % 10), i < 10 ? stack.kNone : static_cast<size_t>(i - 10));
  }
  EXPECT_TRUE(stack.empty());
}

TEST(OpenStackTest, DoesNotSearchForWhatIsNotThere) {
  OpenStack<Number, NumberTraits> stack;
  for (int i = 0; i < 1000; ++i) stack.Push({i, i});
  comparisons = 0;
  for (int i = 1000; i < 2000; ++i) EXPECT_EQ(stack.FindLast(i), stack.kNone);
  EXPECT_EQ(comparisons, 0u);
}

}  // namespace open_stack_test
}  // namespace gotrace::internal
