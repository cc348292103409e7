// What the scheduler's rules share, and how they make events. Inline, since every event passes
// here; for the scheduler's own files only.
#ifndef GOTRACE_PARSER_ORDER_SCHEDULER_INLINE_H_
#define GOTRACE_PARSER_ORDER_SCHEDULER_INLINE_H_

#include <cstring>

#include "parser/order/batch_decoder.h"
#include "parser/order/scheduler.h"

namespace gotrace::internal {

// The state that a status counts as.
inline GoState StateOf(GoStatus status) {
  constexpr GoState kStates[kGoStatusEnd] = {GoState::kUndetermined, GoState::kRunnable,
                                             GoState::kRunning, GoState::kSyscall,
                                             GoState::kWaiting};
  return kStates[static_cast<int>(status)];
}

// The same for a P. One in a syscall still runs; one whose syscall was lost track of is about to be
// stolen and counts as idle.
inline ProcState StateOf(ProcStatus status) {
  constexpr ProcState kStates[kProcStatusEnd] = {ProcState::kUndetermined, ProcState::kRunning,
                                                 ProcState::kIdle, ProcState::kRunning,
                                                 ProcState::kIdle};
  return kStates[static_cast<int>(status)];
}

inline Scheduler::Outcome Scheduler::Check(Step step, Need proc, Need goroutine) {
  const bool has_proc = proc != Need::kYes || step.proc() != ProcId::kNone;
  const bool has_goroutine =
      goroutine == Need::kMaybe || (step.goroutine() != GoId::kNone) == (goroutine == Need::kYes);
  if (step.has_thread() && has_proc && has_goroutine) [[likely]]
    return Outcome::kAdvanced;
  if (forcing_) return Outcome::kAdvanced;
  if (!step.has_thread()) return FailNeedsThread();
  if (!has_proc) return FailNeedsProc(step);
  return goroutine == Need::kYes ? FailNeedsGoroutine() : FailHasGoroutine(step);
}

inline Scheduler::Outcome Scheduler::CheckStatus(Step step, Need proc, GoStatus status,
                                                 GoroutineState** state) {
  if (Outcome outcome = Check(step, proc, Need::kYes); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  GoroutineState* const current = CurrentGoroutine(step);
  if (current == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  if (current->status != status) return FailGoroutineStatus(*current, status);
  *state = current;
  return Outcome::kAdvanced;
}

inline GoroutineState* Scheduler::CurrentGoroutine(Step step) {
  return goroutines_.Find(step.goroutine());
}

inline ProcessorState* Scheduler::CurrentProc(Step step) {
  return procs_.Find(step.proc(), &step.thread->proc_state);
}

inline void Scheduler::SetGoroutine(Step step, GoId id) {
  if (step.has_thread()) step.thread->goroutine = id;
}

inline void Scheduler::SetProc(Step step, ProcId id, ProcessorState* state) {
  if (!step.has_thread()) return;
  step.thread->Bind(id, state);
  if (state != nullptr) step.thread->proc_state = state;
}

[[gnu::always_inline]] inline Event& Scheduler::EmitBare(Step step, const Context& context,
                                                         EventTags tags) {
  Event& event = *events_end_++;
  event.time_ = step.event.time;
  event.goroutine_ = context.goroutine;
  event.proc_ = context.proc;
  event.thread_ = context.thread;
  event.tables_ = tables_;
  event.offset_ = step.event.offset;
  event.tags_ = tags;
  return event;
}

[[gnu::always_inline]] inline Event& Scheduler::Emit(Step step, const Context& context) {
  Event& event = EmitBare(step, context, TagsOf(step.type()));
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
  return event;
}

template <class AnyStep, class Subject, class State>
[[gnu::always_inline]] inline void Scheduler::EmitTransition(AnyStep step, const Context& context,
                                                             Subject* subject, State from,
                                                             State to) {
  const EventTags tags = TagsOf(step.type()).WithTransition(from, to);
  Event& event = EmitBare(step, context, tags);
  event.subject_ = subject->id.value;
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
}

template <class Subject, class State>
void Scheduler::EmitExtra(Step step, const Context& context, EventType type, Subject* subject,
                          State from, State to) {
  const EventTags tags = TagsOf(type).WithTransition(from, to);
  Event& event = EmitBare(step, context, tags);
  event.subject_ = subject->id.value;
  std::memset(event.args_, 0, sizeof(event.args_));
}

template <class AnyStep>
[[gnu::always_inline]] inline void Scheduler::EmitEnd(AnyStep step, const Context& context,
                                                      GoroutineState* goroutine, GoState from) {
  const int64_t id = goroutine->id.value;
  Erase(goroutine);
  Event& event =
      EmitBare(step, context, TagsOf(step.type()).WithTransition(from, GoState::kNotExist));
  event.subject_ = id;
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
}

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_SCHEDULER_INLINE_H_
