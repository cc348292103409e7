#include "gotrace/event_builder.h"

#include <string>
#include <utility>
#include <vector>

#include "gotrace/event.h"
#include "gotrace/stack_copy.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"

namespace gotrace::internal {
namespace event_builder_test {

constexpr StackFrame kWork = {0x10, "main.work", "/src/main.go", 31};
constexpr StackFrame kMain = {0x20, "main.main", "/src/main.go", 12};

TEST(EventBuilderTest, NamesComeBackFromTheirAccessors) {
  EventBuilder log(EventType::kUserLog);
  log.Task(TaskId{3}).Log("category", "message");
  EXPECT_EQ(log.Build().log().task, TaskId{3});
  EXPECT_EQ(log.Build().log().category, "category");
  EXPECT_EQ(log.Build().log().message, "message");

  EventBuilder label(EventType::kGoLabel);
  label.Goroutine(GoId{5}).Label("a label");
  EXPECT_EQ(label.Build().label().label, "a label");
  EXPECT_EQ(label.Build().label().resource, (ResourceId{ResourceKind::kGoroutine, 5}));

  EventBuilder region(EventType::kUserRegionEnd);
  region.RegionType("a region");
  EXPECT_EQ(region.Build().region().type, "a region");
  EXPECT_EQ(region.Build().region().task, kBackgroundTask);

  EventBuilder block(EventType::kGoBlock);
  block.Transition(GoId{7}, GoState::kRunning, GoState::kWaiting).Reason("chan receive");
  EXPECT_EQ(block.Build().transition_reason(), "chan receive");
  EXPECT_EQ(block.Build().state_transition().resource.id, 7);
  EXPECT_EQ(block.Build().state_transition().go_to, GoState::kWaiting);

  EventBuilder stw(EventType::kSTWEnd);
  stw.Reason("GC mark termination");
  EXPECT_EQ(stw.Build().range().name, "stop-the-world (GC mark termination)");
}

TEST(EventBuilderTest, TasksHaveAParentOnlyIfOneIsSet) {
  for (const EventType type : {EventType::kUserTaskBegin, EventType::kUserTaskEnd}) {
    EventBuilder task(type);
    task.Task(TaskId{3}).TaskType("a task");
    EXPECT_EQ(task.Build().task().id, TaskId{3});
    EXPECT_EQ(task.Build().task().parent, TaskId::kNone);
    EXPECT_EQ(task.Build().task().type, "a task");
    EXPECT_EQ(task.Parent(kBackgroundTask).Build().task().parent, kBackgroundTask);
    EXPECT_EQ(task.Parent(TaskId{2}).Build().task().parent, TaskId{2});
  }
}

TEST(EventBuilderTest, StacksComeBackFrameByFrame) {
  EventBuilder create(EventType::kGoCreate);
  create.Stack({kWork, kMain}).TransitionStack({kMain});
  const Stack stack = create.Build().stack();
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack.frame(0).pc, 0x10u);
  EXPECT_EQ(stack.frame(0).func, "main.work");
  EXPECT_EQ(stack.frame(1).file, "/src/main.go");
  EXPECT_EQ(stack.frame(1).line, 12u);
  EXPECT_EQ(stack.frame(2).func, "");
  EXPECT_EQ(stack.frame(~size_t{0}).pc, 0u);
  ASSERT_EQ(create.Build().transition_stack().size(), 1u);
  EXPECT_EQ(create.Build().transition_stack().frame(0).func, "main.main");
  EXPECT_TRUE(create.Stack({}).Build().stack().none());
}

TEST(EventBuilderTest, EqualStacksAndNamesAreHeldOnce) {
  const BuiltTables tables;
  EventBuilder a(EventType::kGoBlock, tables), b(EventType::kGoStop, tables);
  a.Stack({kWork}).Reason("x");
  b.Stack({kWork}).Reason("x");
  EXPECT_EQ(a.Build().stack(), b.Build().stack());
  EXPECT_EQ(a.Build().arg(0), b.Build().arg(0));
  EXPECT_FALSE(a.Build().stack() == b.Stack({kMain}).Build().stack());
}

TEST(EventBuilderTest, EventsAreValidAsLongAsTheirTables) {
  std::vector<Event> events;
  BuiltTables tables;
  for (int i = 0; i < 100; ++i) {
    EventBuilder builder(EventType::kGoBlock, tables);
    events.push_back(builder.Reason("reason " + std::to_string(i)).Stack({kWork}).Build());
  }
  const BuiltTables copy = tables;
  tables = BuiltTables();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(events[i].transition_reason(), "reason " + std::to_string(i));
    EXPECT_EQ(StackCopy(events[i].stack()), StackCopy({kWork}));
  }
}

