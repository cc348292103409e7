#include "gotrace/event.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace event_test {

// Checks that only the accessor for the event's kind returns details.
void ExpectOnlyItsOwnDetails(const Event& event) {
  const EventKind kind = event.kind();
  const auto is = [kind](EventKind a, EventKind b = EventKind::kNone,
                         EventKind c = EventKind::kNone) {
    return kind != EventKind::kNone && (kind == a || kind == b || kind == c);
  };
  SCOPED_TRACE(EventKindName(kind));
  EXPECT_EQ(!event.metric().name.empty(), is(EventKind::kMetric));
  EXPECT_EQ(event.label().resource.kind != ResourceKind::kNone, is(EventKind::kLabel));
  const bool is_range = is(EventKind::kRangeBegin, EventKind::kRangeActive, EventKind::kRangeEnd);
  EXPECT_EQ(!event.range().name.empty(), is_range);
  EXPECT_TRUE(event.range().scope.kind == ResourceKind::kNone || is_range);
  EXPECT_TRUE(event.range_attributes().empty() || is(EventKind::kRangeEnd));
  EXPECT_EQ(event.task().id != TaskId::kNone, is(EventKind::kTaskBegin, EventKind::kTaskEnd));
  EXPECT_EQ(event.region().task != TaskId::kNone,
            is(EventKind::kRegionBegin, EventKind::kRegionEnd));
  EXPECT_EQ(event.log().task != TaskId::kNone, is(EventKind::kLog));
  const StateTransition transition = event.state_transition();
  EXPECT_EQ(transition.resource.kind != ResourceKind::kNone, is(EventKind::kStateTransition));
  EXPECT_EQ(transition.resource.kind, event.transition_resource().kind);
  EXPECT_EQ(transition.resource.id, event.transition_resource().id);
  if (!is(EventKind::kStateTransition)) {
    EXPECT_EQ(transition.go_from, GoState::kUndetermined);
    EXPECT_EQ(transition.go_to, GoState::kUndetermined);
    EXPECT_EQ(transition.reason, "");
    EXPECT_TRUE(transition.stack.none());
  }
  EXPECT_EQ(event.sync().n != 0, is(EventKind::kSync));
  EXPECT_TRUE(!event.sync().clock_snapshot.has_value() || is(EventKind::kSync));
  EXPECT_EQ(!event.experimental().name.empty(), is(EventKind::kExperimental));
}

// Checks the accessors that return a part of what other accessors return.
void ExpectPartsAgree(const Event& event) {
  EXPECT_EQ(event.stack_id(), event.stack().id());
  EXPECT_EQ(event.range_parts().name(), event.range().name);
  EXPECT_EQ(event.range_parts().scope.kind, event.range().scope.kind);
  EXPECT_EQ(event.range_parts().scope.id, event.range().scope.id);
  if (event.kind() != EventKind::kStateTransition) return;
  const StateTransition transition = event.state_transition();
  const bool is_proc = transition.resource.kind == ResourceKind::kProc;
  EXPECT_EQ(event.transition_from(), is_proc ? static_cast<uint8_t>(transition.proc_from)
                                             : static_cast<uint8_t>(transition.go_from));
  EXPECT_EQ(event.transition_to(), is_proc ? static_cast<uint8_t>(transition.proc_to)
                                           : static_cast<uint8_t>(transition.go_to));
  EXPECT_TRUE(event.transition_stack() == transition.stack);
}

TEST(EventTest, StacksAreWhereTheTableOfTypesPutsThem) {
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed()) continue;
    const int expected = spec.stack_arg == EventSpec::kNoArg ? -1 : spec.stack_arg - 1;
    EXPECT_EQ(kStackArgs[static_cast<uint8_t>(spec.type)], expected) << spec.name;
  }
}

TEST(EventTest, AnEventOfNoKindHasNoDetails) {
  const Event event;
  EXPECT_EQ(event.kind(), EventKind::kNone);
  EXPECT_EQ(event.type(), EventType::kNone);
  EXPECT_EQ(event.goroutine(), GoId::kNone);
  EXPECT_EQ(event.proc(), ProcId::kNone);
  EXPECT_EQ(event.thread(), ThreadId::kNone);
  EXPECT_TRUE(event.stack().none());
  EXPECT_EQ(event.stack().size(), 0u);
  ExpectOnlyItsOwnDetails(event);
}

