// What the scheduler's rules share, and how they make events. Inline, since every event passes
// here; for the scheduler's own files only.
#ifndef GOTRACE_PARSER_SCHEDULER_INLINE_H_
#define GOTRACE_PARSER_SCHEDULER_INLINE_H_

#include <cstring>

#include "parser/scheduler.h"

namespace gotrace {

inline Scheduler::Outcome Scheduler::Check(const Step& step, Need proc, Need goroutine) {
  const Context& context = step.context;
  const bool has_proc = proc != Need::kYes || context.proc != ProcId::kNone;
  const bool has_goroutine =
      goroutine == Need::kMaybe || (context.goroutine != GoId::kNone) == (goroutine == Need::kYes);
  if (step.thread != nullptr && has_proc && has_goroutine) [[likely]]
    return Outcome::kAdvanced;
  if (forcing_) return Outcome::kAdvanced;
  if (step.thread == nullptr) return FailNeedsThread();
  if (!has_proc) return FailNeedsProc(step);
  return goroutine == Need::kYes ? FailNeedsGoroutine() : FailHasGoroutine(step);
}

inline Scheduler::Outcome Scheduler::CheckStatus(const Step& step, Need proc, GoStatus status,
                                                 GoroutineState** state) {
  if (Outcome outcome = Check(step, proc, Need::kYes); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  GoroutineState* const current = CurrentGoroutine(step);
  if (current == nullptr) return FailGoroutineUnknown(step, step.context.goroutine);
  if (current->status != status) return FailGoroutineStatus(*current, status);
  *state = current;
  return Outcome::kAdvanced;
}

inline GoroutineState* Scheduler::CurrentGoroutine(const Step& step) {
  const GoId id = step.context.goroutine;
  if (step.thread == nullptr) return goroutines_.Find(id);
  return goroutines_.Find(id, &step.thread->goroutine_state);
}

inline ProcessorState* Scheduler::CurrentProc(const Step& step) {
  const ProcId id = step.context.proc;
  if (step.thread == nullptr) return procs_.Find(id);
  return procs_.Find(id, &step.thread->proc_state);
}

inline void Scheduler::SetGoroutine(const Step& step, GoId id, GoroutineState* state) {
  if (step.thread == nullptr) return;
  step.thread->goroutine = id;
  if (state != nullptr) step.thread->goroutine_state = state;
}

inline void Scheduler::SetProc(const Step& step, ProcId id, ProcessorState* state) {
  if (step.thread == nullptr) return;
  step.thread->Bind(id, state);
  if (state != nullptr) step.thread->proc_state = state;
}

inline Event& Scheduler::EmitBare(const Step& step, const Context& context, EventType type) {
  Event& event = events_[event_count_++];
  event.time_ = step.cursor.time();
  event.goroutine_ = context.goroutine;
  event.proc_ = context.proc;
  event.thread_ = context.thread;
  event.tables_ = tables_;
  event.offset_ = step.cursor.offset();
  event.type_ = type;
  event.kind_ = kEventKinds[static_cast<uint8_t>(type)];
  event.fault_ = FaultId::kEnd;
  return event;
}

inline Event& Scheduler::EmitExtra(const Step& step, const Context& context, EventType type) {
  Event& event = EmitBare(step, context, type);
  std::memset(event.args_, 0, sizeof(event.args_));
  return event;
}

inline Event& Scheduler::Emit(const Step& step, const Context& context) {
  Event& event = EmitBare(step, context, step.event.type);
  std::memcpy(event.args_, step.event.args, sizeof(event.args_));
  return event;
}

template <class State>
Event& Scheduler::SetTransition(Event& event, int64_t subject, State from, State to) {
  event.subject_ = subject;
  event.from_ = static_cast<uint8_t>(from);
  event.to_ = static_cast<uint8_t>(to);
  return event;
}

template <class State>
Event& Scheduler::EmitTransition(const Step& step, int64_t subject, State from, State to) {
  return SetTransition(Emit(step), subject, from, to);
}

}  // namespace gotrace

#endif  // GOTRACE_PARSER_SCHEDULER_INLINE_H_
