#include "export/stack_texts.h"

#include "parser/event/event_tables.h"

namespace gotrace::internal {

absl::string_view StackTexts::Find(const Stack& stack) {
  const EventTables& tables = *stack.tables();
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
  // Tables grow where a Reader goes on after an event that names a stack they lack.
  if (index >= texts_.size()) texts_.resize(stack.tables()->stack_count());
  Text& text = texts_[index];
  if (text.size == 0 && buffer_.size() < kMost) {
    text.begin = static_cast<uint32_t>(buffer_.size());
    append_(stack, &buffer_);
    text.size = static_cast<uint32_t>(buffer_.size()) - text.begin;
  }
  return text;
}

}  // namespace gotrace::internal
