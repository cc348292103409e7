// The rules for goroutines, but for those in scheduler_common_rules.h.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"

namespace gotrace::internal {

Scheduler::Outcome Scheduler::OrderGoStatus(Step step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const uint8_t value = static_cast<uint8_t>(step.arg(2));
  if (value >= kGoStatusEnd) {
    return Fail(FaultId::kGoStatusValue,
                absl::StrCat("expected a goroutine's status of 0 to ", kGoStatusEnd - 1, ", found ",
                             value, " for goroutine ", id.value));
  }
  const GoStatus status = static_cast<GoStatus>(value);
  GoState from = StateOf(status);
  GoroutineState* goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) {
    const bool assumed = MayAssume() && AssumeGoroutine(id, status);
    if (!in_first_generation() && !forcing_ && !assumed) {
      return Fail(FaultId::kGoStatusNew,
                  absl::StrCat("expected a goroutine that was created or whose status an earlier "
                               "generation told, found goroutine ",
                               id.value));
    }
    if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
    if (!assumed) from = GoState::kUndetermined;
  } else if (goroutine->status != status) {
    return Fail(
        FaultId::kGoStatusConflict,
        absl::StrCat("expected goroutine ", id.value, " to be ", GoStatusName(goroutine->status),
                     ", found its status told as ", GoStatusName(status)));
  }
  Context context = step.context();
  if (status == GoStatus::kSyscall) {
    if (Outcome outcome = BindSyscall(step, id, &context); outcome != Outcome::kAdvanced) {
      return outcome;
    }
  }
  if (goroutine == nullptr) goroutine = goroutines_.Insert(id);
  goroutine->status = status;
  goroutine->number = 0;
  goroutine->generation = generation_index_;
  goroutine->reason = 0;
  EmitTransition(step, context, goroutine, from, StateOf(status));
  if (status == GoStatus::kRunning) SetGoroutine(step, id);
  return Outcome::kAdvanced;
}

