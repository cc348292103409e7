#include "rewrite/writer_event.h"

#include <utility>

#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {
namespace {

uint64_t StatusOf(GoState state) {
  switch (state) {
    case GoState::kRunnable:
      return static_cast<uint64_t>(GoStatus::kRunnable);
    case GoState::kRunning:
      return static_cast<uint64_t>(GoStatus::kRunning);
    case GoState::kWaiting:
      return static_cast<uint64_t>(GoStatus::kWaiting);
    case GoState::kSyscall:
      return static_cast<uint64_t>(GoStatus::kSyscall);
    case GoState::kUndetermined:
    case GoState::kNotExist:
      break;
  }
  return static_cast<uint64_t>(GoStatus::kBad);
}

uint64_t StatusOf(ProcState state) {
  switch (state) {
    case ProcState::kRunning:
      return static_cast<uint64_t>(ProcStatus::kRunning);
    case ProcState::kIdle:
      return static_cast<uint64_t>(ProcStatus::kIdle);
    case ProcState::kUndetermined:
    case ProcState::kNotExist:
      break;
  }
  return static_cast<uint64_t>(ProcStatus::kBad);
}

// Sets the arguments that say which goroutine or P changes its state, and what a status states.
// Programs that build events set the transition instead; in the events of a Reader both are equal.
void AddTransition(const Event& event, WriterEvent* added) {
  const EventRule& rule = RuleOf(added->type);
  const ResourceId resource = event.transition_resource();
  if (resource.id == -1 || rule.subject_kind() != resource.kind) return;
  added->args[0] = static_cast<uint64_t>(resource.id);
  if (rule.subject == Subject::kStatedProc && added->args[1] == 0) {
    added->args[1] = StatusOf(static_cast<ProcState>(event.transition_to()));
  }
  if (rule.subject == Subject::kStatedGoroutine && added->args[2] == 0) {
    added->args[2] = StatusOf(static_cast<GoState>(event.transition_to()));
    const bool is_bound = event.transition_to() == static_cast<uint8_t>(GoState::kRunning) ||
                          event.transition_to() == static_cast<uint8_t>(GoState::kSyscall);
    if (added->args[1] == 0) {
      added->args[1] = static_cast<uint64_t>(is_bound ? event.thread().value : -1);
    }
  }
}

}  // namespace

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
  if (event.kind() == EventKind::kStateTransition) AddTransition(event, &added);
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
