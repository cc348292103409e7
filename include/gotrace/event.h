// The ordered events that a Reader hands out: the counterpart of Go's internal/trace Event, with
// the same accessors under the same names.
#ifndef GOTRACE_EVENT_H_
#define GOTRACE_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "gotrace/internal/event_tags.h"
#include "gotrace/states.h"

namespace gotrace::internal {
class EventTables;
class ReaderImpl;
class Scheduler;
}  // namespace gotrace::internal

namespace gotrace {

// One frame of a stack. The views live as long as those of the event that it came from.
struct StackFrame {
  uint64_t pc = 0;         // Of the call, or for the innermost frame where it was.
  absl::string_view func;  // "" if unknown.
  absl::string_view file;  // "" if unknown.
  uint64_t line = 0;       // In `file`.
};

// A handle to a stack in the tables of a generation. Cheap to copy; valid until the Reader gives
// the next kSync event or nothing.
class Stack {
 public:
  // No stack at all.
  Stack() = default;

  // The stack `id` of `tables`, which must not be nullptr. For readers of traces.
  Stack(const internal::EventTables* tables, uint64_t id) : tables_(tables), id_(id) {}

  // Whether there is no stack. A stack with no frames is not none: the runtime knew that it is
  // empty.
  bool none() const { return tables_ == nullptr; }

  // The number of frames.
  size_t size() const;

  // The frame `index` calls away from the innermost. Requires index < size().
  StackFrame frame(size_t index) const;

  // The id in the trace's stack table, new in each generation; 0 for an empty one.
  uint64_t id() const { return id_; }

  // The tables that the stack stands in, nullptr if none(). Exporters key what they make of a
  // stack on it.
  const internal::EventTables* tables() const { return tables_; }

  friend bool operator==(const Stack& a, const Stack& b) {
    return a.tables_ == b.tables_ && a.id_ == b.id_;
  }

 private:
  const internal::EventTables* tables_ = nullptr;
  uint64_t id_ = 0;
};

// A goroutine, a P, a thread, or nothing.
struct ResourceId {
  ResourceKind kind = ResourceKind::kNone;
  int64_t id = -1;

  friend bool operator==(const ResourceId&, const ResourceId&) = default;
};

struct Metric {
  absl::string_view name;  // As in Go's runtime/metrics: "/gc/heap/goal:bytes". Static lifetime.
  uint64_t value = 0;      // In the unit that the name ends with.
};

struct Label {
  absl::string_view label;
  ResourceId resource;  // The goroutine that it is put on.
};

struct Range {
  std::string name;  // "GC mark assist", "stop-the-world (start trace)".
  ResourceId scope;  // What the range is bound to; kNone for the whole program.
};

// A range without a copy of its name.
struct RangeParts {
  absl::string_view what;    // "GC mark assist", "stop-the-world". Static lifetime.
  bool has_reason = false;   // Whether the name tells why, as that of a stop of the world does.
  absl::string_view reason;  // "start trace".
  ResourceId scope;          // As Range::scope.

