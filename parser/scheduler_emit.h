// How the scheduler's rules make events. Inline, since every event passes here; for the scheduler's
// own files only.
#ifndef GOTRACE_PARSER_SCHEDULER_EMIT_H_
#define GOTRACE_PARSER_SCHEDULER_EMIT_H_

#include <cstring>

#include "parser/scheduler.h"

namespace gotrace {

inline Event& Scheduler::EmitExtra(const Step& step, const Context& context, EventType type) {
  Event& event = events_[event_count_++];
  event.time_ = step.cursor.time();
  event.goroutine_ = context.goroutine;
  event.proc_ = context.proc;
  event.thread_ = context.thread;
  event.tables_ = &generation_->tables();
  event.offset_ = step.cursor.offset();
  event.type_ = type;
  event.kind_ = kEventKinds[static_cast<uint8_t>(type)];
  event.fault_ = FaultId::kEnd;
  std::memset(event.args_, 0, sizeof(event.args_));
  return event;
}

inline Event& Scheduler::Emit(const Step& step, const Context& context) {
  Event& event = EmitExtra(step, context, step.event.type);
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

#endif  // GOTRACE_PARSER_SCHEDULER_EMIT_H_
