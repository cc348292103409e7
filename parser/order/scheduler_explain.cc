// Explains why events wait: which requirement of event_rules.def is not met.
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gotrace/internal/event_rules.h"
#include "parser/event/event_access.h"
#include "parser/order/fault_context.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {
namespace {

using Kind = AwaitedEvent::Kind;

// Returns the likeliest type of the goroutine's next numbered event, given that an event of type
// `waiting` has a number that is `gap` too high. Only unblocking, starting and switching are
// numbered. So a waiting goroutine must be unblocked next, or switched to if `waiting` comes
// directly after. A running one must have been unblocked since if it is to start, and started if it
// is to be unblocked.
EventType NextOfGoroutine(GoStatus status, uint64_t gap, EventType waiting) {
  const bool starts = waiting == EventType::kGoStart;
  switch (status) {
    case GoStatus::kWaiting:
      return !starts && gap == 1 ? EventType::kGoSwitch : EventType::kGoUnblock;
    case GoStatus::kRunning:
    case GoStatus::kSyscall:
      return starts ? EventType::kGoUnblock : EventType::kGoStart;
    case GoStatus::kRunnable:
    case GoStatus::kBad:
      break;
  }
  return EventType::kGoStart;
}

// The same for a P, where starts, syscalls and thefts are numbered.
EventType NextOfProc(ProcStatus status, uint64_t gap, EventType waiting) {
  switch (status) {
    case ProcStatus::kRunning:
      return EventType::kGoSyscallBegin;
    case ProcStatus::kSyscall:
      // A start and a syscall come between two thefts.
      return waiting == EventType::kProcSteal && gap == 1 ? EventType::kGoSyscallBegin
                                                          : EventType::kProcSteal;
    case ProcStatus::kSyscallAbandoned:
      return EventType::kProcSteal;
    case ProcStatus::kIdle:
    case ProcStatus::kBad:
      break;
  }
  return EventType::kProcStart;
}

// Returns the type of event that takes a goroutine of `status` away from its thread, so that it can
// become `required`.
EventType LeaveOfGoroutine(GoStatus status, GoStatus required) {
  const bool to_waiting = required == GoStatus::kWaiting;
  if (status == GoStatus::kSyscall) {
    return to_waiting ? EventType::kGoSyscallEnd : EventType::kGoSyscallEndBlocked;
  }
  return to_waiting ? EventType::kGoBlock : EventType::kGoStop;
}

}  // namespace

// Explains obstacles from the state of the model when nothing can advance.
class SchedulerModel::Explainer {
 public:
  explicit Explainer(const SchedulerModel& model) : model_(model) {
    for (const auto& [id, thread] : model.threads_) {
      Keep(thread.goroutine, id, &goroutine_threads_);
      Keep(thread.proc, id, &proc_threads_);
    }
  }

  Obstacle Explain(const ThreadCursor& cursor) const {
    const TimedEvent& event = cursor.event();
    const EventRule& rule = RuleOf(event.type);
    const ThreadState* const thread = cursor.state;
    const bool has_proc = thread != nullptr && thread->proc != ProcId::kNone;
    if (rule.proc == ProcNeed::kNotSyscall || (rule.proc == ProcNeed::kNone && has_proc)) {
      return ExplainHeldProc(thread);
    }
    switch (rule.subject) {
      case Subject::kRunnableGoroutine:
        return ExplainGoroutine(event, cursor.thread(), GoStatus::kRunnable);
      case Subject::kWaitingGoroutine:
        return ExplainGoroutine(event, cursor.thread(), GoStatus::kWaiting);
      case Subject::kIdleProc:
        return ExplainProc(event, "Idle",
                           [](ProcStatus status) { return status == ProcStatus::kIdle; });
      case Subject::kSyscallProc:
        return ExplainProc(event, "in a syscall", InSyscall);
      case Subject::kGC:
        return ExplainGC(event);
      case Subject::kNone:
      case Subject::kNewGoroutine:
      case Subject::kStatedGoroutine:
      case Subject::kKnownGoroutine:
      case Subject::kStatedProc:
      case Subject::kKnownProc:
        break;  // The event never waits.
    }
    return {};
  }

 private:
  // Only in a broken trace can several threads have one resource. The choice must not depend on the
  // order of a hash table.
  template <class IdType>
  static void Keep(IdType id, ThreadId thread, absl::flat_hash_map<IdType, ThreadId>* threads) {
    if (id == IdType::kNone) return;
    const auto [it, is_new] = threads->emplace(id, thread);
    if (!is_new && thread < it->second) it->second = thread;
  }

  template <class IdType>
  static ThreadId ThreadOf(IdType id, const absl::flat_hash_map<IdType, ThreadId>& threads) {
    const auto it = threads.find(id);
    return it == threads.end() ? ThreadId::kNone : it->second;
  }

  static std::string OnThread(ThreadId thread) {
    return thread == ThreadId::kNone ? "" : absl::StrCat(" on thread ", thread.value);
  }