  // As Range::name. Allocates.
  std::string name() const;
};

struct RangeAttribute {
  absl::string_view name;  // "bytes swept". Static lifetime.
  uint64_t value = 0;
};

struct Task {
  TaskId id;
  TaskId parent;           // kNone if there is none, or if its beginning is not in the trace.
  absl::string_view type;  // The name given to NewTask; "" if its beginning is not in the trace.
};

struct Region {
  TaskId task;             // kBackgroundTask for a region outside of any task.
  absl::string_view type;  // The name given to StartRegion or WithRegion.
};

struct Log {
  TaskId task;  // kBackgroundTask for a message outside of any task.
  absl::string_view category;
  absl::string_view message;
};

struct StateTransition {
  // Whose state changes. Goroutines use go_from and go_to, Ps proc_from and proc_to.
  ResourceId resource;
  GoState go_from = GoState::kUndetermined;
  GoState go_to = GoState::kUndetermined;
  ProcState proc_from = ProcState::kUndetermined;
  ProcState proc_to = ProcState::kUndetermined;
  absl::string_view reason;  // Why a goroutine stopped or blocked: "sync", "chan receive".
  Stack stack;               // The stack of `resource`, not of what made it change.
};

// Clocks read at nearly the same moment (since Go 1.25).
struct ClockSnapshot {
  int64_t trace_time = 0;  // The trace clock in nanoseconds, comparable with Event::time().
  uint64_t mono = 0;       // The system's monotonic clock in nanoseconds.
  absl::Time wall;         // The system's wall clock.
};

// One batch of an experiment, whose content only the experiment knows.
struct ExperimentalBatch {
  ThreadId thread;
  absl::string_view data;
};

struct ExperimentalData {
  uint64_t experiment = 0;  // See ExperimentName().
  absl::Span<const ExperimentalBatch> batches;
};

struct Sync {
  uint64_t n = 0;  // The first sync event of a trace is number 1.
  std::optional<ClockSnapshot> clock_snapshot;
  std::vector<ExperimentalData> experimental_batches;  // In order of experiment ids.
};

struct ExperimentalArg {
  absl::string_view name;  // Static lifetime.
  uint64_t value = 0;
};

struct ExperimentalEvent {
  absl::string_view name;        // Static lifetime.
  absl::string_view experiment;  // Static lifetime.
  std::vector<ExperimentalArg> args;
};

// One event of a trace.
//
// An accessor for the details of one kind requires that kind(); for any other it gives empty
// details. Views, spans and stacks are valid until the Reader gives the next kSync event or
// nothing.
class Event {
 public:
  Event() = default;

  EventKind kind() const { return tags_.kind(); }

  // The type on the wire, or kNone for a kSync event, behind which no single one stands.
  EventType type() const { return tags_.type(); }

  // In nanoseconds of the trace's clock; only differences mean anything. Rises strictly from event
  // to event. In a damaged trace it may pass 2^63, where it wraps around as Go's does; and where
  // the Reader went on after faults, or salvages, a generation may begin earlier than times before
  // it that are probably damaged: those that are more than 100 ms later than its beginning. For
  // what comes of a generation that is stuck see ReadMode::kSalvage.
  int64_t time() const { return time_; }

  // The executing context just before the event, as far as it is known: the goroutine, its P and
  // its thread.
  GoId goroutine() const { return goroutine_; }
  ProcId proc() const { return proc_; }
  ThreadId thread() const { return thread_; }

  // Where the event stands: its first byte, counted from the beginning of the (decompressed) trace.
  // For a kSync event the first byte of its generation, or the end of what was read. Events that
  // one on the wire stands for (FORMAT.md §9) have the same offset.
  uint64_t offset() const { return offset_; }

  // What is wrong with the event, where the Reader went on after that and gives it all the same;
  // nullopt for a sound one.
  std::optional<FaultId> fault() const {
    return tags_.fault() == FaultId::kEnd ? std::nullopt : std::optional<FaultId>(tags_.fault());
  }

  // The stack of the executing context; none() if the event has none.
  Stack stack() const;

  // The id of stack(), 0 if there is none or if it is empty. Cheap.
  uint64_t stack_id() const;

  // The argument `index` of the event as encoded in the trace, not counting the time difference:
  // see its row in events.def. Requires that the type has such an argument. An event that is one of
  // several that one on the wire stands for (FORMAT.md §9.5) has the arguments of that one, or
  // none.
  uint64_t arg(size_t index) const { return args_[index]; }

  // The details of a kMetric, a kLabel, a kLog event.
  Metric metric() const;
  Label label() const;
  Log log() const;

  // The details of a kRangeBegin, kRangeActive or kRangeEnd event; and what a kRangeEnd event tells
  // of the range as a whole, which is something for sweeps only. Both allocate.
  Range range() const;
  std::vector<RangeAttribute> range_attributes() const;

  // The same as range(), and does not allocate.
  RangeParts range_parts() const;

  // The details of a kTaskBegin or kTaskEnd, and of a kRegionBegin or kRegionEnd event.
  Task task() const;
  Region region() const;

  // The details of a kStateTransition event.
  StateTransition state_transition() const;

  // The details of a kSync event, and of a kExperimental one. Both allocate.
  Sync sync() const;
  ExperimentalEvent experimental() const;

