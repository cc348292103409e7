#include "export/chrome/stack_tree.h"

#include "absl/strings/str_cat.h"
#include "export/json/json_text.h"
#include "parser/event/event_access.h"
#include "parser/event/event_tables.h"

namespace gotrace::internal {

uint32_t StackTree::Find(const Stack& stack) {
  if (stack.none() || stack.id() == 0) return 0;
  const EventTables& tables = *EventAccess::Tables(stack);
  if (tables_serial_ != tables.serial()) {
    tables_serial_ = tables.serial();
    known_.clear();
  }
  const uint32_t index = tables.StackIndex(stack.id());
  if (index == EventTables::kNoStack) return Insert(stack);
  // Tables grow when a Reader continues after an event that refers to a missing stack.
  if (index >= known_.size()) known_.resize(tables.stack_count());
  if (known_[index] == 0) known_[index] = Insert(stack) + 1;
  return known_[index] - 1;
}

uint32_t StackTree::Insert(const Stack& stack) {
  uint32_t number = 0;
  for (size_t i = stack.size(); i > 0; --i) {
    const StackFrame frame = stack.frame(i - 1);
    const auto [child, is_new] = children_.try_emplace({number, frame.pc}, frames_.size() + 1);
    if (is_new) {
      const auto name = names_.insert(absl::StrCat(frame.func, ":", frame.line)).first;
      frames_.push_back({number, &*name});
    }
    number = child->second;
  }
  return number;
}

void StackTree::Use(uint32_t number) {
  while (number != 0 && !frames_[number - 1].is_used) {
    frames_[number - 1].is_used = true;
    number = frames_[number - 1].parent;
  }
}

void StackTree::AppendJson(TextBuffer* out) const {
  out->Append('{');
  bool is_first = true;
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (!frames_[i].is_used) continue;
    out->Append(is_first ? "\n\"" : ",\n\"", uint64_t{i + 1}, "\":{\"name\":");
    is_first = false;
    AppendJsonString(*frames_[i].name, out);
    if (frames_[i].parent != 0) out->Append(",\"parent\":", uint64_t{frames_[i].parent});
    out->Append('}');
  }
  out->Append('}');
}

}  // namespace gotrace::internal
