// Sets the fields of an Event, for the reader and other code that makes events.
#ifndef GOTRACE_PARSER_EVENT_EVENT_WRITER_H_
#define GOTRACE_PARSER_EVENT_EVENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/internal/event_tags.h"

namespace gotrace::internal {

// Sets the fields of one event, which must outlive the writer. Every function returns the writer.
// The fields are documented in Event.
class EventWriter {
 public:
  static constexpr size_t kMaxArgs = Event::kMaxArgs;

  explicit EventWriter(Event* event) : event_(*event) {}

  EventWriter& Tags(EventTags tags) { return event_.tags_ = tags, *this; }
  EventWriter& Time(int64_t time) { return event_.time_ = time, *this; }
  EventWriter& Goroutine(GoId id) { return event_.goroutine_ = id, *this; }
  EventWriter& Proc(ProcId id) { return event_.proc_ = id, *this; }
  EventWriter& Thread(ThreadId id) { return event_.thread_ = id, *this; }
  EventWriter& Offset(uint64_t offset) { return event_.offset_ = offset, *this; }
  EventWriter& Tables(const EventTables* tables) { return event_.tables_ = tables, *this; }

  // Set one argument, all arguments, or all to 0. Requires index < kMaxArgs.
  EventWriter& Arg(size_t index, uint64_t value) { return event_.args_[index] = value, *this; }
  EventWriter& Args(const uint64_t (&args)[kMaxArgs]) {
    std::memcpy(event_.args_, args, sizeof(args));
    return *this;
  }
  EventWriter& NoArgs() {
    std::memset(event_.args_, 0, sizeof(event_.args_));
    return *this;
  }

  // The goroutine or P whose state a kStateTransition event changes.
  EventWriter& Subject(int64_t id) { return event_.subject_ = id, *this; }

  // The type of the task that a UserTaskEnd ends, which must outlive the event; nullptr if unknown.
  EventWriter& TaskType(const std::string* type) { return event_.task_type_ = type, *this; }

  // Sets the time to `time` or, if that is not later than `*last_time`, the time of the previous
  // event, to the nanosecond after it: the clocks of different cores may differ slightly. Updates
  // `*last_time`. Clocks are so coarse that many events have equal times, which no processor can
  // predict, so this has no branch.
  EventWriter& MakeLaterThan(int64_t* last_time, int64_t time) {
    *last_time = event_.time_ = LaterTime(*last_time, time);
    return *this;
  }
  EventWriter& MakeLaterThan(int64_t* last_time) { return MakeLaterThan(last_time, event_.time_); }

 private:
  static int64_t LaterTime(int64_t last_time, int64_t time) {
    const int64_t next = static_cast<int64_t>(static_cast<uint64_t>(last_time) + 1);
    return time <= last_time ? next : time;
  }

  Event& event_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_EVENT_WRITER_H_