TEST(EventTest, AccessorsOfOtherKindsReturnNothing) {
  std::set<EventKind> kinds;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    while (const Event* event = reader->Next()) {
      kinds.insert(event->kind());
      ExpectOnlyItsOwnDetails(*event);
      ExpectPartsAgree(*event);
      if (HasFailure()) return;
    }
    ASSERT_TRUE(reader->status().ok()) << trace.name << reader->status();
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(kEventKindEnd) - 1);
}

TEST(EventTest, TypesBecomeTheKindsOfTheDocument) {
  const std::map<EventKind, std::set<int>> expected = {
      {EventKind::kMetric, {9, 37, 38}},
      {EventKind::kLabel, {39}},
      {EventKind::kStackSample, {7}},
      {EventKind::kRangeBegin, {26, 29, 32, 35}},
      {EventKind::kRangeActive, {28, 31, 34}},
      {EventKind::kRangeEnd, {27, 30, 33, 36}},
      {EventKind::kTaskBegin, {40}},
      {EventKind::kTaskEnd, {41}},
      {EventKind::kRegionBegin, {42}},
      {EventKind::kRegionEnd, {43}},
      {EventKind::kLog, {44}},
      {EventKind::kStateTransition,
       {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 45, 46, 47, 48}},
      {EventKind::kExperimental, {128, 129, 130, 131, 132, 133, 134, 135, 136}},
  };
  std::map<EventKind, std::set<int>> found;
  for (int type = 0; type < 256; ++type) {
    if (kEventKinds[type] != EventKind::kNone) found[kEventKinds[type]].insert(type);
  }
  EXPECT_EQ(found, expected);
}

TEST(EventTest, NamesAreThoseOfGo) {
  EXPECT_EQ(EventKindName(EventKind::kNone), "Bad");
  EXPECT_EQ(EventKindName(EventKind::kSync), "Sync");
  EXPECT_EQ(EventKindName(EventKind::kStackSample), "StackSample");
  EXPECT_EQ(EventKindName(EventKind::kRangeActive), "RangeActive");
  EXPECT_EQ(EventKindName(EventKind::kStateTransition), "StateTransition");
  EXPECT_EQ(EventKindName(EventKind::kExperimental), "Experimental");
  EXPECT_EQ(ResourceKindName(ResourceKind::kGoroutine), "Goroutine");
  EXPECT_EQ(ResourceKindName(ResourceKind::kThread), "Thread");
  EXPECT_EQ(GoStateName(GoState::kUndetermined), "Undetermined");
  EXPECT_EQ(GoStateName(GoState::kSyscall), "Syscall");
  EXPECT_EQ(ProcStateName(ProcState::kNotExist), "NotExist");
  EXPECT_EQ(ProcStateName(ProcState::kIdle), "Idle");
}

// One event of nearly every kind, all on one thread.
constexpr absl::string_view kTrace = R"(Trace Go1.26
EventBatch gen=1 m=18446744073709551615 time=1000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=5 mono=77 sec=1700000000 nsec=8
EventBatch gen=1 m=18446744073709551615 time=1000 size=auto
Strings
String id=1
	data="one"
String id=2
	data="two"
String id=3
	data="three"
EventBatch gen=1 m=18446744073709551615 time=1000 size=auto
Stacks
Stack id=1 nframes=2
	pc=256 func=1 file=2 line=33
	pc=512 func=3 file=2 line=44
Stack id=2 nframes=1
	pc=768 func=2 file=3 line=55
EventBatch gen=1 m=18446744073709551615 time=1000 size=auto
CPUSamples
CPUSample time=2000 m=5 p=6 g=7 stack=0
CPUSample time=2001 m=5 p=18446744073709551615 g=0 stack=1
ExperimentalBatch exp=1 gen=1 m=9 time=1000
	data="alloc"
