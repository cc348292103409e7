// The rules for goroutines.
#include "absl/strings/str_cat.h"
#include "parser/scheduler.h"
#include "parser/scheduler_inline.h"
#include "tracev2/event_spec.h"

namespace gotrace {
namespace {

GoState StateOf(GoStatus status) {
  constexpr GoState kStates[kGoStatusEnd] = {GoState::kUndetermined, GoState::kRunnable,
                                             GoState::kRunning, GoState::kSyscall,
                                             GoState::kWaiting};
  return kStates[static_cast<int>(status)];
}

}  // namespace

Scheduler::Outcome Scheduler::OrderGoStatus(const Step& step) {
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
    if (!in_first_generation() && !forcing_) {
      return Fail(FaultId::kGoStatusNew,
                  absl::StrCat("expected a goroutine that was created or whose status an earlier "
                               "generation told, found goroutine ",
                               id.value));
    }
    if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
    goroutine = goroutines_.Insert(id);
    goroutine->status = status;
    from = GoState::kUndetermined;
  } else if (goroutine->status != status) {
    return Fail(
        FaultId::kGoStatusConflict,
        absl::StrCat("expected goroutine ", id.value, " to be ", GoStatusName(goroutine->status),
                     ", found its status told as ", GoStatusName(status)));
  }
  goroutine->sequence = Sequence(0);
  Context context = step.context;
  if (status == GoStatus::kSyscall) {
    if (Outcome outcome = BindSyscall(step, id, &context); outcome != Outcome::kAdvanced) {
      return outcome;
    }
  }
  SetTransition(Emit(step, context), id.value, from, StateOf(status));
  if (status == GoStatus::kRunning) SetGoroutine(step, id, goroutine);
  return Outcome::kAdvanced;
}

