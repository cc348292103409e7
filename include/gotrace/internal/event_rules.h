// What each event requires and changes: the table into which event_rules.def expands.
#ifndef GOTRACE_INTERNAL_EVENT_RULES_H_
#define GOTRACE_INTERNAL_EVENT_RULES_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// What the thread that writes an event must run.
enum class GoNeed : uint8_t {
  kNoThread,         // Anything; there may even be no thread.
  kAny,              // A goroutine or none.
  kNone,             // No goroutine.
  kRunningIfAny,     // A goroutine that is Running, or none.
  kSome,             // A goroutine. Its status is not checked.
  kSomeUnlessFirst,  // The same, or anything for the first event of its kind.
  kRunning,          // A goroutine that is Running.
  kSyscall,          // A goroutine in a syscall.
};

// The P that the thread that writes an event must have.
enum class ProcNeed : uint8_t {
  kAny,           // A P or none.
  kNone,          // None: the event waits until the thread has lost its P.
  kNotSyscall,    // None that is in a syscall: the event waits until that P is stolen.
  kSyscallIfAny,  // A P in a syscall, or none.
  kSome,          // A P. Its status is not checked.
  kInUse,         // A P that is Running or in a syscall.
  kSyscall,       // A P in a syscall.
  kNumbered,      // A P whose next sequence number is the event's.
};

// What the first argument of an event must name.
enum class Subject : uint8_t {
  kNone,             // The event is about nothing but what its thread executes.
  kNewGoroutine,     // A goroutine that does not exist.
  kStatedGoroutine,  // A goroutine that has the stated status, or is mentioned for the first time.
  kKnownGoroutine,   // A goroutine that exists.
  kRunnableGoroutine,  // Each of these has the event's sequence number next. The event waits for
                       // it.
  kWaitingGoroutine,
  kStatedProc,
  kKnownProc,
  kIdleProc,     // As with goroutines, the event waits for this P,
  kSyscallProc,  // and for this one, which is in a syscall or Abandoned.
  kGC,           // The garbage collector, whose next sequence number is the argument.
};

// What becomes of a goroutine or P.
enum class Becomes : uint8_t {
  kSame,
  kStated,  // What an argument says.
  kRunnable,
  kRunning,
  kSyscall,
  kWaiting,
  kGone,  // Goroutines only.
  kIdle,  // Ps only.
  kAbandoned,
};

struct EventRule {
  ResourceKind resource = ResourceKind::kNone;
  GoNeed goroutine = GoNeed::kNoThread;
  Becomes goroutine_becomes = Becomes::kSame;
  ProcNeed proc = ProcNeed::kAny;
  Becomes proc_becomes = Becomes::kSame;
  Subject subject = Subject::kNone;
  Becomes subject_becomes = Becomes::kSame;
  // The index of the argument with the sequence number, not counting the time difference; -1 if
  // there is none.
  int8_t number_arg = -1;

  constexpr bool NeedsGoroutine() const { return goroutine >= GoNeed::kSome; }
  constexpr bool NeedsProc() const { return proc >= ProcNeed::kSome; }
  constexpr bool MayHaveNoThread() const {
    return goroutine == GoNeed::kNoThread || goroutine == GoNeed::kSomeUnlessFirst;
  }

  // Whether the goroutine, or the P, is not on the thread after the event.
  constexpr bool GoroutineLeaves() const {
    return goroutine_becomes == Becomes::kRunnable || goroutine_becomes == Becomes::kWaiting ||
           goroutine_becomes == Becomes::kGone;
  }
  constexpr bool ProcLeaves() const {
    return proc_becomes == Becomes::kIdle || proc_becomes == Becomes::kAbandoned;
  }

  // Whether the subject is on the thread after the event.
  constexpr bool SubjectEnters() const {
    return subject_becomes == Becomes::kRunning || subject_becomes == Becomes::kSyscall;
  }

  // Whether the subject replaces the goroutine of the thread.
  constexpr bool IsSwitch() const { return GoroutineLeaves() && SubjectEnters(); }

