// What the scheduler's rules share, and how they make events. Inline, since every event passes
// here; for the scheduler's own files only.
#ifndef GOTRACE_PARSER_SCHEDULER_INLINE_H_
#define GOTRACE_PARSER_SCHEDULER_INLINE_H_

#include <cstring>

#include "parser/scheduler.h"

namespace gotrace {

// The state that a status counts as.
inline GoState StateOf(GoStatus status) {
  constexpr GoState kStates[kGoStatusEnd] = {GoState::kUndetermined, GoState::kRunnable,
                                             GoState::kRunning, GoState::kSyscall,
                                             GoState::kWaiting};
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

[[gnu::always_inline]] inline Event& Scheduler::EmitBare(Step step, const Context& context) {
  Event& event = *events_end_++;
  event.time_ = step.event.time;
  event.goroutine_ = context.goroutine;
  event.proc_ = context.proc;
  event.thread_ = context.thread;
  event.tables_ = tables_;
  event.offset_ = step.event.offset;
  return event;
}

[[gnu::always_inline]] inline Event& Scheduler::Emit(Step step, const Context& context) {
  Event& event = EmitBare(step, context);
  event.tags_ = TagsOf(step.type());
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
  return event;
}

template <class AnyStep, class State>
[[gnu::always_inline]] inline void Scheduler::EmitTransition(AnyStep step, const Context& context,
                                                             int64_t subject, State from,
                                                             State to) {
  Event& event = EmitBare(step, context);
  event.tags_ = TagsOf(step.type()).WithTransition(from, to);
  event.subject_ = subject;
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
}

template <class State>
void Scheduler::EmitExtra(Step step, const Context& context, EventType type, int64_t subject,
                          State from, State to) {
  Event& event = EmitBare(step, context);
  event.tags_ = TagsOf(type).WithTransition(from, to);
  event.subject_ = subject;
  std::memset(event.args_, 0, sizeof(event.args_));
}

}  // namespace gotrace

#endif  // GOTRACE_PARSER_SCHEDULER_INLINE_H_
