// The ordered events that a Reader returns: the counterpart of Go's internal/trace Event, with the
// same accessors under the same names.
#ifndef GOTRACE_EVENT_H_
#define GOTRACE_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_tags.h"
#include "gotrace/states.h"

namespace gotrace::internal {
class EventAccess;
class EventTables;
class EventWriter;
}  // namespace gotrace::internal

namespace gotrace {

// One frame of a stack. The views are valid as long as the stack.
struct StackFrame {
  uint64_t pc = 0;         // The PC of the call or, for the innermost frame, the current PC.
  absl::string_view func;  // "" if unknown.
  absl::string_view file;  // "" if unknown.
  uint64_t line = 0;       // In `file`.
};

// A handle to a stack in the tables of a generation. Cheap to copy. Valid until the Reader returns
// the next kSync event or nullptr.
class Stack {
 public:
  // Makes no stack: none() is true.
  Stack() = default;

  // Returns whether there is no stack. A stack without frames is different: the runtime recorded
  // that it is empty.
  bool none() const { return tables_ == nullptr; }

  // Returns the number of frames.
  size_t size() const;

  // Returns the frame `index` calls away from the innermost, or an empty frame unless
  // index < size().
  StackFrame frame(size_t index) const;

  // Returns the id in the generation's stack table; 0 for an empty stack. Ids mean nothing in other
  // generations.
  uint64_t id() const { return id_; }

  // Returns whether both are the same entry of the same generation's table.
  friend bool operator==(const Stack& a, const Stack& b) {
    return a.tables_ == b.tables_ && a.id_ == b.id_;
  }

  // For Abseil's hash tables, whose keys must be removed before they become invalid.
  template <class H>
  friend H AbslHashValue(H h, const Stack& stack) {
    return H::combine(std::move(h), stack.tables_, stack.id_);
  }

 private:
  friend class Event;
  friend class internal::EventAccess;

  // Makes the stack `id` of `tables`; no stack if they are nullptr.
  Stack(const internal::EventTables* tables, uint64_t id)
      : tables_(tables), id_(tables == nullptr ? 0 : id) {}

  const internal::EventTables* tables_ = nullptr;
  uint64_t id_ = 0;
};

// A goroutine, a P, a thread, or nothing.
struct ResourceId {
  ResourceKind kind = ResourceKind::kNone;
  int64_t id = -1;

  friend bool operator==(const ResourceId&, const ResourceId&) = default;
};

// The value of a metric.
struct Metric {
  absl::string_view name;  // As in Go's runtime/metrics: "/gc/heap/goal:bytes". Static lifetime.
  uint64_t value = 0;      // In the unit that the name ends with.
};

// A label that was set on a goroutine.
struct Label {
  absl::string_view label;
  ResourceId resource;  // The goroutine.
};

// A span of time in which something, such as a GC phase, is in progress.
struct Range {
  std::string name;  // "GC mark assist", "stop-the-world (start trace)".
  ResourceId scope;  // The owner of the range; kNone for the whole program.
};

// A range whose name is not copied.
struct RangeParts {
  absl::string_view what;    // "GC mark assist", "stop-the-world". Static lifetime.
  bool has_reason = false;   // Whether the name includes the reason, as for stop-the-world.
  absl::string_view reason;  // "start trace".
  ResourceId scope;          // As Range::scope.

