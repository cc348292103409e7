#include "rewrite/writer_event.h"

#include <algorithm>
#include <utility>

#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {
namespace {

bool IsSwitch(EventType type) {
  return type == EventType::kGoSwitch || type == EventType::kGoSwitchDestroy;
}

}  // namespace

void WriterEventCollector::Add(const Event& event) {
  const EventSpec* const spec = FindEventSpec(event.type());
  if (spec == nullptr) return;
  ++given_;
  if (!spec->timed()) return;
  const bool same_place = !events_.empty() && event.offset() == last_offset_;
  if (same_place) {
    // Of the transitions that a GoSwitch stands for the first has its type; a GoDestroySyscall
    // comes after the loss of its P.
    const EventType before = events_.back().type;
    if (IsSwitch(before)) return;
    if (event.type() == EventType::kGoDestroySyscall && before == EventType::kProcSteal) {
      events_.pop_back();
    }
  }
  last_offset_ = event.offset();
  WriterEvent& added = events_.emplace_back();
  added.type = event.type();
  added.thread = event.thread();
  added.goroutine = event.goroutine();
  added.proc = event.proc();
  added.time = event.time();
  for (int i = 0; i + 1 < spec->arg_count; ++i) added.args[i] = event.arg(i);
  // The wire has no parent as 0.
  if (added.type == EventType::kUserTaskBegin && added.args[1] == TaskId::kNone.value) {
    added.args[1] = 0;
  }
}

std::vector<WriterEvent> WriterEventCollector::Take() {
  given_ = 0;
  return std::exchange(events_, {});
}

}  // namespace gotrace::internal
