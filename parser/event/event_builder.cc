#include "gotrace/event_builder.h"

#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "gotrace/event_kind.h"
#include "gotrace/internal/event_tags.h"
#include "gotrace/stack_copy.h"
#include "parser/event/event_access.h"
#include "parser/event/event_tables.h"
#include "parser/event/event_writer.h"

namespace gotrace::internal {

// Tables that own their strings. Entries are only added, so that ids and views stay valid.
class OwningTables final : public EventTables {
 public:
  // Returns the id of `text`, 0 for "".
  uint64_t AddString(absl::string_view text) {
    if (text.empty()) return 0;
    const auto [it, is_new] = string_ids_.try_emplace(std::string(text), string_ids_.size() + 1);
    if (is_new) strings_.Insert(it->second, it->first);
    return it->second;
  }

  // Returns the id of the stack with these frames, 0 if there are none.
  uint64_t AddStack(absl::Span<const StackFrame> frames) {
    if (frames.empty()) return 0;
    const auto [it, is_new] = stack_ids_.try_emplace(StackCopy(frames), stack_ids_.size() + 1);
    if (!is_new) return it->second;
    stacks_.Insert(it->second, {static_cast<uint32_t>(stack_frames_.size()),
                                static_cast<uint32_t>(frames.size())});
    for (const StackFrame& frame : frames) {
      stack_frames_.push_back(static_cast<uint32_t>(frames_.size()));
      frames_.push_back({frame.pc, AddString(frame.func), AddString(frame.file), frame.line, 0});
    }
    return it->second;
  }

  // Returns a copy of `text` that is valid as long as the tables.
  const std::string* Own(absl::string_view text) { return &*texts_.emplace(text).first; }

  void SetClocks(const ClockSnapshot& clocks) { clock_snapshot_ = clocks; }

 private:
  absl::node_hash_map<std::string, uint64_t> string_ids_;
  absl::flat_hash_map<StackCopy, uint64_t> stack_ids_;
  std::set<std::string> texts_;
};

}  // namespace gotrace::internal