TEST(EventBuilderTest, ACopyKeepsItsEventValid) {
  EventBuilder copy(EventType::kNone);
  {
    EventBuilder builder(EventType::kUserTaskEnd);
    builder.TaskType("a task").Stack({kWork});
    copy = builder;
    builder.TaskType("another");
  }
  EXPECT_EQ(copy.Build().task().type, "a task");
  EXPECT_EQ(copy.Build().stack().frame(0).func, "main.work");
}

TEST(EventBuilderTest, SyncsHaveClocksIfTheyAreSet) {
  EventBuilder sync = EventBuilder::MakeSync(4);
  EXPECT_EQ(sync.Build().sync().n, 4u);
  EXPECT_FALSE(sync.Build().sync().clock_snapshot.has_value());
  sync.Clocks({100, 200, absl::FromUnixSeconds(300)});
  EXPECT_EQ(sync.Build().sync().clock_snapshot->mono, 200u);
  EXPECT_TRUE(sync.Build().sync().experimental_batches.empty());
}

TEST(EventBuilderTest, SettersThatDoNotApplyDoNothing) {
  EventBuilder start(EventType::kGoStart);
  start.Transition(GoId{7}, GoState::kRunnable, GoState::kRunning);
  start.Transition(ProcId{1}, ProcState::kIdle, ProcState::kRunning)
      .Transition(GoId{8}, static_cast<GoState>(6), GoState::kRunning)
      .Transition(GoId{8}, GoState::kRunning, static_cast<GoState>(255));
  start.Task(TaskId{1}).Parent(TaskId{1}).TaskType("t").RegionType("r").Reason("r").Label("l");
  start.Log("c", "m").Stack({kWork}).TransitionStack({kWork}).Arg(4, 1).Arg(~size_t{0}, 1);
  start.Clocks({1, 2, absl::UnixEpoch()});
  EXPECT_EQ(start.Build().transition_resource(), (ResourceId{ResourceKind::kGoroutine, 7}));
  EXPECT_EQ(start.Build().state_transition().go_from, GoState::kRunnable);
  EXPECT_EQ(start.Build().state_transition().go_to, GoState::kRunning);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(start.Build().arg(i), 0u) << i;
  EXPECT_EQ(start.Build().offset(), 0u);
  EXPECT_TRUE(start.Build().stack().none());
  EXPECT_EQ(EventAccess::Tables(start.Build()), nullptr);

  EventBuilder proc(EventType::kProcStart);
  proc.Transition(GoId{7}, GoState::kWaiting, GoState::kSyscall)
      .Transition(ProcId{2}, ProcState::kIdle, static_cast<ProcState>(4));
  EXPECT_EQ(proc.Build().state_transition().proc_to, ProcState::kUndetermined);
  EXPECT_EQ(proc.Build().transition_resource().id, -1);
}

TEST(EventTest, IdsThatNoTableHasAreEmpty) {
  // Without tables at all, and with tables that lack the ids.
  for (const bool has_tables : {false, true}) {
    for (int type = 0; type < 256; ++type) {
      SCOPED_TRACE(type);
      EventBuilder builder = has_tables ? EventBuilder(static_cast<EventType>(type), BuiltTables())
                                        : EventBuilder(static_cast<EventType>(type));
      for (size_t i = 0; i < 4; ++i) builder.Arg(i, 12345 + i);
      const Event& event = builder.Build();
      EXPECT_EQ(event.stack().size(), 0u);
      EXPECT_EQ(event.stack().frame(0).func, "");
      EXPECT_EQ(event.transition_stack().size(), 0u);
      EXPECT_EQ(event.label().label, "");
      EXPECT_EQ(event.log().message, "");
      EXPECT_EQ(event.task().type, "");
      EXPECT_EQ(event.region().type, "");
      EXPECT_EQ(event.range_parts().reason, "");
      EXPECT_EQ(event.state_transition().reason, "");
      EXPECT_EQ(event.sync().n, 0u);
      EXPECT_LE(event.experimental().args.size(), 4u);
      EXPECT_EQ(event.arg(4), 0u);
      if (!has_tables) {
        EXPECT_TRUE(event.stack().none());
        EXPECT_EQ(event.stack(), Stack());
      }
    }
  }
}

}  // namespace event_builder_test
}  // namespace gotrace::internal
