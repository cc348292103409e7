// Builds events without a trace, for programs that produce events of their own and for tests.
#ifndef GOTRACE_EVENT_BUILDER_H_
#define GOTRACE_EVENT_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace::internal {
class OwningTables;
}  // namespace gotrace::internal

namespace gotrace {

// Holds the names, stacks and clocks of built events, which are valid as long as this object or any
// copy of it. Copies share the same tables. Equal names and stacks are stored once.
//
// The events of one generation of a trace share tables. Do the same with events that are to be
// passed to a sink, such as an exporter: build them all with the same BuiltTables.
class BuiltTables {
 public:
  BuiltTables();

 private:
  friend class EventBuilder;

  std::shared_ptr<internal::OwningTables> tables_;
};

// Builds an event. A setter sets the result of the accessor of Event with the same name, or the
// field of that name in the event's details, and returns the builder. A setter that does not apply
// to the type of the event does nothing, so any sequence of calls gives an event whose accessors
// can all be called. Everything that is not set is none, empty or 0.
//
//   gotrace::EventBuilder builder(gotrace::EventType::kGoBlock);
//   builder.Time(100)
//       .Transition(gotrace::GoId{7}, gotrace::GoState::kRunning, gotrace::GoState::kWaiting)
//       .Reason("chan receive")
//       .Stack({{0x47a1b2, "main.work", "/src/main.go", 31}});
//   validator.Check(builder.Build());
class EventBuilder {
 public:
  // Begins an event of `type` and the corresponding kind. Its names and stacks are held by the
  // builder and its copies.
  explicit EventBuilder(EventType type);

  // Begins the same event with names and stacks that are held by `tables`.
  EventBuilder(EventType type, const BuiltTables& tables);

  // Begins the kSync event number `n`, which begins a generation or ends the trace.
  static EventBuilder MakeSync(uint64_t n);
  static EventBuilder MakeSync(uint64_t n, const BuiltTables& tables);

  // Set the time in nanoseconds, and the context in which the event was executed; kNone for each
  // of the three that is not set.
  EventBuilder& Time(int64_t time);
  EventBuilder& Goroutine(GoId id);
  EventBuilder& Proc(ProcId id);
  EventBuilder& Thread(ThreadId id);

  // Sets the offset in the trace. Findings about events without an offset identify the event by its
  // number.
  EventBuilder& Offset(uint64_t offset);

  // Sets the stack of the executing context, innermost frame first. Without frames, the event has
  // no stack.
  EventBuilder& Stack(absl::Span<const StackFrame> frames);

  // Sets the stack at which a created goroutine will start, for GoCreate and GoCreateBlocked. The
  // stacks of other transitions are those of their events.
  EventBuilder& TransitionStack(absl::Span<const StackFrame> frames);

  // Sets the goroutine or P that changes state, and its states, for the kind kStateTransition. Does
  // nothing if events of the type do not change the state of a goroutine (or a P), or if a state
  // has no enumerator.
  EventBuilder& Transition(GoId id, GoState from, GoState to);
  EventBuilder& Transition(ProcId id, ProcState from, ProcState to);

  // Sets why a goroutine stops or blocks, or why the world is stopped: for GoStop, GoBlock,
  // STWBegin and STWEnd.
  EventBuilder& Reason(absl::string_view reason);

  // Sets the label, for kLabel. It is a label of the event's Goroutine().
  EventBuilder& Label(absl::string_view label);

  // Sets the task that begins or ends, or the task of a region or message. The default is
  // kBackgroundTask.
  EventBuilder& Task(TaskId id);

  // Sets the parent of the task that begins or ends. The default is kNone.
  EventBuilder& Parent(TaskId id);

  // Sets the type of the task that begins or ends.
  EventBuilder& TaskType(absl::string_view type);

  // Sets the type of the region that begins or ends.
  EventBuilder& RegionType(absl::string_view type);

  // Sets the category and the message, for kLog.
  EventBuilder& Log(absl::string_view category, absl::string_view message);

  // Sets the clock snapshot of the generation that a kSync event begins.
  EventBuilder& Clocks(const ClockSnapshot& clocks);

  // Sets the argument `index` of the event's row in events.def, not counting the time difference,
  // for numbers that have no setter. Does nothing unless index < 4.
  EventBuilder& Arg(size_t index, uint64_t value);

  // Returns the event. The reference is valid as long as the builder, and shows later changes; a
  // copy of the event is valid as long as the owner of its names and stacks.
  const Event& Build() const { return event_; }

 private:
  EventBuilder& SetTransition(ResourceKind kind, int64_t subject, uint8_t from, uint8_t to);
  EventBuilder& SetString(size_t index, absl::string_view text);
  EventBuilder& SetStack(size_t index, absl::Span<const StackFrame> frames);

  // Returns the tables, after making them if there are none yet.
  internal::OwningTables& Tables();

  Event event_;
  std::shared_ptr<internal::OwningTables> tables_;
};

}  // namespace gotrace

#endif  // GOTRACE_EVENT_BUILDER_H_
