#include "export/stack_texts.h"

#include "parser/event/event_access.h"
#include "parser/event/event_tables.h"

namespace gotrace::internal {

absl::string_view StackTexts::Find(const Stack& stack) {
  const EventTables& tables = *EventAccess::Tables(stack);
  if (tables_serial_ != tables.serial()) {
    tables_serial_ = tables.serial();
    texts_.clear();
    buffer_.clear();
    last_stack_ = 0;
    last_text_ = {};
  }
  if (last_stack_ != stack.id()) {
    const uint32_t index = tables.StackIndex(stack.id());
    last_text_ = index == EventTables::kNoStack ? Text() : Keep(index, stack);
    last_stack_ = stack.id();
  }
  return buffer_.view().substr(last_text_.begin, last_text_.size);
}

StackTexts::Text StackTexts::Keep(uint32_t index, const Stack& stack) {
  // Tables grow when a Reader continues after an event that refers to a missing stack.
  if (index >= texts_.size()) texts_.resize(EventAccess::Tables(stack)->stack_count());
  Text& text = texts_[index];
  if (text.size == 0 && buffer_.size() < kMaxSize) {
    text.begin = static_cast<uint32_t>(buffer_.size());
    append_(stack, &buffer_);
    text.size = static_cast<uint32_t>(buffer_.size()) - text.begin;
  }
  return text;
}

}  // namespace gotrace::internal
