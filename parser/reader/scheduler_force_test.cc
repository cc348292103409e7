// Tests what the model does with events that contradict it.
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace scheduler_force_test {

// A trace in which a thread runs goroutine 1 on P 1, has `event`, and then allocates memory.
std::string TraceWith(absl::string_view event) {
  return Assemble(
      absl::StrCat("Trace Go1.26\n"
                   "EventBatch gen=1 m=18446744073709551615 time=1000000 size=auto\n"
                   "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=3 nsec=4\n"
                   "EventBatch gen=1 m=300 time=1000000 size=auto\n"
                   "ProcStatus dt=1 p=1 pstatus=1\nGoStatus dt=1 g=1 m=300 gstatus=2\n",
                   event, "\nHeapAlloc dt=1 heapalloc_value=5\nEndOfGeneration\n"));
}

TEST(SchedulerForceTest, ContradictingEventsAreReturnedAndMarked) {
  for (const absl::string_view event :
       {"ProcStatus dt=1 p=1 pstatus=2", "ProcStart dt=1 p=9 p_seq=4",
        "ProcSteal dt=1 p=9 p_seq=4 m=77", "GoStatus dt=1 g=1 m=300 gstatus=4",
        "GoStart dt=1 g=9 g_seq=4", "GoUnblock dt=1 g=9 g_seq=4 stack=0",
        "GoSwitch dt=1 g=9 g_seq=4", "GoSyscallBegin dt=1 p_seq=9 stack=0", "GoSyscallEnd dt=1",
        "GCActive dt=1 gc_seq=7", "GCEnd dt=1 gc_seq=7", "STWEnd dt=1",
        "GCSweepEnd dt=1 swept_value=1 reclaimed_value=1", "GCMarkAssistEnd dt=1",
        "UserTaskBegin dt=1 task=3 parent_task=0 name_string=0 stack=0\n"
        "UserTaskBegin dt=1 task=3 parent_task=0 name_string=0 stack=0",
        "GCActive dt=1 gc_seq=7\nGCBegin dt=1 gc_seq=9 stack=0",
        "GoSyscallBegin dt=1 p_seq=1 stack=0\nGoSyscallEndBlocked dt=1\n"
        "ProcStart dt=1 p=1 p_seq=3",
        "GoCreate dt=1 new_g=5 new_stack=0 stack=0\nGoCreate dt=1 new_g=5 new_stack=0 stack=0",
        "GoStatus dt=1 g=5 m=77 gstatus=3\nGoStatus dt=1 g=6 m=77 gstatus=3"}) {
    SCOPED_TRACE(std::string(event));
    const std::string bytes = TraceWith(event);
    ReaderOptions options;
    options.mode = ReadMode::kSalvage;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
    ASSERT_TRUE(reader.ok());
    const absl::string_view name = event.substr(0, event.find(' '));
    bool given = false;
    bool goes_on = false;
    while (const Event* e = reader->Next()) {
      given |= absl::StrContains(EventTypeName(e->type()), name);
      goes_on |= e->type() == EventType::kHeapAlloc;
    }
    EXPECT_TRUE(reader->status().ok());
    EXPECT_TRUE(given);
    EXPECT_TRUE(goes_on);
    EXPECT_EQ(reader->losses().dropped_events, 0u);
  }
}

// The ProcSteal event is missing, but the thread has lost its P and can start another one.
TEST(SchedulerForceTest, ABlockedSyscallLosesItsP) {
  const std::string bytes = TraceWith(
      "ProcStatus dt=1 p=2 pstatus=2\nGoSyscallBegin dt=1 p_seq=1 stack=0\n"
      "GoSyscallEndBlocked dt=1\nProcStart dt=1 p=2 p_seq=1");
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  Reader reader = *Reader::FromBytes(bytes, options);
  while (const Event* event = reader.Next()) {
    EXPECT_EQ(event->fault().has_value(), event->type() == EventType::kGoSyscallEndBlocked);
  }
  EXPECT_EQ(reader.losses().marked_events, 1u);
  EXPECT_EQ(reader.losses().dropped_events, 0u);
}

TEST(SchedulerForceTest, EventsThatNoStateFitsAreDropped) {
  for (const absl::string_view event :
       {"GoStatus dt=1 g=2 m=300 gstatus=77", "GoCreate dt=1 new_g=1 new_stack=0 stack=0"}) {
    const std::string bytes = TraceWith(event);
    ReaderOptions options;
    options.mode = ReadMode::kSalvage;
    Reader reader = *Reader::FromBytes(bytes, options);
    while (reader.Next() != nullptr) continue;
    EXPECT_EQ(reader.losses().dropped_events, 1u);
    EXPECT_EQ(reader.event_count(), 5u);
  }
}

// An event that contradicts a dropped event may be right.
TEST(SchedulerForceTest, ContradictionsAfterADroppedEventAreNotReported) {
  const std::string bytes = TraceWith("GoStatus dt=1 g=2 m=300 gstatus=77\nSTWEnd dt=1");
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  Reader reader = *Reader::FromBytes(bytes, options);
  while (reader.Next() != nullptr) continue;
  EXPECT_EQ(reader.losses().dropped_events, 1u);
  EXPECT_EQ(reader.losses().marked_events, 1u);
  EXPECT_EQ(reader.losses().faults, 1u);
}

}  // namespace scheduler_force_test
}  // namespace gotrace::internal