  // Whether the thread has another goroutine or P after the event, or its own in another state. A
  // status, which may only repeat what is known, does not count.
  constexpr bool ChangesThread() const {
    return goroutine_becomes != Becomes::kSame || proc_becomes != Becomes::kSame || SubjectEnters();
  }

  // Returns kNone for the garbage collector, too.
  constexpr ResourceKind subject_kind() const {
    if (subject == Subject::kNone || subject == Subject::kGC) return ResourceKind::kNone;
    return subject >= Subject::kStatedProc ? ResourceKind::kProc : ResourceKind::kGoroutine;
  }

  // Whether a range that the event begins, confirms or ends is a goroutine's. Otherwise it is a
  // P's, unless it is a cycle of the garbage collector.
  constexpr bool IsAboutGoroutine() const {
    return NeedsGoroutine() || subject_kind() == ResourceKind::kGoroutine;
  }

  // Whether the event waits until its subject has the status and the number before the event's.
  constexpr bool AwaitsSubject() const { return subject != Subject::kNone && number_arg >= 0; }
};

// The rules by type on the wire. A type that is not ordered has that of a default EventRule.
inline constexpr std::array<EventRule, 256> kEventRules = [] {
  std::array<EventRule, 256> rules = {};
#define GOTRACE_RULE(name, resource, goroutine, goroutine_becomes, proc, proc_becomes, subject, \
                     subject_becomes)                                                           \
  rules[static_cast<uint8_t>(EventType::k##name)] = {                                           \
      ResourceKind::k##resource,     GoNeed::k##goroutine,                                      \
      Becomes::k##goroutine_becomes, ProcNeed::k##proc,                                         \
      Becomes::k##proc_becomes,      Subject::k##subject,                                       \
      Becomes::k##subject_becomes,   kNumberArgs[static_cast<uint8_t>(EventType::k##name)]};
#include "gotrace/internal/event_rules.def"
  return rules;
}();

constexpr const EventRule& RuleOf(EventType type) {
  return kEventRules[static_cast<uint8_t>(type)];
}

// Whether the rows agree with those of events.def: each type that is ordered has one, each state
// transition has a resource, and each sequence number belongs to something.
constexpr bool EventRulesAreComplete() {
  std::array<bool, 256> has_row = {};
#define GOTRACE_RULE(name, ...) has_row[static_cast<uint8_t>(EventType::k##name)] = true;
#include "gotrace/internal/event_rules.def"
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  if (has_row[value] != (absl::string_view(#rule) != "None")) return false;
#include "gotrace/internal/events.def"
  for (size_t type = 0; type < kEventRules.size(); ++type) {
    const EventRule& rule = kEventRules[type];
    const bool is_transition = kEventKinds[type] == EventKind::kStateTransition;
    const bool is_awaited = rule.subject == Subject::kRunnableGoroutine ||
                            rule.subject == Subject::kWaitingGoroutine ||
                            rule.subject == Subject::kIdleProc ||
                            rule.subject == Subject::kSyscallProc || rule.subject == Subject::kGC;
    const bool is_numbered = is_awaited || rule.proc == ProcNeed::kNumbered;
    if (is_transition != (rule.resource != ResourceKind::kNone)) return false;
    if (is_numbered != (rule.number_arg >= 0)) return false;
  }
  return true;
}
static_assert(EventRulesAreComplete(), "event_rules.def contradicts events.def");

// The types of state transitions. A switch over this type without `default` has to name each of
// them, also those that are added later.
enum class TransitionType : uint8_t {
#define GOTRACE_TYPE_None(name)
#define GOTRACE_TYPE_Goroutine(name) k##name = static_cast<uint8_t>(EventType::k##name),
#define GOTRACE_TYPE_Proc(name) k##name = static_cast<uint8_t>(EventType::k##name),
#define GOTRACE_RULE(name, resource, ...) GOTRACE_TYPE_##resource(name)
#include "gotrace/internal/event_rules.def"
#undef GOTRACE_TYPE_None
#undef GOTRACE_TYPE_Goroutine
#undef GOTRACE_TYPE_Proc
};

// Requires that `type` is that of a state transition.
constexpr TransitionType TransitionTypeOf(EventType type) {
  return static_cast<TransitionType>(type);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_EVENT_RULES_H_
