#include "gotrace/event.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "gotrace/event_kind.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_tables.h"

namespace gotrace {
namespace {

// The argument that says why a goroutine stops.
constexpr std::array<int8_t, 256> kReasonArgs =
    internal::FindArgs([](absl::string_view name) { return name == "reason_string"; });

}  // namespace

size_t Stack::size() const { return none() ? 0 : tables_->StackSize(id_); }

StackFrame Stack::frame(size_t index) const {
  return none() ? StackFrame() : tables_->GetFrame(id_, index);
}

absl::string_view Event::String(uint64_t id) const {
  if (tables_ == nullptr) return "";
  const absl::string_view* const text = tables_->FindString(id);
  return text == nullptr ? absl::string_view() : *text;
}

Metric Event::metric() const {
  switch (tags_.type()) {
    case EventType::kProcsChange:
      return {"/sched/gomaxprocs:threads", args_[0]};
    case EventType::kHeapAlloc:
      return {"/memory/classes/heap/objects:bytes", args_[0]};
    case EventType::kHeapGoal:
      return {"/gc/heap/goal:bytes", args_[0]};
    default:
      return {};
  }
}

Label Event::label() const {
  if (tags_.kind() != EventKind::kLabel) return {};
  return {String(args_[0]), {ResourceKind::kGoroutine, goroutine_.value}};
}

Range Event::range() const {
  const RangeParts parts = range_parts();
  return {parts.name(), parts.scope};
}

std::string RangeParts::name() const {
  return has_reason ? absl::StrCat(what, " (", reason, ")") : std::string(what);
}

RangeParts Event::range_parts() const {
  switch (tags_.type()) {
    case EventType::kSTWBegin:
    case EventType::kSTWEnd:
      return {
          "stop-the-world", true, String(args_[0]), {ResourceKind::kGoroutine, goroutine_.value}};
    case EventType::kGCBegin:
    case EventType::kGCActive:
    case EventType::kGCEnd:
      return {"GC concurrent mark phase", false, "", {}};
    case EventType::kGCSweepBegin:
    case EventType::kGCSweepEnd:
      return {"GC incremental sweep", false, "", {ResourceKind::kProc, proc_.value}};
    case EventType::kGCSweepActive:
      return {
          "GC incremental sweep", false, "", {ResourceKind::kProc, static_cast<int64_t>(args_[0])}};
    case EventType::kGCMarkAssistBegin:
    case EventType::kGCMarkAssistEnd:
      return {"GC mark assist", false, "", {ResourceKind::kGoroutine, goroutine_.value}};
    case EventType::kGCMarkAssistActive:
      return {
          "GC mark assist", false, "", {ResourceKind::kGoroutine, static_cast<int64_t>(args_[0])}};
    default:
      return {};
  }
}

std::vector<RangeAttribute> Event::range_attributes() const {
  if (tags_.type() != EventType::kGCSweepEnd) return {};
  return {{"bytes swept", args_[0]}, {"bytes reclaimed", args_[1]}};
}

absl::string_view Event::TaskTypeAtEnd() const {
  const std::string* const type = task_type_;
  return type == nullptr ? absl::string_view() : *type;
}

Task Event::task() const {
  switch (tags_.type()) {
    case EventType::kUserTaskBegin:
      return {TaskId{args_[0]}, TaskId{args_[1]}, String(args_[2])};
    case EventType::kUserTaskEnd:
      return {TaskId{args_[0]}, TaskId{args_[2]}, TaskTypeAtEnd()};
    default:
      return {};
  }
}

Region Event::region() const {
  if (tags_.kind() != EventKind::kRegionBegin && tags_.kind() != EventKind::kRegionEnd) return {};
  return {TaskId{args_[0]}, String(args_[1])};
}

Log Event::log() const {
  if (tags_.kind() != EventKind::kLog) return {};
  return {TaskId{args_[0]}, String(args_[1]), String(args_[2])};
}

StateTransition Event::state_transition() const {
  StateTransition transition;
  if (tags_.kind() != EventKind::kStateTransition) return transition;
  transition.resource = transition_resource();
  if (transition.resource.kind == ResourceKind::kProc) {
    transition.proc_from = static_cast<ProcState>(tags_.from());
    transition.proc_to = static_cast<ProcState>(tags_.to());
    return transition;
  }
  transition.go_from = static_cast<GoState>(tags_.from());
  transition.go_to = static_cast<GoState>(tags_.to());
  transition.reason = transition_reason();
  transition.stack = transition_stack();
  return transition;
}

absl::string_view Event::transition_reason() const {
  const int8_t arg = kReasonArgs[static_cast<uint8_t>(tags_.type())];
  return arg < 0 ? absl::string_view() : String(args_[arg]);
}

Sync Event::sync() const {
  Sync sync;
  if (tags_.kind() != EventKind::kSync) return sync;
  sync.n = args_[0];
  if (tables_ == nullptr) return sync;
  sync.clock_snapshot = tables_->clock_snapshot();
  sync.experimental_batches = tables_->experimental_batches();
  return sync;
}

ExperimentalEvent Event::experimental() const {
  ExperimentalEvent event;
  if (tags_.kind() != EventKind::kExperimental) return event;
  const internal::EventSpec& spec = *internal::FindEventSpec(tags_.type());
  event.name = spec.name;
  event.experiment = ExperimentName(static_cast<uint64_t>(spec.experiment));
  for (int i = 1; i < spec.arg_count; ++i) {
    event.args.push_back({spec.arg_names[i], args_[i - 1]});
  }
  return event;
}

}  // namespace gotrace
