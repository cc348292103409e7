#include "gotrace/stack_copy.h"

#include <string>
#include <unordered_set>

#include "absl/container/flat_hash_map.h"
#include "gotrace/event_builder.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace stack_copy_test {

constexpr StackFrame kWork = {0x10, "main.work", "/src/main.go", 31};
constexpr StackFrame kMain = {0x20, "main.main", "/src/main.go", 12};

TEST(StackCopyTest, OutlivesTheTables) {
  StackCopy copy;
  EXPECT_TRUE(copy.empty());
  {
    EventBuilder builder(EventType::kGoBlock);
    copy = StackCopy(builder.Stack({kWork, kMain}).Build().stack());
  }
  ASSERT_EQ(copy.frames().size(), 2u);
  EXPECT_EQ(copy.frames()[0], (FrameCopy{0x10, "main.work", "/src/main.go", 31}));
  EXPECT_EQ(copy.frames()[1], (FrameCopy{0x20, "main.main", "/src/main.go", 12}));
  EXPECT_TRUE(StackCopy(Stack()).empty());
}

TEST(StackCopyTest, StacksOfDifferentTablesAreEqualByTheirFrames) {
  EventBuilder a(EventType::kGoBlock), b(EventType::kGoStop);
  b.Stack({kMain});  // So that the ids differ.
  const Stack stack_a = a.Stack({kWork, kMain}).Build().stack();
  const Stack stack_b = b.Stack({kWork, kMain}).Build().stack();
  ASSERT_FALSE(stack_a == stack_b);
  EXPECT_EQ(StackCopy(stack_a), StackCopy(stack_b));
  EXPECT_EQ(std::hash<StackCopy>()(StackCopy(stack_a)), std::hash<StackCopy>()(StackCopy(stack_b)));
}

TEST(StackCopyTest, EveryFieldOfAFrameCounts) {
  const StackCopy copies[] = {
      StackCopy({kWork}),
      StackCopy({kMain}),
      StackCopy({kWork, kMain}),
      StackCopy({kMain, kWork}),
      StackCopy(),
      StackCopy({{0x11, "main.work", "/src/main.go", 31}}),
      StackCopy({{0x10, "main.worK", "/src/main.go", 31}}),
      StackCopy({{0x10, "main.work", "/src/main.gO", 31}}),
      StackCopy({{0x10, "main.work", "/src/main.go", 32}}),
  };
  absl::flat_hash_map<StackCopy, int> counts;
  std::unordered_set<StackCopy> set;
  for (int round = 0; round < 2; ++round) {
    for (const StackCopy& copy : copies) {
      ++counts[copy];
      set.insert(copy);
    }
  }
  EXPECT_EQ(counts.size(), std::size(copies));
  EXPECT_EQ(set.size(), std::size(copies));
  for (const auto& [copy, count] : counts) EXPECT_EQ(count, 2);
}

TEST(FormatStackTest, IsAsInAPanic) {
  EventBuilder builder(EventType::kGoBlock);
  const Stack stack = builder.Stack({kWork, kMain}).Build().stack();
  EXPECT_EQ(FormatStack(stack),
            "main.work\n"
            "\t/src/main.go:31\n"
            "main.main\n"
            "\t/src/main.go:12\n");
  EXPECT_EQ(FormatStack(StackCopy(stack)), FormatStack(stack));
  EXPECT_EQ(FormatStack(Stack()), "");
  EXPECT_EQ(FormatStack(StackCopy()), "");
}

TEST(FormatStackTest, UnknownAndOddNamesStayOnTheirLines) {
  EventBuilder builder(EventType::kGoBlock);
  const Stack stack =
      builder.Stack({{0x47a1b2, "", "", 0}, {1, "a\nb", "c\td", 3}, {2, "", "x.go", 4}})
          .Build()
          .stack();
  EXPECT_EQ(FormatStack(stack),
            "0x47a1b2\n"
            "\"a\\nb\"\n"
            "\t\"c\\td\":3\n"
            "0x2\n"
            "\tx.go:4\n");
  EXPECT_EQ(FormatStack(StackCopy(stack)), FormatStack(stack));
}

}  // namespace stack_copy_test
}  // namespace gotrace::internal
