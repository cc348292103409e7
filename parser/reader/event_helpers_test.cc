// Tests GoroutineNames, EventTimes and StackCopy with the events of real traces.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "gotrace/event_times.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/reader.h"
#include "gotrace/stack_copy.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace event_helpers_test {

TEST(GoroutineNamesTest, NamesTheGoroutinesOfRealTraces) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    GoroutineNames names;
    std::map<int64_t, std::string> created;
    std::set<int64_t> with_stack;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    for (auto block = reader->NextBlock(); !block.empty(); block = reader->NextBlock()) {
      names.Add(block);
      for (const Event& event : block) {
        if (event.transition_resource().kind != ResourceKind::kGoroutine) continue;
        const Stack stack = event.transition_stack();
        if (stack.size() == 0) continue;
        with_stack.insert(event.transition_resource().id);
        if (event.type() == EventType::kGoCreate) {
          created.emplace(event.transition_resource().id, stack.frame(0).func);
        }
      }
    }
    ASSERT_TRUE(reader->status().ok());
    EXPECT_GE(names.size(), with_stack.size());
    for (const auto& [id, name] : created) EXPECT_EQ(names.NameOf(GoId{id}), name) << id;
    if (with_stack.contains(1)) {
      EXPECT_EQ(names.NameOf(GoId{1}), "main.main");
    }
  }
}

TEST(EventTimesTest, TimesOfRealTracesAreKnownSinceGo125) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    EventTimes times;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    while (const Event* event = reader->Next()) {
      times.Add(*event);
      EXPECT_GE(times.SinceStart(event->time()), absl::ZeroDuration());
      EXPECT_LT(times.SinceStart(event->time()), absl::Minutes(10));
      const std::optional<absl::Time> wall = times.WallTime(event->time());
      ASSERT_EQ(wall.has_value(), reader->version() >= Version::kGo125);
      if (!wall.has_value()) continue;
      EXPECT_EQ(times.TraceTime(*wall), event->time());
      EXPECT_GT(*wall, absl::FromCivil(absl::CivilDay(2024, 1, 1), absl::UTCTimeZone()));
    }
  }
}

TEST(StackCopyTest, StacksOfOneGenerationAreFoundAgainInTheNext) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::flat_hash_set<StackCopy> stacks;
  std::set<std::string> texts;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) {
    stacks.insert(StackCopy(event->stack()));
    texts.insert(FormatStack(event->stack()));
  }
  EXPECT_GT(stacks.size(), 10u);
  // Stacks that differ only in their PCs have the same text.
  EXPECT_GE(stacks.size(), texts.size());
  for (const StackCopy& stack : stacks) EXPECT_TRUE(texts.contains(FormatStack(stack)));
}

}  // namespace event_helpers_test
}  // namespace gotrace::internal