  // For example "expects sequence number 5 of P 2, has 7".
  static std::string WrongNumber(absl::string_view resource, uint64_t expected, uint64_t found) {
    return absl::StrCat("expects sequence number ", expected, " of ", resource, ", has ", found,
                        found < expected ? ", which was already used" : "");
  }

  std::string NoStatusYet(absl::string_view resource) const {
    return absl::StrCat("the status of ", resource, " is not yet known in generation ",
                        model_.generation_->number());
  }

  bool IsOfGeneration(const GoroutineState& state) const {
    return state.generation == model_.generation_index_;
  }
  bool IsOfGeneration(const ProcessorState& state) const {
    return state.sequence.generation == model_.generation_->number();
  }

  // GoStart, GoUnblock, GoSwitch and GoSwitchDestroy need a goroutine with status `required`, whose
  // next number is that of the event.
  Obstacle ExplainGoroutine(const TimedEvent& event, ThreadId waiting, GoStatus required) const {
    const GoId id{static_cast<int64_t>(event.args[0])};
    const uint64_t number = event.args[1];
    const std::string name = absl::StrCat("goroutine ", id.value);
    AwaitedEvent awaited = {
        Kind::kMention, EventType::kGoStatus, ResourceKind::kGoroutine, id.value, 0,
        ThreadId::kNone};
    const GoroutineState* const goroutine = model_.goroutines_.Find(id);
    if (goroutine == nullptr) {
      awaited.type = BirthOfGoroutine(event.type, number);
      return {absl::StrCat(name, " does not exist", number == 1 ? " yet" : ""), awaited};
    }
    if (!IsOfGeneration(*goroutine)) return {NoStatusYet(name), awaited};

    const GoStatus status = goroutine->status;
    const uint64_t next = goroutine->number + 1;
    const ThreadId thread = ThreadOf(id, goroutine_threads_);
    std::vector<std::string> why;
    if (status != required) {
      why.push_back(absl::StrCat(name, " is ", GoStatusName(status), OnThread(thread), ", must be ",
                                 GoStatusName(required)));
    }
    if (number != next) why.push_back(WrongNumber(name, next, number));

    const bool runs = status == GoStatus::kRunning || status == GoStatus::kSyscall;
    if (number < next) {
      awaited.kind = Kind::kNone;
    } else if (number > next) {
      awaited.kind = Kind::kNumbered;
      awaited.type = NextOfGoroutine(status, number - next, event.type);
      awaited.number = next;
    } else if (runs) {
      awaited.kind = Kind::kLeave;
      // A running coroutine that is to be switched to on its own thread must switch to another
      // goroutine first.
      const bool is_switch = event.type != EventType::kGoUnblock && thread == waiting;
      awaited.type = is_switch && required == GoStatus::kWaiting
                         ? EventType::kGoSwitch
                         : LeaveOfGoroutine(status, required);
      awaited.thread = thread;
    } else {
      awaited.kind = Kind::kEarlier;
      awaited.type = status == GoStatus::kWaiting ? EventType::kGoUnblock : EventType::kGoStart;
    }
    return {absl::StrJoin(why, ", and "), awaited};
  }

  // Returns the type of event that first mentions a goroutine whose `number`th event is of type
  // `first`. A goroutine that was just created can start at once, except for a coroutine, which
  // waits to be switched to. A goroutine that is unblocked first existed before the trace.
  EventType BirthOfGoroutine(EventType first, uint64_t number) const {
    if (number != 1 || first == EventType::kGoStart) return EventType::kGoCreate;
    const bool may_be_old = first == EventType::kGoUnblock && model_.in_first_generation();
    return may_be_old ? EventType::kGoStatus : EventType::kGoCreateBlocked;
  }

  // ProcStart and ProcSteal need a P that fits, whose next number is that of the event.
  template <class Fits>
  Obstacle ExplainProc(const TimedEvent& event, absl::string_view required, Fits fits) const {
    const ProcId id{static_cast<int64_t>(event.args[0])};
    const uint64_t number = event.args[1];
    const std::string name = absl::StrCat("P ", id.value);
    AwaitedEvent awaited = {
        Kind::kMention, EventType::kProcStatus, ResourceKind::kProc, id.value, 0, ThreadId::kNone};
    const ProcessorState* const proc = model_.procs_.Find(id);
    if (proc == nullptr) return {absl::StrCat(name, " is not yet known"), awaited};
    if (!IsOfGeneration(*proc)) return {NoStatusYet(name), awaited};

    const uint64_t next = proc->sequence.number + 1;
    const ThreadId thread = ThreadOf(id, proc_threads_);
    const bool is_fit = fits(proc->status);
    std::vector<std::string> why;
    if (!is_fit) {
      why.push_back(absl::StrCat(name, " is ", DescribeStatus(proc->status), OnThread(thread),
                                 ", must be ", required));
    }
    if (number != next) why.push_back(WrongNumber(name, next, number));

    if (number < next) {
      awaited.kind = Kind::kNone;
    } else if (number > next) {
      awaited.kind = Kind::kNumbered;
      awaited.type = NextOfProc(proc->status, number - next, event.type);
      awaited.number = next;
    } else if (proc->status == ProcStatus::kSyscallAbandoned) {
      awaited.kind = Kind::kEarlier;
      awaited.type = EventType::kProcSteal;
    } else if (event.type == EventType::kProcStart) {
      awaited.kind = Kind::kLeave;
      awaited.type = EventType::kProcStop;
      awaited.thread = thread;
    } else {
      awaited.kind = Kind::kEarlier;
      awaited.type = EventType::kGoSyscallBegin;
    }
    return {absl::StrJoin(why, ", and "), awaited};
  }

