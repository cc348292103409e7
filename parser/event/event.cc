#include "gotrace/event.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "gotrace/event_kind.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_tables.h"

namespace gotrace {
namespace {

// Returns the name of a metric, or "" if `type` is not one.
constexpr absl::string_view MetricName(EventType type) {
  switch (type) {
    case EventType::kProcsChange:
      return "/sched/gomaxprocs:threads";
    case EventType::kHeapAlloc:
      return "/memory/classes/heap/objects:bytes";
    case EventType::kHeapGoal:
      return "/gc/heap/goal:bytes";
    default:
      return "";
  }
}

// Returns what the ranges are that begin with `type`, or "" if none do.
constexpr absl::string_view RangeName(EventType type) {
  switch (type) {
    case EventType::kSTWBegin:
      return "stop-the-world";
    case EventType::kGCBegin:
      return "GC concurrent mark phase";
    case EventType::kGCSweepBegin:
      return "GC incremental sweep";
    case EventType::kGCMarkAssistBegin:
      return "GC mark assist";
    default:
      return "";
  }
}

// Whether all metrics and ranges of events.def have a name here.
constexpr bool AllHaveNames() {
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, ...)                \
  if (EventKind::k##kind == EventKind::kMetric && MetricName(EventType::k##name).empty())    \
    return false;                                                                            \
  if (EventKind::k##kind == EventKind::kRangeBegin && RangeName(EventType::k##name).empty()) \
    return false;
#include "gotrace/internal/events.def"
  return true;
}
static_assert(AllHaveNames(), "a metric or range of events.def has no name");

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
  if (tags_.kind() != EventKind::kMetric) return {};
  return {MetricName(tags_.type()), args_[0]};
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
  const bool begins = tags_.kind() == EventKind::kRangeBegin;
  const bool is_open = tags_.kind() == EventKind::kRangeActive;
  if (!begins && !is_open && tags_.kind() != EventKind::kRangeEnd) return {};
  const EventType start = begins ? tags_.type() : internal::FindEventSpec(tags_.type())->start;
  const bool has_reason = start == EventType::kSTWBegin;
  RangeParts range = {RangeName(start), has_reason, has_reason ? String(args_[0]) : "", {}};
  const internal::EventRule& rule = internal::RuleOf(tags_.type());
  if (rule.subject == internal::Subject::kGC) return range;
  if (rule.subject_kind() != ResourceKind::kNone) {
    range.scope = {rule.subject_kind(), static_cast<int64_t>(args_[0])};
  } else if (rule.IsAboutGoroutine()) {
    range.scope = {ResourceKind::kGoroutine, goroutine_.value};
  } else {
    range.scope = {ResourceKind::kProc, proc_.value};
  }
  return range;
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
  const int8_t arg = internal::kReasonArgs[static_cast<uint8_t>(tags_.type())];
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