  // Returns Range::name. Allocates.
  std::string name() const;
};

// A number that the end of a range reports.
struct RangeAttribute {
  absl::string_view name;  // "bytes swept". Static lifetime.
  uint64_t value = 0;
};

// A user task of runtime/trace.
struct Task {
  TaskId id;
  TaskId parent;           // kNone if there is none, or if the task's begin is not in the trace.
  absl::string_view type;  // The name given to NewTask; "" if its begin is not in the trace.
};

// A user region of runtime/trace.
struct Region {
  TaskId task;             // kBackgroundTask for a region outside any task.
  absl::string_view type;  // The name given to StartRegion or WithRegion.
};

// A message of trace.Log.
struct Log {
  TaskId task;  // kBackgroundTask for a message outside any task.
  absl::string_view category;
  absl::string_view message;
};

// A change of the state of a goroutine or P.
struct StateTransition {
  // What changes its state. Goroutines use go_from and go_to, Ps use proc_from and proc_to.
  ResourceId resource;
  GoState go_from = GoState::kUndetermined;
  GoState go_to = GoState::kUndetermined;
  ProcState proc_from = ProcState::kUndetermined;
  ProcState proc_to = ProcState::kUndetermined;
  // Why a goroutine stopped or blocked: "sync", "chan receive". Only GoStop and GoBlock events have
  // a reason; it is "" for all others. In particular, a status (GoStatus, GoStatusStack) has none:
  // the trace does not say why a goroutine waits whose wait began before the trace did.
  absl::string_view reason;
  Stack stack;  // The stack of `resource`, not of what caused the change.
};

// Clocks read at nearly the same moment (since Go 1.25).
struct ClockSnapshot {
  int64_t trace_time = 0;  // The trace clock in nanoseconds, comparable with Event::time().
  uint64_t mono = 0;       // The system's monotonic clock in nanoseconds.
  absl::Time wall;         // The system's wall clock.
};

// One batch of an experiment, in a format that the experiment defines.
struct ExperimentalBatch {
  ThreadId thread;
  absl::string_view data;
};

// All batches of one experiment in a generation.
struct ExperimentalData {
  uint64_t experiment = 0;  // See ExperimentName().
  absl::Span<const ExperimentalBatch> batches;
};

// The beginning of a generation or the end of the trace.
struct Sync {
  uint64_t n = 0;  // The number of the sync event, from 1.
  std::optional<ClockSnapshot> clock_snapshot;
  std::vector<ExperimentalData> experimental_batches;  // In order of experiment ids.
};

// An argument of an experimental event.
struct ExperimentalArg {
  absl::string_view name;  // Static lifetime.
  uint64_t value = 0;
};

// An event of an experiment.
struct ExperimentalEvent {
  absl::string_view name;        // Static lifetime.
  absl::string_view experiment;  // Static lifetime.
  std::vector<ExperimentalArg> args;
};

// One event of a trace.
//
// The accessors for details require a certain kind(), and return empty details for any other.
// Views, spans and stacks are valid until the Reader returns the next kSync event or nullptr.
class Event {
 public:
  Event() {}  // Not defaulted: clang would refuse `const Event event;`.

  // Returns the kind, which says which accessor returns the details.
  EventKind kind() const { return tags_.kind(); }

  // Returns the type on the wire, or kNone for a kSync event, which is not on the wire.
  EventType type() const { return tags_.type(); }

  // Returns the time in nanoseconds of the trace clock; only differences are meaningful. Times
  // increase strictly from event to event, with these exceptions in damaged traces: times beyond
  // 2^63 wrap around, as Go's do; and in the modes that continue after faults, a generation may
  // begin earlier than preceding events whose times are more than 100 ms later than its beginning,
  // and therefore probably damaged. See also ReadMode::kSalvage.
  int64_t time() const { return time_; }

  // Returns the goroutine that was executing just before the event, or kNone.
  GoId goroutine() const { return goroutine_; }

  // Returns the P that the thread had just before the event, or kNone.
  ProcId proc() const { return proc_; }

  // Returns the thread on which the event happened, or kNone.
  ThreadId thread() const { return thread_; }

  // Returns the offset of the event's first byte in the (decompressed) trace. For a kSync event it
  // is the offset of its generation or, at the end, of the end of the bytes read. Events that come
  // from the same event on the wire (FORMAT.md §9.5) have the same offset.
  uint64_t offset() const { return offset_; }

  // Returns the fault of an event that is returned despite it, in the modes that continue after
  // faults; nullopt for a sound event.
  std::optional<FaultId> fault() const {
    return tags_.fault() == FaultId::kEnd ? std::nullopt : std::optional<FaultId>(tags_.fault());
  }

  // Returns the stack of the executing context; none() if the event has none.
  Stack stack() const;

  // Returns the id of stack(); 0 if there is none or if it is empty. Cheap.
  uint64_t stack_id() const;

  // Returns the argument `index` of the event as encoded in the trace, not counting the time
  // difference: see its row in events.def. Returns 0 if the type has no such argument. If one event
  // on the wire became several (FORMAT.md §9.5), each has the arguments of that event, or 0 for
  // all.
  uint64_t arg(size_t index) const { return index < kMaxArgs ? args_[index] : 0; }

