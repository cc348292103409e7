#include "rewrite/joined_tables.h"

#include <numeric>
#include <utility>

#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {
namespace {

// Returns the ids from 1 to `count`.
std::vector<uint64_t> FirstIds(size_t count) {
  std::vector<uint64_t> ids(count);
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

// Returns what the texts of events of a type say.
TextRole RoleOfTexts(EventType type) {
  switch (type) {
    case EventType::kGoLabel:
      return TextRole::kLabel;
    case EventType::kUserTaskBegin:
      return TextRole::kTask;
    case EventType::kUserRegionBegin:
    case EventType::kUserRegionEnd:
      return TextRole::kRegion;
    case EventType::kUserLog:
      return TextRole::kMessage;
    default:
      return TextRole::kReason;
  }
}

}  // namespace

std::optional<uint64_t> JoinedTables::Part::StringId(uint64_t id, TextRole role) {
  if (id == 0) return 0;
  if (replacer_ == nullptr) role = TextRole::kReason;  // So that a missing string stays one.
  const std::pair<uint64_t, TextRole> key(id, role);
  if (const auto known = string_ids_.find(key); known != string_ids_.end()) return known->second;
  const std::optional<absl::string_view> text = from_.FindString(id);
  if (!text.has_value()) return std::nullopt;
  uint64_t& result = string_ids_[key];
  if (from_.IsMissingString(id)) return result = to_.AddMissingString(*text);
  if (replacer_ == nullptr || text->empty()) return result = to_.AddString(*text);
  return result = to_.AddString(replacer_->Replace(role, *text));
}

std::optional<uint64_t> JoinedTables::Part::StackId(uint64_t id) {
  if (id == 0) return 0;
  if (const auto known = stack_ids_.find(id); known != stack_ids_.end()) return known->second;
  std::vector<Frame> frames;
  if (!from_.FindStack(id, &frames)) return std::nullopt;
  for (Frame& frame : frames) {
    if (!TranslateFrame(&frame)) return std::nullopt;
  }
  return stack_ids_[id] = to_.AddStack(std::move(frames));
}

// Returns false if this part lacks a name.
bool JoinedTables::Part::TranslateFrame(Frame* frame) {
  if (replacer_ == nullptr) {
    const std::optional<uint64_t> func = StringId(frame->func);
    const std::optional<uint64_t> file = StringId(frame->file);
    frame->func = func.value_or(0);
    frame->file = file.value_or(0);
    return func.has_value() && file.has_value();
  }
  const std::optional<absl::string_view> func = from_.FindString(frame->func);
  const std::optional<absl::string_view> file = from_.FindString(frame->file);
  if (!func.has_value() || !file.has_value()) return false;
  const bool has_func = !from_.IsMissingString(frame->func);
  const bool has_file = !from_.IsMissingString(frame->file);
  FullFrame full{frame->pc, std::string(has_func ? *func : ""), std::string(has_file ? *file : ""),
                 frame->line};
  replacer_->Replace(&full);
  frame->pc = full.pc;
  frame->func = has_func ? to_.AddString(full.func) : *StringId(frame->func);
  frame->file = has_file ? to_.AddString(full.file) : *StringId(frame->file);
  frame->line = full.line;
  return true;
}

bool JoinedTables::Part::Translate(WriterEvent* event) {
  const EventSpec& spec = *FindEventSpec(event->type);
  for (int i = 1; i < spec.arg_count; ++i) {
    const bool is_string = spec.arg_types[i] == ArgType::kString;
    if (!is_string && spec.arg_types[i] != ArgType::kStack) continue;
    uint64_t& arg = event->args[i - 1];
    const std::optional<uint64_t> id =
        is_string ? StringId(arg, RoleOfTexts(event->type)) : StackId(arg);
    if (!id.has_value()) return false;
    arg = *id;
  }
  return true;
}

std::vector<uint64_t> JoinedTables::StringIds() const { return FirstIds(strings_.size()); }
std::vector<uint64_t> JoinedTables::StackIds() const { return FirstIds(stacks_.size()); }

std::optional<absl::string_view> JoinedTables::FindString(uint64_t id) const {
  if (id == 0) return absl::string_view();
  if (id > strings_.size()) return std::nullopt;
  return *strings_[id - 1];
}

bool JoinedTables::FindStack(uint64_t id, std::vector<Frame>* frames) const {
  frames->clear();
  if (id > stacks_.size()) return false;
  if (id != 0) *frames = *stacks_[id - 1];
  return true;
}

uint64_t JoinedTables::AddString(absl::string_view text) {
  if (text.empty()) return 0;
  const auto [it, is_new] = string_ids_.try_emplace(text, strings_.size() + 1);
  if (is_new) strings_.push_back(&it->first);
  return it->second;
}

// The same text may be that of a string that is not missing.
uint64_t JoinedTables::AddMissingString(absl::string_view text) {
  const uint64_t id = strings_.size() + 1;
  strings_.push_back(&missing_.emplace(id, text).first->second);
  return id;
}

uint64_t JoinedTables::AddStack(std::vector<Frame> frames) {
  for (Frame& frame : frames) {
    if (!frame.pc.has_value()) continue;
    const auto [first, is_new] = by_pc_.try_emplace(*frame.pc, frame);
    if (!is_new && first->second != frame) frame.pc.reset();
  }
  const auto [it, is_new] = stack_ids_.try_emplace(std::move(frames), stacks_.size() + 1);
  if (is_new) stacks_.push_back(&it->first);
  return it->second;
}

}  // namespace gotrace::internal