EventBatch gen=1 m=10 time=3000 size=auto
ProcStatus dt=1 p=2 pstatus=1
GoStatus dt=1 g=4 m=10 gstatus=2
ProcsChange dt=1 procs_value=6 stack=1
HeapAlloc dt=1 heapalloc_value=18446744073709551615
HeapGoal dt=1 heapgoal_value=0
GoLabel dt=1 label_string=1
STWBegin dt=1 kind_string=2 stack=0
STWEnd dt=1
GCBegin dt=1 gc_seq=1 stack=2
GCEnd dt=1 gc_seq=2
GCSweepBegin dt=1 stack=1
GCSweepEnd dt=1 swept_value=11 reclaimed_value=12
GCMarkAssistBegin dt=1 stack=1
GCMarkAssistEnd dt=1
UserTaskBegin dt=1 task=100 parent_task=0 name_string=3 stack=1
UserTaskBegin dt=1 task=101 parent_task=100 name_string=1 stack=1
UserRegionBegin dt=1 task=100 name_string=2 stack=1
UserLog dt=1 task=101 key_string=1 value_string=2 stack=2
UserRegionEnd dt=1 task=100 name_string=2 stack=1
UserTaskEnd dt=1 task=101 stack=1
UserTaskEnd dt=1 task=102 stack=1
GoCreate dt=1 new_g=5 new_stack=2 stack=1
GoCreateBlocked dt=1 new_g=6 new_stack=0 stack=1
GoSwitch dt=1 g=6 g_seq=1
SpanAlloc dt=1 id=8 npages_value=9 kindclass=10
GoBlock dt=1 reason_string=3 stack=2
ProcStop dt=1
EndOfGeneration
)";

class EventDetailsTest : public testing::Test {
 protected:
  EventDetailsTest() : bytes_(Assemble(kTrace)), reader_(*Reader::FromBytes(bytes_)) {}

  // Moves to the next event of `type`.
  const Event& To(EventType type) {
    while (const Event* event = reader_.Next()) {
      if (event->type() == type) return *event;
    }
    ADD_FAILURE() << "no " << EventTypeName(type) << " follows: " << reader_.status();
    static const Event none;
    return none;
  }

  const std::string bytes_;
  Reader reader_;
};

void ExpectGoroutine(const ResourceId& resource, int64_t id) {
  EXPECT_EQ(resource.kind, ResourceKind::kGoroutine);
  EXPECT_EQ(resource.id, id);
}

TEST_F(EventDetailsTest, SyncsAndSamples) {
  const Event& sync = To(EventType::kNone);
  EXPECT_EQ(sync.kind(), EventKind::kSync);
  EXPECT_EQ(sync.time(), 1000);
  EXPECT_EQ(sync.offset(), kHeaderSize);
  EXPECT_EQ(sync.sync().n, 1u);
  EXPECT_EQ(sync.sync().clock_snapshot->trace_time, 1005);
  EXPECT_EQ(sync.sync().clock_snapshot->mono, 77u);
  EXPECT_EQ(sync.sync().clock_snapshot->wall,
            absl::FromUnixSeconds(1700000000) + absl::Nanoseconds(8));
  ASSERT_EQ(sync.sync().experimental_batches.size(), 1u);
  EXPECT_EQ(sync.sync().experimental_batches[0].experiment, 1u);
  ASSERT_EQ(sync.sync().experimental_batches[0].batches.size(), 1u);
  EXPECT_EQ(sync.sync().experimental_batches[0].batches[0].thread, ThreadId{9});
  EXPECT_EQ(sync.sync().experimental_batches[0].batches[0].data, "alloc");

  const Event& sample = To(EventType::kCPUSample);
  EXPECT_EQ(sample.kind(), EventKind::kStackSample);
  EXPECT_EQ(sample.time(), 2000);
  EXPECT_EQ(sample.thread(), ThreadId{5});
  EXPECT_EQ(sample.proc(), ProcId{6});
  EXPECT_EQ(sample.goroutine(), GoId{7});
  // A sample has a stack even if the stack is empty.
  EXPECT_FALSE(sample.stack().none());
  EXPECT_EQ(sample.stack().size(), 0u);
  const Event& other = To(EventType::kCPUSample);
  EXPECT_EQ(other.proc(), ProcId::kNone);
  EXPECT_EQ(other.goroutine(), GoId::kNone);
  EXPECT_EQ(other.stack().size(), 2u);

  To(EventType::kProcStop);
  const Event& last = To(EventType::kNone);
  EXPECT_EQ(last.sync().n, 2u);
  EXPECT_FALSE(last.sync().clock_snapshot.has_value());
  EXPECT_TRUE(last.sync().experimental_batches.empty());
  EXPECT_EQ(last.offset(), bytes_.size());
}