  // Returns the details of a kMetric event.
  Metric metric() const;

  // Returns the details of a kLabel event.
  Label label() const;

  // Returns the details of a kLog event.
  Log log() const;

  // Returns the details of a kRangeBegin, kRangeActive or kRangeEnd event. Allocates.
  Range range() const;

  // Returns the numbers that a kRangeEnd event reports; only sweeps have any. Allocates.
  std::vector<RangeAttribute> range_attributes() const;

  // Returns the same as range(), without allocating.
  RangeParts range_parts() const;

  // Returns the details of a kTaskBegin or kTaskEnd event.
  Task task() const;

  // Returns the details of a kRegionBegin or kRegionEnd event.
  Region region() const;

  // Returns the details of a kStateTransition event.
  StateTransition state_transition() const;

  // Returns the details of a kSync event. Allocates.
  Sync sync() const;

  // Returns the details of a kExperimental event. Allocates.
  ExperimentalEvent experimental() const;

  // Returns state_transition().resource, at less cost.
  ResourceId transition_resource() const;

  // Returns the GoState or ProcState, as a number, that a kStateTransition event leaves.
  uint8_t transition_from() const { return tags_.from(); }

  // Returns the GoState or ProcState, as a number, that a kStateTransition event enters.
  uint8_t transition_to() const { return tags_.to(); }

  // Returns state_transition().reason, at less cost.
  absl::string_view transition_reason() const;

  // Returns state_transition().stack, at less cost.
  Stack transition_stack() const;

  // Returns whether events of this type have the same transition_stack() as stack(), at less cost
  // than comparing the two.
  bool TransitionHasSameStack() const;

 private:
  friend class internal::EventAccess;
  friend class internal::EventWriter;

  absl::string_view String(uint64_t id) const;
  absl::string_view TaskTypeAtEnd() const;

  static constexpr size_t kMaxArgs = 4;

  int64_t time_ = 0;
  GoId goroutine_;
  ProcId proc_;
  ThreadId thread_;
  const internal::EventTables* tables_ = nullptr;  // Of its generation; nullptr for the last kSync.
  // The arguments without the time difference. For a UserTaskEnd the third is the parent's id, for
  // an STWEnd the first is the reason that its begin stated, and for a kSync event the first is its
  // number.
  uint64_t args_[kMaxArgs] = {};
  uint64_t offset_ = 0;
  union {
    int64_t subject_ = -1;          // For kStateTransition: the goroutine or P that changes.
    const std::string* task_type_;  // For a UserTaskEnd; nullptr if its begin is not in the trace.
  };
  internal::EventTags tags_;
};

inline uint64_t Event::stack_id() const {
  const int8_t arg = internal::kStackArgs[static_cast<uint8_t>(tags_.type())];
  // No processor can predict the types of events, so this has no branch.
  return args_[arg & 3] & ~static_cast<uint64_t>(arg >> 7);
}

inline Stack Event::stack() const {
  const uint64_t id = stack_id();
  // Only a CPU sample with stack id 0 has an (empty) stack.
  return id == 0 && tags_.type() != EventType::kCPUSample ? Stack() : Stack(tables_, id);
}

inline ResourceId Event::transition_resource() const {
  if (tags_.kind() != EventKind::kStateTransition) return {};
  return {internal::RuleOf(tags_.type()).resource, subject_};
}

inline bool Event::TransitionHasSameStack() const {
  // The stack is that of the thread's own goroutine, or of the one whose status it is.
  const internal::EventRule& rule = internal::RuleOf(tags_.type());
  return rule.goroutine_becomes != internal::Becomes::kSame ||
         rule.subject == internal::Subject::kStatedGoroutine;
}

inline Stack Event::transition_stack() const {
  // The stack where a new goroutine will start is not the creator's stack.
  const int8_t arg = internal::kNewStackArgs[static_cast<uint8_t>(tags_.type())];
  if (arg >= 0) return Stack(tables_, args_[arg]);
  return TransitionHasSameStack() ? stack() : Stack();
}

}  // namespace gotrace

#endif  // GOTRACE_EVENT_H_