// Binds a goroutine in a syscall to the thread that the status names, which need not be the one
// that tells it. `*context` becomes the one that the event is seen in.
Scheduler::Outcome Scheduler::BindSyscall(const Step& step, GoId goroutine, Context* context) {
  const ThreadId id{static_cast<int64_t>(step.arg(1))};
  if (id == ThreadId::kNone) {
    return Fail(FaultId::kGoSyscallThread, absl::StrCat("expected goroutine ", goroutine.value,
                                                        ", in a syscall, on a thread"));
  }
  if (id == step.context.thread) {
    // After the first generation the goroutine must have been seen to go there.
    if (!in_first_generation() && !forcing_ && step.context.goroutine != goroutine) {
      return FailSyscallThread(goroutine, id, step.context.goroutine);
    }
    SetGoroutine(step, goroutine);
    return Outcome::kAdvanced;
  }
  const auto it = threads_.find(id);
  if (it == threads_.end()) {
    if (!forcing_ && threads_.size() >= AllowedBy(FaultId::kLimitThreads)) {
      return FailLimit(FaultId::kLimitThreads);
    }
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

Scheduler::Outcome Scheduler::OrderGoCreate(const Step& step) {
  if (Outcome outcome = Check(step, Need::kYes, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const GoroutineState* const creator = CurrentGoroutine(step);
  if (creator != nullptr && creator->status != GoStatus::kRunning) {
    return FailGoroutineStatus(*creator, GoStatus::kRunning);
  }
  const GoId id{static_cast<int64_t>(step.arg(0))};
  if (goroutines_.Find(id) != nullptr) return FailGoroutineExists(id);
  if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
  GoroutineState* const created = goroutines_.Insert(id);
  const bool blocked = step.event.type == EventType::kGoCreateBlocked;
  created->status = blocked ? GoStatus::kWaiting : GoStatus::kRunnable;
  created->sequence = Sequence(0);
  EmitTransition(step, id.value, GoState::kNotExist, StateOf(created->status));
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGoCreateSyscall(const Step& step) {
  if (Outcome outcome = Check(step, Need::kMaybe, Need::kNo); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const GoId id{static_cast<int64_t>(step.arg(0))};
  if (goroutines_.Find(id) != nullptr) return FailGoroutineExists(id);
  if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
  GoroutineState* const created = goroutines_.Insert(id);
  created->status = GoStatus::kSyscall;
  created->sequence = Sequence(0);
  EmitTransition(step, id.value, GoState::kNotExist, GoState::kSyscall);
  SetGoroutine(step, id, created);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::FailGoroutineExists(GoId goroutine) {
  return Fail(FaultId::kGoExists, absl::StrCat("expected a new goroutine, found goroutine ",
                                               goroutine.value, ", which exists"));
}

Scheduler::Outcome Scheduler::OrderGoStart(const Step& step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->status != GoStatus::kRunnable ||
      !sequence.Follows(goroutine->sequence)) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step, Need::kYes, Need::kNo); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  goroutine->status = GoStatus::kRunning;
  goroutine->sequence = sequence;
  EmitTransition(step, id.value, GoState::kRunnable, GoState::kRunning);
  SetGoroutine(step, id, goroutine);
  return Outcome::kAdvanced;
}

// GoDestroy, GoStop and GoBlock: the current goroutine leaves its thread.
Scheduler::Outcome Scheduler::OrderGoStopExecuting(const Step& step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  GoState to = GoState::kNotExist;
  if (step.event.type == EventType::kGoDestroy) {
    Erase(goroutine);
  } else {
    const bool stop = step.event.type == EventType::kGoStop;
    goroutine->status = stop ? GoStatus::kRunnable : GoStatus::kWaiting;
    to = StateOf(goroutine->status);
  }
  EmitTransition(step, step.context.goroutine.value, GoState::kRunning, to);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGoUnblock(const Step& step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->status != GoStatus::kWaiting ||
      !sequence.Follows(goroutine->sequence)) {
    return Outcome::kWaits;
  }
  // Anyone may unblock a goroutine, even a thread without a P: there is no context to check.
  goroutine->status = GoStatus::kRunnable;
  goroutine->sequence = sequence;
  EmitTransition(step, id.value, GoState::kWaiting, GoState::kRunnable);
  return Outcome::kAdvanced;
}

// GoSwitch and GoSwitchDestroy: three transitions in one. The next goroutine is unblocked, the
// current one blocks or ends, and the next one starts.
Scheduler::Outcome Scheduler::OrderGoSwitch(const Step& step) {
  GoroutineState* current = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &current);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const GoId next_id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  GoroutineState* const next = goroutines_.Find(next_id);
  if (next == nullptr || next->status != GoStatus::kWaiting || !sequence.Follows(next->sequence)) {
    return Outcome::kWaits;
  }
  EmitTransition(step, next_id.value, GoState::kWaiting, GoState::kRunnable);

  const int64_t current_id = step.context.goroutine.value;
  if (step.event.type == EventType::kGoSwitch) {
    current->status = GoStatus::kWaiting;
    SetTransition(EmitExtra(step, step.context, EventType::kGoBlock), current_id, GoState::kRunning,
                  GoState::kWaiting);
  } else {
    Erase(current);
    SetTransition(EmitExtra(step, step.context, EventType::kGoDestroy), current_id,
                  GoState::kRunning, GoState::kNotExist);
  }

  next->status = GoStatus::kRunning;
  next->sequence = sequence;
  Context start = step.context;
  start.goroutine = GoId::kNone;
  SetTransition(EmitExtra(step, start, EventType::kGoStart), next_id.value, GoState::kRunnable,
                GoState::kRunning);
  SetGoroutine(step, next_id, next);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGoSyscallBegin(const Step& step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.context.proc);
  // The number tells apart the syscalls that a later ProcSteal may mean. The P runs here, so that
  // no other thread's event can bring the number that is missing.
  const SequenceNumber sequence = Sequence(step.arg(0));
  if (!sequence.Follows(proc->sequence)) {
    return Fail(
        FaultId::kProcSequence,
        absl::StrCat("expected sequence number ", proc->sequence.number + 1, " of generation ",
                     proc->sequence.generation, " for P ", proc->id.value, ", found ",
                     sequence.number, " of generation ", sequence.generation));
  }
  goroutine->status = GoStatus::kSyscall;
  proc->status = ProcStatus::kSyscall;
  proc->sequence = sequence;
  EmitTransition(step, goroutine->id.value, GoState::kRunning, GoState::kSyscall);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGoSyscallEnd(const Step& step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.context.proc);
  if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
  goroutine->status = GoStatus::kRunning;
  proc->status = ProcStatus::kRunning;
  EmitTransition(step, goroutine->id.value, GoState::kSyscall, GoState::kRunning);
  return Outcome::kAdvanced;
}

// The goroutine lost its P during the syscall: the event comes only after that loss.
Scheduler::Outcome Scheduler::OrderGoSyscallEndBlocked(const Step& step) {
  if (step.context.proc != ProcId::kNone) {
    const ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.context.proc);
    if (proc->status == ProcStatus::kSyscall) return Outcome::kWaits;
  }
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kMaybe, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  goroutine->status = GoStatus::kRunnable;
  EmitTransition(step, goroutine->id.value, GoState::kSyscall, GoState::kRunnable);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

// A goroutine that a C thread's call made ends. If the thread still has its P, it loses it here:
// its id may be used again for another thread, which may even steal this P back.
Scheduler::Outcome Scheduler::OrderGoDestroySyscall(const Step& step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kMaybe, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const int64_t goroutine_id = goroutine->id.value;
  if (step.context.proc != ProcId::kNone) {
    ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.context.proc);
    if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
    proc->status = ProcStatus::kSyscallAbandoned;
    SetTransition(EmitExtra(step, step.context, EventType::kProcSteal), proc->id.value,
                  ProcState::kRunning, ProcState::kIdle);
    SetProc(step, ProcId::kNone);
  }
  Erase(goroutine);
  EmitTransition(step, goroutine_id, GoState::kSyscall, GoState::kNotExist);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

}  // namespace gotrace