  static absl::string_view DescribeStatus(ProcStatus status) {
    return status == ProcStatus::kSyscall ? "in a syscall" : ProcStatusName(status);
  }

  // ProcStart and GoSyscallEndBlocked need the event's own thread to have lost its P.
  Obstacle ExplainHeldProc(const ThreadState* thread) const {
    if (thread == nullptr) return {};
    const ProcId id = thread->proc;
    const std::string name = absl::StrCat("P ", id.value);
    AwaitedEvent awaited = {Kind::kLeave, EventType::kProcStop, ResourceKind::kProc, id.value, 0,
                            thread->id};
    const ProcessorState* const proc = model_.procs_.Find(id);
    if (proc == nullptr || proc->status != ProcStatus::kSyscall) {
      return {absl::StrCat(name, " is still on thread ", thread->id.value,
                           ": a ProcStop must come first"),
              awaited};
    }
    if (!IsOfGeneration(*proc)) {
      awaited = {Kind::kMention, EventType::kProcStatus, ResourceKind::kProc, id.value, 0,
                 ThreadId::kNone};
      return {absl::StrCat(NoStatusYet(name), ": its ProcStatus and a ProcSteal must come first"),
              awaited};
    }
    awaited = {Kind::kNumbered, EventType::kProcSteal,     ResourceKind::kProc,
               id.value,        proc->sequence.number + 1, ThreadId::kNone};
    return {absl::StrCat(name, " is still in a syscall on thread ", thread->id.value,
                         ": a ProcSteal must come first"),
            awaited};
  }

  // GCActive, GCBegin and GCEnd are numbered in one sequence.
  Obstacle ExplainGC(const TimedEvent& event) const {
    const uint64_t number = event.args[0];
    const uint64_t next = model_.gc_sequence_ + 1;
    AwaitedEvent awaited = {Kind::kNumbered, EventType::kGCBegin, ResourceKind::kNone, -1, next,
                            ThreadId::kNone};
    if (model_.gc_state_ == GcState::kUndetermined) {
      awaited.number = number - 1;
      if (number == 0) awaited = {};
      return {"a GCBegin or GCActive must come first, found no earlier GC event", awaited};
    }
    const std::string why = WrongNumber("the GC", next, number);
    if (number < next) return {why, {}};
    if (model_.gc_state_ == GcState::kRunning) {
      // A GC cycle that continues into a generation is stated there again, with its own number.
      const bool goes_on = event.type != EventType::kGCBegin && number - next == 1;
      awaited.type = goes_on ? EventType::kGCActive : EventType::kGCEnd;
    }
    return {why, awaited};
  }

  const SchedulerModel& model_;
  absl::flat_hash_map<GoId, ThreadId> goroutine_threads_;
  absl::flat_hash_map<ProcId, ThreadId> proc_threads_;
};

FaultContext SchedulerModel::ContextOf(const ThreadCursor& cursor) const {
  FaultContext context;
  const TimedEvent& event = cursor.event();
  const int8_t stack_arg = kStackArgs[static_cast<uint8_t>(event.type)];
  if (stack_arg >= 0) AddStack(EventAccess::MakeStack(tables_, event.args[stack_arg]), &context);
  const EventKind kind = kEventKinds[static_cast<uint8_t>(event.type)];
  const bool is_of_task = kind == EventKind::kTaskBegin || kind == EventKind::kTaskEnd;
  const bool is_of_region = kind == EventKind::kRegionBegin || kind == EventKind::kRegionEnd;
  if (!is_of_task && !is_of_region) return context;
  const GoId id = cursor.state == nullptr ? GoId::kNone : cursor.state->goroutine;
  const GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->spans == nullptr) return context;
  AddRegions(id, goroutine->spans->regions, *tables_, generation_index_, &context);
  return context;
}

std::vector<Obstacle> SchedulerModel::Explain(absl::Span<const ThreadCursor* const> waiting) const {
  const Explainer explainer(*this);
  std::vector<Obstacle> obstacles;
  obstacles.reserve(waiting.size());
  for (const ThreadCursor* cursor : waiting) obstacles.push_back(explainer.Explain(*cursor));
  return obstacles;
}

}  // namespace gotrace::internal