TEST_F(EventDetailsTest, MetricsAndLabels) {
  const Event& procs = To(EventType::kProcsChange);
  EXPECT_EQ(procs.metric().name, "/sched/gomaxprocs:threads");
  EXPECT_EQ(procs.metric().value, 6u);
  EXPECT_EQ(procs.thread(), ThreadId{10});
  EXPECT_EQ(procs.proc(), ProcId{2});
  EXPECT_EQ(procs.goroutine(), GoId{4});
  ASSERT_EQ(procs.stack().size(), 2u);
  EXPECT_EQ(procs.stack().id(), 1u);
  EXPECT_EQ(procs.stack().frame(1).pc, 512u);
  EXPECT_EQ(procs.stack().frame(1).func, "three");
  EXPECT_EQ(procs.stack().frame(1).file, "two");
  EXPECT_EQ(procs.stack().frame(1).line, 44u);
  const Event& alloc = To(EventType::kHeapAlloc);
  EXPECT_EQ(alloc.metric().name, "/memory/classes/heap/objects:bytes");
  EXPECT_EQ(alloc.metric().value, ~uint64_t{0});
  EXPECT_TRUE(alloc.stack().none());
  const Event& goal = To(EventType::kHeapGoal);
  EXPECT_EQ(goal.metric().name, "/gc/heap/goal:bytes");
  EXPECT_EQ(goal.metric().value, 0u);
  const Event& label = To(EventType::kGoLabel);
  EXPECT_EQ(label.label().label, "one");
  ExpectGoroutine(label.label().resource, 4);
}

TEST_F(EventDetailsTest, Ranges) {
  const Event& stw = To(EventType::kSTWBegin);
  EXPECT_EQ(stw.kind(), EventKind::kRangeBegin);
  EXPECT_EQ(stw.range().name, "stop-the-world (two)");
  ExpectGoroutine(stw.range().scope, 4);
  EXPECT_TRUE(stw.stack().none());
  EXPECT_EQ(To(EventType::kSTWEnd).range().name, "stop-the-world (two)");
  const Event& gc = To(EventType::kGCBegin);
  EXPECT_EQ(gc.range().name, "GC concurrent mark phase");
  EXPECT_EQ(gc.range().scope.kind, ResourceKind::kNone);
  EXPECT_EQ(gc.stack().id(), 2u);
  EXPECT_EQ(To(EventType::kGCEnd).kind(), EventKind::kRangeEnd);
  const Event& sweep = To(EventType::kGCSweepEnd);
  EXPECT_EQ(sweep.range().name, "GC incremental sweep");
  EXPECT_EQ(sweep.range().scope.kind, ResourceKind::kProc);
  EXPECT_EQ(sweep.range().scope.id, 2);
  const std::vector<RangeAttribute> attributes = sweep.range_attributes();
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes[0].name, "bytes swept");
  EXPECT_EQ(attributes[0].value, 11u);
  EXPECT_EQ(attributes[1].name, "bytes reclaimed");
  EXPECT_EQ(attributes[1].value, 12u);
  const Event& assist = To(EventType::kGCMarkAssistEnd);
  EXPECT_EQ(assist.range().name, "GC mark assist");
  ExpectGoroutine(assist.range().scope, 4);
  EXPECT_TRUE(assist.range_attributes().empty());
}

TEST_F(EventDetailsTest, TasksRegionsAndLogs) {
  const Event& outer = To(EventType::kUserTaskBegin);
  EXPECT_EQ(outer.task().id, TaskId{100});
  EXPECT_EQ(outer.task().parent, TaskId::kNone);
  EXPECT_EQ(outer.task().type, "three");
  const Event& inner = To(EventType::kUserTaskBegin);
  EXPECT_EQ(inner.task().parent, TaskId{100});
  const Event& region = To(EventType::kUserRegionBegin);
  EXPECT_EQ(region.region().task, TaskId{100});
  EXPECT_EQ(region.region().type, "two");
  const Event& log = To(EventType::kUserLog);
  EXPECT_EQ(log.log().task, TaskId{101});
  EXPECT_EQ(log.log().category, "one");
  EXPECT_EQ(log.log().message, "two");
  EXPECT_EQ(log.stack().id(), 2u);
  EXPECT_EQ(To(EventType::kUserRegionEnd).region().type, "two");
  const Event& end = To(EventType::kUserTaskEnd);
  EXPECT_EQ(end.task().id, TaskId{101});
  EXPECT_EQ(end.task().parent, TaskId{100});
  EXPECT_EQ(end.task().type, "one");
  const Event& unknown = To(EventType::kUserTaskEnd);
  EXPECT_EQ(unknown.task().id, TaskId{102});
  EXPECT_EQ(unknown.task().parent, TaskId::kNone);
  EXPECT_EQ(unknown.task().type, "");
}

