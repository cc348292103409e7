// The rules for Ps.
#include "absl/strings/str_cat.h"
#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"

namespace gotrace::internal {

Scheduler::Outcome Scheduler::OrderProcStatus(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const uint8_t value = static_cast<uint8_t>(step.arg(1));
  if (value >= kProcStatusEnd) {
    return Fail(FaultId::kProcStatusValue,
                absl::StrCat("expected a P's status of 0 to ", kProcStatusEnd - 1, ", found ",
                             value, " for P ", id.value));
  }
  const ProcStatus status = static_cast<ProcStatus>(value);
  ProcState from = StateOf(status);
  ProcessorState* proc = procs_.Find(id);
  if (proc != nullptr) {
    if (status == ProcStatus::kSyscallAbandoned && proc->status == ProcStatus::kSyscall) {
      return ConfirmAbandonedProc(step, proc);
    }
    if (proc->status != status) {
      return Fail(FaultId::kProcStatusConflict,
                  absl::StrCat("expected P ", id.value, " to be ", ProcStatusName(proc->status),
                               ", found its status told as ", ProcStatusName(status)));
    }
  } else {
    if (!forcing_ && procs_.size() >= limits_.procs) return FailLimit(FaultId::kLimitProcs);
    if (MayAssume() && status == ProcStatus::kSyscallAbandoned) {
      return AssumeAbandonedProc(step, id);
    }
    if (!AssumeProc(id, status)) {
      from = in_first_generation() ? ProcState::kUndetermined : ProcState::kNotExist;
    }
    proc = procs_.Insert(id);
    proc->status = status;
  }
  proc->sequence = Sequence(0);
  EmitTransition(step, proc, from, StateOf(status));
  if (status == ProcStatus::kRunning || status == ProcStatus::kSyscall) SetProc(step, id, proc);
  return Outcome::kAdvanced;
}

// The status says that track of the P's syscall was lost, but it was not: the P is still where its
// syscall began, and the event belongs to that thread.
Scheduler::Outcome Scheduler::ConfirmAbandonedProc(Step step, ProcessorState* proc) {
  const ThreadState* const owner = proc->thread;
  if (owner == nullptr) {
    return Fail(FaultId::kProcThreadUnknown,
                absl::StrCat("expected P ", proc->id.value,
                             ", in a syscall, to be on a thread, found it on none"));
  }
  proc->sequence = Sequence(0);
  EmitTransition(step, {owner->id, proc->id, owner->goroutine}, proc, ProcState::kRunning,
                 ProcState::kRunning);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderProcStart(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  ProcessorState* const proc = procs_.Find(id);
  // A thread that still has a P is in a syscall from which the P is yet to be stolen.
  if (proc == nullptr || proc->status != ProcStatus::kIdle || !sequence.Follows(proc->sequence) ||
      step.proc() != ProcId::kNone) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step, Need::kMaybe, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  proc->status = ProcStatus::kRunning;
  proc->sequence = sequence;
  EmitTransition(step, proc, ProcState::kIdle, ProcState::kRunning);
  SetProc(step, id, proc);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderProcStop(Step step) {
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  if (proc->status != ProcStatus::kRunning && proc->status != ProcStatus::kSyscall) {
    return FailProcStatus(*proc, "Running or Syscall");
  }
  if (Outcome outcome = Check(step, Need::kYes, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  proc->status = ProcStatus::kIdle;
  EmitTransition(step, proc, ProcState::kRunning, ProcState::kIdle);
  SetProc(step, ProcId::kNone);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderProcSteal(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  ProcessorState* const proc = procs_.Find(id);
  if (proc == nullptr || !InSyscall(proc->status) || !sequence.Follows(proc->sequence)) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step, Need::kMaybe, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const Context context = step.context();  // The thief may be its own victim.
  // Where track of the syscall was lost, the thread may be anywhere by now and is left alone.
  const bool abandoned = proc->status == ProcStatus::kSyscallAbandoned;
  const ThreadId victim{static_cast<int64_t>(step.arg(2))};
  if (!abandoned) {
    if (Outcome outcome = CheckSteal(step, id, victim); outcome != Outcome::kAdvanced) {
      return outcome;
    }
    // The victim's syscall can end only once it has lost its P.
    GetThread(victim)->Unbind();
  }
  proc->status = ProcStatus::kIdle;
  proc->sequence = sequence;
  EmitTransition(step, context, proc, abandoned ? ProcState::kIdle : ProcState::kRunning,
                 ProcState::kIdle);
  return Outcome::kAdvanced;
}

// Checks that `victim`, which may be the thief itself, has the P.
Scheduler::Outcome Scheduler::CheckSteal(Step step, ProcId proc, ThreadId victim) {
  ProcId found = step.proc();
  if (victim != step.thread_id()) {
    const auto it = threads_.find(victim);
    if (it == threads_.end()) {
      return Fail(FaultId::kProcStealThread, absl::StrCat("expected P ", proc.value, " on thread ",
                                                          victim.value, ", which was never seen"));
    }
    found = it->second.proc;
  }
  if (found == proc) return Outcome::kAdvanced;
  return Fail(FaultId::kProcStealProc,
              absl::StrCat("expected P ", proc.value, " on thread ", victim.value, ", found ",
                           found == ProcId::kNone ? "no P" : absl::StrCat("P ", found.value)));
}

}  // namespace gotrace::internal
