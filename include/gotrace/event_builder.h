// Makes events without a trace, for programs that produce events of their own and for tests.
#ifndef GOTRACE_EVENT_BUILDER_H_
#define GOTRACE_EVENT_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/internal/event_tags.h"
#include "gotrace/states.h"

namespace gotrace {

// Every function sets what the accessor of the same name will give, and returns the builder.
class EventBuilder {
 public:
  // Begins an event of `type`, with the kind that belongs to it.
  explicit EventBuilder(EventType type) { event_.tags_ = internal::TagsOf(type); }

  // Begins the kSync event number `n`, which takes its clocks and batches from `tables`: those of
  // the generation that begins, or nullptr at the end of a trace.
  static EventBuilder MakeSync(uint64_t n, const internal::EventTables* tables) {
    EventBuilder builder(EventType::kNone);
    builder.event_.tags_ = internal::EventTags(EventType::kNone, EventKind::kSync);
    return builder.Arg(0, n).Tables(tables);
  }

  EventBuilder& Time(int64_t time) { return event_.time_ = time, *this; }
  EventBuilder& Goroutine(GoId id) { return event_.goroutine_ = id, *this; }
  EventBuilder& Proc(ProcId id) { return event_.proc_ = id, *this; }
  EventBuilder& Thread(ThreadId id) { return event_.thread_ = id, *this; }
  EventBuilder& Offset(uint64_t offset) { return event_.offset_ = offset, *this; }

  // The tables that strings and stacks stand in. They must outlive the event. An event that refers
  // to any must have them.
  EventBuilder& Tables(const internal::EventTables* tables) {
    return event_.tables_ = tables, *this;
  }

  // The argument `index` of the event's row in events.def, not counting the time difference.
  // Requires index < 4.
  EventBuilder& Arg(size_t index, uint64_t value) { return event_.args_[index] = value, *this; }

  // The type of the task that a UserTaskEnd ends. It must outlive the event. Without it it is "".
  EventBuilder& TaskType(const std::string& type) { return Arg(3, Event::AddressOf(type)); }

  // What changes its state, for the kind kStateTransition.
  EventBuilder& Transition(GoId id, GoState from, GoState to) {
    return SetTransition(id.value, static_cast<uint8_t>(from), static_cast<uint8_t>(to));
  }
  EventBuilder& Transition(ProcId id, ProcState from, ProcState to) {
    return SetTransition(id.value, static_cast<uint8_t>(from), static_cast<uint8_t>(to));
  }

  const Event& Build() const { return event_; }

 private:
  EventBuilder& SetTransition(int64_t subject, uint8_t from, uint8_t to) {
    event_.subject_ = subject;
    event_.tags_ = event_.tags_.WithTransition(from, to);
    return *this;
  }

  Event event_;
};

}  // namespace gotrace

#endif  // GOTRACE_EVENT_BUILDER_H_