TEST_F(EventDetailsTest, TransitionsOfPs) {
  const StateTransition status = To(EventType::kProcStatus).state_transition();
  EXPECT_EQ(status.resource.kind, ResourceKind::kProc);
  EXPECT_EQ(status.resource.id, 2);
  EXPECT_EQ(status.proc_from, ProcState::kUndetermined);
  EXPECT_EQ(status.proc_to, ProcState::kRunning);
  EXPECT_EQ(status.go_to, GoState::kUndetermined);
  const Event& stop = To(EventType::kProcStop);
  EXPECT_EQ(stop.state_transition().proc_from, ProcState::kRunning);
  EXPECT_EQ(stop.state_transition().proc_to, ProcState::kIdle);
  EXPECT_EQ(stop.goroutine(), GoId::kNone);
}

TEST_F(EventDetailsTest, TransitionsOfGoroutines) {
  const Event& create = To(EventType::kGoCreate);
  EXPECT_EQ(create.state_transition().go_from, GoState::kNotExist);
  EXPECT_EQ(create.state_transition().go_to, GoState::kRunnable);
  ExpectGoroutine(create.state_transition().resource, 5);
  EXPECT_EQ(create.state_transition().stack.id(), 2u);
  EXPECT_EQ(create.stack().id(), 1u);
  // A new goroutine has a stack even if the stack is empty.
  const StateTransition blocked = To(EventType::kGoCreateBlocked).state_transition();
  EXPECT_EQ(blocked.go_to, GoState::kWaiting);
  EXPECT_FALSE(blocked.stack.none());
  EXPECT_EQ(blocked.stack.size(), 0u);

  const Event& woken = To(EventType::kGoSwitch);
  const int64_t time = woken.time();
  const uint64_t offset = woken.offset();
  ExpectGoroutine(woken.transition_resource(), 6);
  EXPECT_EQ(woken.goroutine(), GoId{4});
  EXPECT_EQ(woken.state_transition().go_to, GoState::kRunnable);
  const Event& stopped = To(EventType::kGoBlock);
  EXPECT_EQ(stopped.time(), time + 1);
  EXPECT_EQ(stopped.offset(), offset);
  ExpectGoroutine(stopped.transition_resource(), 4);
  EXPECT_EQ(stopped.state_transition().reason, "");
  EXPECT_TRUE(stopped.state_transition().stack.none());
  const Event& started = To(EventType::kGoStart);
  EXPECT_EQ(started.time(), time + 2);
  ExpectGoroutine(started.transition_resource(), 6);
  EXPECT_EQ(started.goroutine(), GoId::kNone);
  EXPECT_EQ(started.state_transition().go_to, GoState::kRunning);

  const Event& block = To(EventType::kGoBlock);
  EXPECT_GT(block.offset(), offset);
  EXPECT_EQ(block.goroutine(), GoId{6});
  EXPECT_EQ(block.state_transition().go_from, GoState::kRunning);
  EXPECT_EQ(block.state_transition().go_to, GoState::kWaiting);
  EXPECT_EQ(block.state_transition().reason, "three");
  EXPECT_TRUE(block.state_transition().stack == block.stack());
  EXPECT_EQ(block.stack().id(), 2u);
}

TEST_F(EventDetailsTest, ExperimentalEvents) {
  const ExperimentalEvent event = To(EventType::kSpanAlloc).experimental();
  EXPECT_EQ(event.name, "SpanAlloc");
  EXPECT_EQ(event.experiment, "AllocFree");
  ASSERT_EQ(event.args.size(), 3u);
  EXPECT_EQ(event.args[0].name, "id");
  EXPECT_EQ(event.args[0].value, 8u);
  EXPECT_EQ(event.args[1].name, "npages_value");
  EXPECT_EQ(event.args[2].name, "kindclass");
  EXPECT_EQ(event.args[2].value, 10u);
}

}  // namespace event_test
}  // namespace gotrace::internal