  // Parts of state_transition(), for those to whom its cost matters: the resource that changes
  // state; its GoStates or ProcStates as numbers; the reason; and its stack. Only for
  // kStateTransition.
  ResourceId transition_resource() const;
  uint8_t transition_from() const { return tags_.from(); }
  uint8_t transition_to() const { return tags_.to(); }
  absl::string_view transition_reason() const;
  Stack transition_stack() const;

  // Whether events of this type have the same transition_stack() as stack(). Cheaper than to
  // compare them.
  bool TransitionHasSameStack() const;

  // What the type and its kind say of the event, in one word: for whoever keeps many.
  internal::EventTags tags() const { return tags_; }

  // The tables of its generation, which live as long as its strings; nullptr for the last kSync.
  const internal::EventTables* tables() const { return tables_; }

 private:
  friend class EventBuilder;
  friend class internal::ReaderImpl;
  friend class internal::Scheduler;

  static uint64_t AddressOf(const std::string& text) { return reinterpret_cast<uint64_t>(&text); }

  // Clocks of different cores may disagree by a little: what comes later in order comes later in
  // time. `*last_time` is that of the event before this one, and becomes this one's, which happened
  // at `time`. Clocks are coarse enough for many events to have the same time, in no order that a
  // processor could foresee: no branch here.
  void MakeLaterThan(int64_t* last_time, int64_t time) {
    *last_time = time_ = LaterTime(*last_time, time);
  }
  static int64_t LaterTime(int64_t last_time, int64_t time) {
    const int64_t next = static_cast<int64_t>(static_cast<uint64_t>(last_time) + 1);
    return time <= last_time ? next : time;
  }
  void MakeLaterThan(int64_t* last_time) { MakeLaterThan(last_time, time_); }

  absl::string_view String(uint64_t id) const;
  absl::string_view TaskTypeAtEnd() const;

  int64_t time_ = 0;
  GoId goroutine_;
  ProcId proc_;
  ThreadId thread_;
  const internal::EventTables* tables_ = nullptr;  // Of its generation; nullptr for the last kSync.
  // The arguments without the time difference. For a UserTaskEnd the third and fourth are the
  // parent's id and the address of the type's text or 0, for an STWEnd the first is its begin's
  // reason, and for a kSync event the first is its number.
  uint64_t args_[4] = {};
  uint64_t offset_ = 0;
  int64_t subject_ = -1;  // For kStateTransition: the goroutine or P that changes.
  internal::EventTags tags_;
};

inline uint64_t Event::stack_id() const {
  const int8_t arg = internal::kStackArgs[static_cast<uint8_t>(tags_.type())];
  // Events of all types come in no order that a processor could foresee: no branch here.
  return args_[arg & 3] & ~static_cast<uint64_t>(arg >> 7);
}

inline Stack Event::stack() const {
  const uint64_t id = stack_id();
  // Only a sample has a stack even if it is empty.
  return id == 0 && tags_.type() != EventType::kCPUSample ? Stack() : Stack(tables_, id);
}

inline ResourceId Event::transition_resource() const {
  if (tags_.kind() != EventKind::kStateTransition) return {};
  switch (tags_.type()) {
    case EventType::kProcStart:
    case EventType::kProcStop:
    case EventType::kProcSteal:
    case EventType::kProcStatus:
      return {ResourceKind::kProc, subject_};
    default:
      return {ResourceKind::kGoroutine, subject_};
  }
}

inline bool Event::TransitionHasSameStack() const {
  switch (tags_.type()) {
    case EventType::kGoStop:
    case EventType::kGoBlock:
    case EventType::kGoSyscallBegin:
    case EventType::kGoStatus:
    case EventType::kGoStatusStack:
      return true;
    default:
      return false;
  }
}

inline Stack Event::transition_stack() const {
  // Where a new goroutine will begin is no stack of the creator's.
  if (tags_.type() == EventType::kGoCreate || tags_.type() == EventType::kGoCreateBlocked) {
    return Stack(tables_, args_[1]);
  }
  return TransitionHasSameStack() ? stack() : Stack();
}

}  // namespace gotrace

#endif  // GOTRACE_EVENT_H_
