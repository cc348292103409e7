// The rules of the events that most of a trace consists of, inline where events are dispatched. For
// scheduler.cc only.
#ifndef GOTRACE_PARSER_ORDER_SCHEDULER_COMMON_RULES_H_
#define GOTRACE_PARSER_ORDER_SCHEDULER_COMMON_RULES_H_

#include <algorithm>

#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"

namespace gotrace::internal {

template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoCreate(AnyStep step) {
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
  if (assumptions_ != nullptr && !AssumeNew(id)) [[unlikely]]
    return FailToAssume("that the goroutine is new");
  GoroutineState* const created = goroutines_.Insert(id);
  const bool blocked = step.type() == EventType::kGoCreateBlocked;
  created->status = blocked ? GoStatus::kWaiting : GoStatus::kRunnable;
  created->generation = generation_index_;
  EmitTransition(step, created, GoState::kNotExist, StateOf(created->status));
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoStart(AnyStep step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const uint64_t number = step.arg(1);
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->status != GoStatus::kRunnable ||
      !goroutine->IsFollowedBy(number, generation_index_)) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step, Need::kYes, Need::kNo); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  goroutine->status = GoStatus::kRunning;
  goroutine->number = number;
  EmitTransition(step, goroutine, GoState::kRunnable, GoState::kRunning);
  SetGoroutine(step, id);
  return Outcome::kAdvanced;
}

// GoDestroy, GoStop and GoBlock: the current goroutine leaves its thread.
template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoStopExecuting(AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  if (step.type() == EventType::kGoDestroy) {
    EmitEnd(step, step.context(), goroutine, GoState::kRunning);
  } else {
    const bool stop = step.type() == EventType::kGoStop;
    goroutine->status = stop ? GoStatus::kRunnable : GoStatus::kWaiting;
    if (!stop) {
      goroutine->reason = static_cast<uint8_t>(std::min(step.arg(0), GoroutineState::kHighReason));
    }
    EmitTransition(step, goroutine, GoState::kRunning, StateOf(goroutine->status));
  }
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoUnblock(AnyStep step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const uint64_t number = step.arg(1);
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->status != GoStatus::kWaiting ||
      !goroutine->IsFollowedBy(number, generation_index_)) {
    return Outcome::kWaits;
  }
  // Anyone may unblock a goroutine, even a thread without a P: there is no context to check.
  goroutine->status = GoStatus::kRunnable;
  goroutine->number = number;
  EmitTransition(step, goroutine, GoState::kWaiting, GoState::kRunnable);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoSyscallBegin(AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kRunning, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  // The number tells apart the syscalls that a later ProcSteal may mean. The P runs here, so that
  // no other thread's event can bring the number that is missing.
  const SequenceNumber sequence = Sequence(step.arg(0));
  if (!sequence.Follows(proc->sequence)) {
    return FailProcSequence(*proc, sequence);
  }
  goroutine->status = GoStatus::kSyscall;
  proc->status = ProcStatus::kSyscall;
  proc->sequence = sequence;
  EmitTransition(step, goroutine, GoState::kRunning, GoState::kSyscall);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::OrderGoSyscallEnd(AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, Need::kYes, GoStatus::kSyscall, &goroutine);
      outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
  goroutine->status = GoStatus::kRunning;
  proc->status = ProcStatus::kRunning;
  EmitTransition(step, goroutine, GoState::kSyscall, GoState::kRunning);
  return Outcome::kAdvanced;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_SCHEDULER_COMMON_RULES_H_
