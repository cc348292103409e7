#include "rewrite/writer_event.h"

#include <utility>

#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {

// The first of the transitions of a GoSwitch has its type.
bool WriterEventCollector::ContinuesSwitch(const Event& event) const {
  if (events_.empty() || event.offset() != last_offset_) return false;
  const WriterEvent& last = events_.back();
  if (!RuleOf(last.type).IsSwitch() || event.thread() != last.thread) return false;
  return event.type() == EventType::kGoStart
             ? event.transition_resource().id == static_cast<int64_t>(last.args[0])
             : event.goroutine() == last.goroutine;
}

// A GoDestroySyscall comes after the loss of its P.
bool WriterEventCollector::EndsAfterLossOfProc(const Event& event) const {
  if (events_.empty() || event.offset() != last_offset_) return false;
  return event.type() == EventType::kGoDestroySyscall &&
         events_.back().type == EventType::kProcSteal && event.thread() == events_.back().thread &&
         event.proc() != ProcId::kNone;
}

WriterEvent* WriterEventCollector::Add(const Event& event) {
  const EventSpec* const spec = FindEventSpec(event.type());
  if (spec == nullptr) return nullptr;
  ++given_;
  if (!spec->timed() || ContinuesSwitch(event)) return nullptr;
  int64_t time = event.time();
  if (EndsAfterLossOfProc(event)) {
    time = events_.back().time;
    events_.pop_back();
  }
  last_offset_ = event.offset();
  WriterEvent& added = events_.emplace_back();
  added.type = event.type();
  added.thread = event.thread();
  added.goroutine = event.goroutine();
  added.proc = event.proc();
  added.time = time;
  for (int i = 0; i + 1 < spec->arg_count; ++i) added.args[i] = event.arg(i);
  // On the wire, parent 0 means none.
  if (added.type == EventType::kUserTaskBegin && added.args[1] == TaskId::kNone.value) {
    added.args[1] = 0;
  }
  return &added;
}

std::vector<WriterEvent> WriterEventCollector::Take() {
  given_ = 0;
  return std::exchange(events_, {});
}

}  // namespace gotrace::internal