// Binds a goroutine in a syscall to the thread that the status names, which need not be the one
// that tells it. `*context` becomes the one that the event is seen in.
Scheduler::Outcome Scheduler::BindSyscall(Step step, GoId goroutine, Context* context) {
  const ThreadId id{static_cast<int64_t>(step.arg(1))};
  if (id == ThreadId::kNone) {
    return Fail(FaultId::kGoSyscallThread, absl::StrCat("expected goroutine ", goroutine.value,
                                                        ", in a syscall, on a thread"));
  }
  if (id == step.thread_id()) {
    // After the first generation the goroutine must have been seen to go there.
    if (!in_first_generation() && !forcing_ && step.goroutine() != goroutine) {
      return FailSyscallThread(goroutine, id, step.goroutine());
    }
    SetGoroutine(step, goroutine);
    return Outcome::kAdvanced;
  }
  const auto it = threads_.find(id);
  if (it == threads_.end()) {
    if (!forcing_ && threads_.size() >= AllowedBy(FaultId::kLimitThreads)) {
      return FailLimit(FaultId::kLimitThreads);
    }
    if (MayAssume()) return AssumeSyscall(id, goroutine, context);
    if (assumptions_ != nullptr) return FailToAssume("that nothing was told of the thread");
    // It has been in the syscall since before the trace.
    GetThread(id)->goroutine = goroutine;
  } else if (it->second.goroutine != goroutine) {
    return FailSyscallThread(goroutine, id, it->second.goroutine);
  } else {
    context->goroutine = goroutine;
  }
  context->thread = id;
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::FailSyscallThread(GoId expected, ThreadId thread, GoId found) {
  return Fail(FaultId::kGoSyscallThread,
              absl::StrCat(
                  "expected goroutine ", expected.value, ", in a syscall, on thread ", thread.value,
                  ", found ",
                  found == GoId::kNone ? "no goroutine" : absl::StrCat("goroutine ", found.value)));
}

Scheduler::Outcome Scheduler::OrderGoCreateSyscall(Step step) {
  if (Outcome outcome = Check(step, Need::kMaybe, Need::kNo); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const GoId id{static_cast<int64_t>(step.arg(0))};
  if (goroutines_.Find(id) != nullptr) return FailGoroutineExists(id);
  if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
  if (assumptions_ != nullptr && !AssumeNew(id)) return FailToAssume("that the goroutine is new");
  GoroutineState* const created = goroutines_.Insert(id);
  created->status = GoStatus::kSyscall;
  created->generation = generation_index_;
  EmitTransition(step, created, GoState::kNotExist, GoState::kSyscall);
  SetGoroutine(step, id);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::FailGoroutineExists(GoId goroutine) {
  return Fail(FaultId::kGoExists, absl::StrCat("expected a new goroutine, found goroutine ",
                                               goroutine.value, ", which exists"));
}

void Scheduler::EmitExtraEnd(Step step, GoroutineState* goroutine, GoState from) {
  const int64_t id = goroutine->id.value;
  Erase(goroutine);
  Event& event = EmitBare(step, step.context(),
                          TagsOf(EventType::kGoDestroy).WithTransition(from, GoState::kNotExist));
  event.subject_ = id;
  std::memset(event.args_, 0, sizeof(event.args_));
}

// GoSwitch and GoSwitchDestroy: three transitions in one. The next goroutine is unblocked, the
// current one blocks or ends, and the next one starts.
Scheduler::Outcome Scheduler::OrderGoSwitch(Step step) {
  GoroutineState* current = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &current);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const GoId next_id{static_cast<int64_t>(step.arg(0))};
  const uint64_t number = step.arg(1);
  GoroutineState* const next = goroutines_.Find(next_id);
  if (next == nullptr || next->status != GoStatus::kWaiting ||
      !next->IsFollowedBy(number, generation_index_)) {
    return Outcome::kWaits;
  }
  const bool ends = step.type() == EventType::kGoSwitchDestroy;
  EmitTransition(step, next, GoState::kWaiting, GoState::kRunnable);

  if (ends) {
    EmitExtraEnd(step, current, GoState::kRunning);
  } else {
    current->status = GoStatus::kWaiting;
    current->reason = 0;
    EmitExtra(step, step.context(), EventType::kGoBlock, current, GoState::kRunning,
              GoState::kWaiting);
  }

  next->status = GoStatus::kRunning;
  next->number = number;
  Context start = step.context();
  start.goroutine = GoId::kNone;
  EmitExtra(step, start, EventType::kGoStart, next, GoState::kRunnable, GoState::kRunning);
  SetGoroutine(step, next_id);
  return Outcome::kAdvanced;
}

// The goroutine lost its P during the syscall: the event comes only after that loss.
Scheduler::Outcome Scheduler::OrderGoSyscallEndBlocked(Step step) {
  if (step.proc() != ProcId::kNone) {
    const ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.proc());
    if (proc->status == ProcStatus::kSyscall) return Outcome::kWaits;
  }
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kMaybe, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  goroutine->status = GoStatus::kRunnable;
  EmitTransition(step, goroutine, GoState::kSyscall, GoState::kRunnable);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

// A goroutine that a C thread's call made ends. If the thread still has its P, it loses it here:
// its id may be used again for another thread, which may even steal this P back.
Scheduler::Outcome Scheduler::OrderGoDestroySyscall(Step step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kMaybe, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const Context context = step.context();  // Both events are seen from the whole of it.
  if (step.proc() != ProcId::kNone) {
    ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.proc());
    if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
    proc->status = ProcStatus::kSyscallAbandoned;
    EmitExtra(step, context, EventType::kProcSteal, proc, ProcState::kRunning, ProcState::kIdle);
    SetProc(step, ProcId::kNone);
  }
  EmitEnd(step, context, goroutine, GoState::kSyscall);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

}  // namespace gotrace::internal
