// Why events wait: for each rule that makes them wait, what it finds wanting.
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/fault_context.h"
#include "parser/order/scheduler.h"

namespace gotrace::internal {
namespace {

using Kind = AwaitedEvent::Kind;

// The likeliest type of the event with a goroutine's next number, where an event of type `waiting`
// has a number that is `gap` too high. Only unblocking, starting and switching are numbered, so
// that a goroutine which waits must be unblocked next, or be switched to if it waits again
// directly after; and one that runs was unblocked since if it is to start, and started if it is
// to be unblocked.
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

// The same for a P, of which starts, syscalls and thefts are numbered.
EventType NextOfProc(ProcStatus status, uint64_t gap, EventType waiting) {
  switch (status) {
    case ProcStatus::kRunning:
      return EventType::kGoSyscallBegin;
    case ProcStatus::kSyscall:
      // Two thefts have a start and a syscall between them.
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

// What takes a goroutine of `status` away from its thread, so that it can become `required`.
EventType LeaveOfGoroutine(GoStatus status, GoStatus required) {
  const bool to_waiting = required == GoStatus::kWaiting;
  if (status == GoStatus::kSyscall) {
    return to_waiting ? EventType::kGoSyscallEnd : EventType::kGoSyscallEndBlocked;
  }
  return to_waiting ? EventType::kGoBlock : EventType::kGoStop;
}

}  // namespace

// Looks at the model as it is when nothing can advance.
class Scheduler::Explainer {
 public:
  explicit Explainer(const Scheduler& model) : model_(model) {
    for (const auto& [id, thread] : model.threads_) {
      Keep(thread.goroutine, id, &goroutine_threads_);
      Keep(thread.proc, id, &proc_threads_);
    }
  }

  Obstacle Explain(const ThreadCursor& cursor) const {
    const TimedEvent& event = cursor.event();
    switch (event.type) {
      case EventType::kProcStart:
        return ExplainProcStart(event, cursor.state);
      case EventType::kProcSteal:
        return ExplainProc(event, "in a syscall", InSyscall);
      case EventType::kGoStart:
        return ExplainGoroutine(event, cursor.thread(), GoStatus::kRunnable);
      case EventType::kGoUnblock:
      case EventType::kGoSwitch:
      case EventType::kGoSwitchDestroy:
        return ExplainGoroutine(event, cursor.thread(), GoStatus::kWaiting);
      case EventType::kGoSyscallEndBlocked:
        return ExplainHeldProc(cursor.state);
      case EventType::kGCActive:
      case EventType::kGCBegin:
      case EventType::kGCEnd:
        return ExplainGC(event);
      default:
        return {};  // No other type ever waits.
    }
  }

 private:
  // More than one thread can only have a resource in a broken trace, where the choice must not
  // depend on hashing.
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

  // "expects sequence number 5 of P 2, has 7".
  static std::string WrongNumber(absl::string_view resource, uint64_t expected, uint64_t found) {
    return absl::StrCat("expects sequence number ", expected, " of ", resource, ", has ", found,
                        found < expected ? ", which came before" : "");
  }

  std::string NotToldYet(absl::string_view resource) const {
    return absl::StrCat("the status of ", resource, " was not told yet in generation ",
                        model_.generation_->number());
  }

  bool IsOfGeneration(const GoroutineState& state) const {
    return state.generation == model_.generation_index_;
  }
  bool IsOfGeneration(const ProcessorState& state) const {
    return state.sequence.generation == model_.generation_->number();
  }

  // GoStart, GoUnblock, GoSwitch and GoSwitchDestroy: they need a goroutine of status `required`
  // whose next number they have.
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
    if (!IsOfGeneration(*goroutine)) return {NotToldYet(name), awaited};

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
      // A coroutine is switched to on the thread that runs it by the one that it switched to.
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

  // What tells of a goroutine first that has its `number`th event in one of type `first`. Those
  // that are created can start at once, but for coroutines, which wait to be switched to. One that
  // is unblocked first was there before the trace.
  EventType BirthOfGoroutine(EventType first, uint64_t number) const {
    if (number != 1 || first == EventType::kGoStart) return EventType::kGoCreate;
    const bool may_be_old = first == EventType::kGoUnblock && model_.in_first_generation();
    return may_be_old ? EventType::kGoStatus : EventType::kGoCreateBlocked;
  }

  // ProcStart: besides an idle P it needs a thread that has none.
  Obstacle ExplainProcStart(const TimedEvent& event, const ThreadState* thread) const {
    if (thread != nullptr && thread->proc != ProcId::kNone) return ExplainHeldProc(thread);
    return ExplainProc(event, "Idle",
                       [](ProcStatus status) { return status == ProcStatus::kIdle; });
  }

  // ProcStart and ProcSteal: they need a P that fits, whose next number they have.
  template <class Fits>
  Obstacle ExplainProc(const TimedEvent& event, absl::string_view required, Fits fits) const {
    const ProcId id{static_cast<int64_t>(event.args[0])};
    const uint64_t number = event.args[1];
    const std::string name = absl::StrCat("P ", id.value);
    AwaitedEvent awaited = {
        Kind::kMention, EventType::kProcStatus, ResourceKind::kProc, id.value, 0, ThreadId::kNone};
    const ProcessorState* const proc = model_.procs_.Find(id);
    if (proc == nullptr) return {absl::StrCat(name, " was not mentioned yet"), awaited};
    if (!IsOfGeneration(*proc)) return {NotToldYet(name), awaited};

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

  // ProcStart and GoSyscallEndBlocked: the thread that makes them must have lost its P.
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
      return {absl::StrCat(NotToldYet(name), ": its ProcStatus and a ProcSteal must come first"),
              awaited};
    }
    awaited = {Kind::kNumbered, EventType::kProcSteal,     ResourceKind::kProc,
               id.value,        proc->sequence.number + 1, ThreadId::kNone};
    return {absl::StrCat(name, " is still in a syscall on thread ", thread->id.value,
                         ": a ProcSteal must come first"),
            awaited};
  }

  // GCActive, GCBegin and GCEnd: all are numbered in one sequence.
  Obstacle ExplainGC(const TimedEvent& event) const {
    const uint64_t number = event.args[0];
    const uint64_t next = model_.gc_sequence_ + 1;
    AwaitedEvent awaited = {Kind::kNumbered, EventType::kGCBegin, ResourceKind::kNone, -1, next,
                            ThreadId::kNone};
    if (model_.gc_state_ == GcState::kUndetermined) {
      awaited.number = number - 1;
      if (number == 0) awaited = {};
      return {"no GC event came before it, a GCBegin or GCActive must", awaited};
    }
    const std::string why = WrongNumber("the GC", next, number);
    if (number < next) return {why, {}};
    if (model_.gc_state_ == GcState::kRunning) {
      // A GC that goes on into a generation is told of there once more, with a number.
      const bool goes_on = event.type != EventType::kGCBegin && number - next == 1;
      awaited.type = goes_on ? EventType::kGCActive : EventType::kGCEnd;
    }
    return {why, awaited};
  }

  const Scheduler& model_;
  absl::flat_hash_map<GoId, ThreadId> goroutine_threads_;
  absl::flat_hash_map<ProcId, ThreadId> proc_threads_;
};

FaultContext Scheduler::ContextOf(const ThreadCursor& cursor) const {
  FaultContext context;
  const TimedEvent& event = cursor.event();
  const int8_t stack_arg = kStackArgs[static_cast<uint8_t>(event.type)];
  if (stack_arg >= 0) AddStack(Stack(tables_, event.args[stack_arg]), &context);
  switch (event.type) {
    case EventType::kUserTaskBegin:
    case EventType::kUserTaskEnd:
    case EventType::kUserRegionBegin:
    case EventType::kUserRegionEnd:
      break;
    default:
      return context;
  }
  const GoId id = cursor.state == nullptr ? GoId::kNone : cursor.state->goroutine;
  const GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->spans == nullptr) return context;
  AddRegions(id, goroutine->spans->regions, *tables_, generation_index_, &context);
  return context;
}

std::vector<Obstacle> Scheduler::Explain(absl::Span<const ThreadCursor* const> waiting) const {
  const Explainer explainer(*this);
  std::vector<Obstacle> obstacles;
  obstacles.reserve(waiting.size());
  for (const ThreadCursor* cursor : waiting) obstacles.push_back(explainer.Explain(*cursor));
  return obstacles;
}

}  // namespace gotrace::internal
