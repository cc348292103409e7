#include "analysis/tasks/region_tracker.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace region_tracker_test {

// Tracks regions of goroutine 7, whose data are numbers.
struct Part {
  Event Make(EventType type, int64_t time, int64_t task, const char* name) {
    events.Push(events.Builder(type, time, 0, 7)
                    .Task(TaskId{static_cast<uint64_t>(task)})
                    .RegionType(name));
    return events.events().back();
  }
  void Begin(int64_t time, int64_t task, const char* name, int number = 0) {
    tracker.Begin(Make(EventType::kUserRegionBegin, time, task, name), &interner).data = number;
  }
  std::string End(int64_t time, int64_t task, const char* name) {
    return Text(tracker.End(Make(EventType::kUserRegionEnd, time, task, name), &interner));
  }
  std::string Text(const RegionTracker<int>::Region& region) const {
    const auto time = [](std::optional<int64_t> t) {
      return t.has_value() ? absl::StrCat(*t) : "?";
    };
    return absl::StrCat(time(region.begin), "-", time(region.end), " G", region.goroutine.value,
                        " task ", region.task.value, " ", interner.String(region.type), " in ",
                        region.depth, region.is_outermost_of_task ? "" : " of the task",
                        region.is_outermost_of_type ? "" : " of the type", " #", region.data);
  }
  std::string Open() const {
    std::string text;
    for (const auto& region : tracker.open()) absl::StrAppend(&text, Text(region), "\n");
    return text;
  }

  BuiltEvents events;
  Interner interner;
  RegionTracker<int> tracker;
};

TEST(RegionTracker, AnEndIsThatOfTheInnermostRegion) {
  Part part;
  part.Begin(10, 1, "outer", 1);
  part.Begin(20, 2, "inner", 2);
  EXPECT_EQ(part.End(30, 1, "outer"), "20-30 G7 task 2 inner in 1 #2");
  EXPECT_EQ(part.End(40, 3, "other"), "10-40 G7 task 1 outer in 0 #1");
}

TEST(RegionTracker, ARegionWithoutABeginIsOlder) {
  Part part;
  EXPECT_EQ(part.End(10, 3, "older"), "?-10 G7 task 3 older in 0 #0");
  EXPECT_TRUE(part.tracker.open().empty());
}

TEST(RegionTracker, KnowsWhatIsAround) {
  Part part;
  const auto is_in = [&](const char* type) {
    return part.tracker.IsIn(part.interner.InternString(type));
  };
  EXPECT_FALSE(part.tracker.IsIn(TaskId{1}) || is_in("a"));
  part.Begin(1, 1, "a");
  part.Begin(2, 2, "a");
  part.Begin(3, 1, "b");
  part.Begin(4, 2, "b");
  EXPECT_EQ(part.Open(),
            "1-? G7 task 1 a in 0 #0\n"
            "2-? G7 task 2 a in 1 of the type #0\n"
            "3-? G7 task 1 b in 2 of the task #0\n"
            "4-? G7 task 2 b in 3 of the task of the type #0\n");
  for (int64_t i = 4; i > 0; --i) {
    EXPECT_TRUE(part.tracker.IsIn(TaskId{1}) && is_in("a")) << i;
    EXPECT_EQ(part.tracker.IsIn(TaskId{2}), i > 1) << i;
    EXPECT_EQ(is_in("b"), i > 2) << i;
    part.End(10, 0, "");
  }
  EXPECT_FALSE(part.tracker.IsIn(TaskId{1}) || is_in("a"));
}

TEST(RegionTracker, EndsAllFromTheInnermostOn) {
  Part part;
  part.Begin(1, 1, "a", 1);
  part.Begin(2, 1, "a", 2);
  std::vector<int> ended;
  part.tracker.EndAll(9, [&](const auto& region) {
    EXPECT_EQ(region.end, 9);
    ended.push_back(region.data);
  });
  EXPECT_EQ(ended, (std::vector<int>{2, 1}));
  EXPECT_TRUE(part.tracker.open().empty());
}

TEST(RegionTracker, AppendsTheNextPart) {
  Part part;
  part.Begin(1, 1, "a", 1);
  part.Begin(2, 2, "b", 2);
  Part next;
  EXPECT_EQ(next.End(11, 2, "b"), "?-11 G7 task 2 b in 0 #0");
  // The ids of its names are others.
  next.Begin(12, 3, "c", 3);
  next.Begin(13, 1, "a", 4);
  next.tracker.MapIds(part.interner.Merge(next.interner));
  part.tracker.EndInnermost(11);
  part.tracker.Append(std::move(next.tracker), [](int number) { return number * 10; });
  EXPECT_EQ(part.Open(),
            "1-? G7 task 1 a in 0 #1\n"
            "12-? G7 task 3 c in 1 #30\n"
            "13-? G7 task 1 a in 2 of the task of the type #40\n");
}

TEST(RegionTracker, MapsIdsOfWhatIsAround) {
  Part part;
  part.Begin(1, 1, "a");
  part.Begin(2, 2, "b");
  Interner whole;
  whole.InternString("c");
  part.tracker.MapIds(whole.Merge(part.interner));
  const StringId inner = whole.InternString("b");
  EXPECT_TRUE(part.tracker.IsIn(TaskId{2}) && part.tracker.IsIn(inner));
  part.tracker.EndInnermost(3);
  EXPECT_FALSE(part.tracker.IsIn(TaskId{2}) || part.tracker.IsIn(inner));
  EXPECT_TRUE(part.tracker.IsIn(TaskId{1}) && part.tracker.IsIn(whole.InternString("a")));
}

}  // namespace region_tracker_test
}  // namespace gotrace::internal