namespace gotrace {

using internal::EventWriter;

namespace {

bool IsTask(const Event& event) {
  return event.kind() == EventKind::kTaskBegin || event.kind() == EventKind::kTaskEnd;
}

bool IsRegion(const Event& event) {
  return event.kind() == EventKind::kRegionBegin || event.kind() == EventKind::kRegionEnd;
}

}  // namespace

BuiltTables::BuiltTables() : tables_(std::make_shared<internal::OwningTables>()) {}

EventBuilder::EventBuilder(EventType type) {
  EventWriter event(&event_);
  event.Tags(internal::TagsOf(type));
  if (type == EventType::kUserTaskEnd) event.TaskType(nullptr);
  Parent(TaskId::kNone);
}

EventBuilder::EventBuilder(EventType type, const BuiltTables& tables) : EventBuilder(type) {
  tables_ = tables.tables_;
  EventWriter(&event_).Tables(tables_.get());
}

EventBuilder EventBuilder::MakeSync(uint64_t n) {
  EventBuilder builder(EventType::kNone);
  EventWriter(&builder.event_)
      .Tags(internal::EventTags(EventType::kNone, EventKind::kSync))
      .Arg(0, n);
  return builder;
}

EventBuilder EventBuilder::MakeSync(uint64_t n, const BuiltTables& tables) {
  EventBuilder builder = MakeSync(n);
  builder.tables_ = tables.tables_;
  EventWriter(&builder.event_).Tables(builder.tables_.get());
  return builder;
}

EventBuilder& EventBuilder::Time(int64_t time) { return EventWriter(&event_).Time(time), *this; }

EventBuilder& EventBuilder::Goroutine(GoId id) { return EventWriter(&event_).Goroutine(id), *this; }

EventBuilder& EventBuilder::Proc(ProcId id) { return EventWriter(&event_).Proc(id), *this; }

EventBuilder& EventBuilder::Thread(ThreadId id) { return EventWriter(&event_).Thread(id), *this; }

EventBuilder& EventBuilder::Offset(uint64_t offset) {
  return EventWriter(&event_).Offset(offset), *this;
}

EventBuilder& EventBuilder::Stack(absl::Span<const StackFrame> frames) {
  const int8_t arg = internal::kStackArgs[static_cast<uint8_t>(event_.type())];
  return arg < 0 ? *this : SetStack(static_cast<size_t>(arg), frames);
}

EventBuilder& EventBuilder::TransitionStack(absl::Span<const StackFrame> frames) {
  const int8_t arg = internal::kNewStackArgs[static_cast<uint8_t>(event_.type())];
  return arg < 0 ? *this : SetStack(static_cast<size_t>(arg), frames);
}

EventBuilder& EventBuilder::Transition(GoId id, GoState from, GoState to) {
  if (from > GoState::kSyscall || to > GoState::kSyscall) return *this;
  return SetTransition(ResourceKind::kGoroutine, id.value, static_cast<uint8_t>(from),
                       static_cast<uint8_t>(to));
}

EventBuilder& EventBuilder::Transition(ProcId id, ProcState from, ProcState to) {
  if (from > ProcState::kIdle || to > ProcState::kIdle) return *this;
  return SetTransition(ResourceKind::kProc, id.value, static_cast<uint8_t>(from),
                       static_cast<uint8_t>(to));
}

EventBuilder& EventBuilder::Reason(absl::string_view reason) {
  if (event_.range_parts().has_reason) return SetString(0, reason);
  const int8_t arg = internal::kReasonArgs[static_cast<uint8_t>(event_.type())];
  return arg < 0 ? *this : SetString(static_cast<size_t>(arg), reason);
}

EventBuilder& EventBuilder::Label(absl::string_view label) {
  return event_.kind() == EventKind::kLabel ? SetString(0, label) : *this;
}

EventBuilder& EventBuilder::Task(TaskId id) {
  const bool has_task = IsTask(event_) || IsRegion(event_) || event_.kind() == EventKind::kLog;
  return has_task ? Arg(0, id.value) : *this;
}

EventBuilder& EventBuilder::Parent(TaskId id) {
  if (!IsTask(event_)) return *this;
  return Arg(event_.kind() == EventKind::kTaskBegin ? 1 : 2, id.value);
}

EventBuilder& EventBuilder::TaskType(absl::string_view type) {
  if (event_.kind() == EventKind::kTaskBegin) return SetString(2, type);
  if (event_.type() == EventType::kUserTaskEnd) EventWriter(&event_).TaskType(Tables().Own(type));
  return *this;
}

EventBuilder& EventBuilder::RegionType(absl::string_view type) {
  return IsRegion(event_) ? SetString(1, type) : *this;
}

EventBuilder& EventBuilder::Log(absl::string_view category, absl::string_view message) {
  return event_.kind() == EventKind::kLog ? SetString(1, category).SetString(2, message) : *this;
}

EventBuilder& EventBuilder::Clocks(const ClockSnapshot& clocks) {
  if (event_.kind() == EventKind::kSync) Tables().SetClocks(clocks);
  return *this;
}

EventBuilder& EventBuilder::Arg(size_t index, uint64_t value) {
  if (index < EventWriter::kMaxArgs) EventWriter(&event_).Arg(index, value);
  return *this;
}

EventBuilder& EventBuilder::SetTransition(ResourceKind kind, int64_t subject, uint8_t from,
                                          uint8_t to) {
  if (event_.transition_resource().kind != kind) return *this;
  EventWriter(&event_).Subject(subject).Tags(
      internal::EventAccess::Tags(event_).WithTransition(from, to));
  return *this;
}

EventBuilder& EventBuilder::SetString(size_t index, absl::string_view text) {
  return Arg(index, Tables().AddString(text));
}

EventBuilder& EventBuilder::SetStack(size_t index, absl::Span<const StackFrame> frames) {
  return Arg(index, Tables().AddStack(frames));
}

internal::OwningTables& EventBuilder::Tables() {
  if (tables_ == nullptr) {
    tables_ = std::make_shared<internal::OwningTables>();
    EventWriter(&event_).Tables(tables_.get());
  }
  return *tables_;
}

}  // namespace gotrace
