#include "gotrace/goroutine_names.h"

#include <string>
#include <vector>

#include "gotrace/event_builder.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace goroutine_names_test {

StackFrame Frame(absl::string_view func) { return {1, func, "x.go", 1}; }

void Add(const EventBuilder& builder, GoroutineNames* names) { names->Add({&builder.Build(), 1}); }

EventBuilder Block(GoId id, absl::Span<const StackFrame> stack) {
  EventBuilder event(EventType::kGoBlock);
  event.Goroutine(id).Transition(id, GoState::kRunning, GoState::kWaiting).Stack(stack);
  return event;
}

TEST(GoroutineNamesTest, ACreationStatesTheNameOfTheNewGoroutine) {
  GoroutineNames names;
  for (const EventType type : {EventType::kGoCreate, EventType::kGoCreateBlocked}) {
    const GoId id{static_cast<int64_t>(type)};
    EventBuilder create(type);
    create.Goroutine(GoId{1})
        .Transition(id, GoState::kNotExist, GoState::kRunnable)
        .Stack({Frame("main.inner"), Frame("main.main")})
        .TransitionStack({Frame("main.worker")});
    Add(create, &names);
    EXPECT_EQ(names.NameOf(id), "main.worker");
  }
  EXPECT_EQ(names.NameOf(GoId{1}), "main.main");
  EXPECT_EQ(names.NameOf(GoId{2}), "");
  EXPECT_EQ(names.size(), 3u);
}

TEST(GoroutineNamesTest, TheFirstStackNamesAnOlderGoroutine) {
  GoroutineNames names;
  Add(Block(GoId{7}, {}), &names);
  EXPECT_EQ(names.NameOf(GoId{7}), "");
  Add(Block(GoId{7}, {Frame("sync.Wait"), Frame("main.old")}), &names);
  Add(Block(GoId{7}, {Frame("main.other")}), &names);
  EXPECT_EQ(names.NameOf(GoId{7}), "main.old");

  EventBuilder region(EventType::kUserRegionBegin);
  region.Goroutine(GoId{8}).Stack({Frame("main.f"), Frame("main.g")});
  Add(region, &names);
  EXPECT_EQ(names.NameOf(GoId{8}), "main.g");
}

TEST(GoroutineNamesTest, AStatusNamesItsGoroutineAndNotTheExecutingOne) {
  GoroutineNames names;
  EventBuilder status(EventType::kGoStatusStack);
  status.Goroutine(GoId{1})
      .Transition(GoId{9}, GoState::kUndetermined, GoState::kWaiting)
      .Stack({Frame("main.waiter")});
  Add(status, &names);
  EXPECT_EQ(names.NameOf(GoId{9}), "main.waiter");
  EXPECT_EQ(names.NameOf(GoId{1}), "");
}

TEST(GoroutineNamesTest, SamplesAndStacksWithoutAnOutermostFrameNameNothing) {
  GoroutineNames names;
  EventBuilder sample(EventType::kCPUSample);
  sample.Goroutine(GoId{3}).Stack({Frame("runtime.mstart")});
  Add(sample, &names);
  const std::vector<StackFrame> longest(127, Frame("main.f"));
  std::vector<StackFrame> cut = longest;
  cut.push_back(Frame("main.g"));
  Add(Block(GoId{3}, cut), &names);
  Add(Block(GoId{4}, longest), &names);
  Add(Block(GoId{5}, {Frame("")}), &names);
  Add(Block(GoId::kNone, {Frame("main.f")}), &names);
  EXPECT_EQ(names.NameOf(GoId{3}), "");
  EXPECT_EQ(names.NameOf(GoId{4}), "main.f");
  EXPECT_EQ(names.size(), 1u);
}

TEST(GoroutineNamesTest, MergingKeepsWhatWasKnownFirst) {
  GoroutineNames names;
  {
    GoroutineNames next;
    Add(Block(GoId{1}, {Frame("main.first")}), &names);
    Add(Block(GoId{1}, {Frame("main.second")}), &next);
    Add(Block(GoId{2}, {Frame("main.only")}), &next);
    names.Merge(std::move(next));
  }
  EXPECT_EQ(names.NameOf(GoId{1}), "main.first");
  EXPECT_EQ(names.NameOf(GoId{2}), "main.only");
}

}  // namespace goroutine_names_test
}  // namespace gotrace::internal
