// A cache of the texts of stacks, which many events share.
#ifndef GOTRACE_EXPORT_STACK_TEXTS_H_
#define GOTRACE_EXPORT_STACK_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Caches the texts of a generation's stacks, up to kMaxSize bytes. Not thread-safe.
class StackTexts {
 public:
  // The size in bytes at which no more texts are added. The stacks of a busy server take a million
  // bytes; deep stacks with long names could take a thousand times their size in the trace.
  static constexpr size_t kMaxSize = 8 << 20;

  // `append` appends the text of a stack.
  explicit StackTexts(void (*append)(const Stack& stack, TextBuffer* out)) : append_(append) {}

  // Returns the text of `stack`, or "" if it cannot be cached or is empty. Valid until the next
  // call.
  absl::string_view Find(const Stack& stack);

  // Returns the size of the cached texts in bytes.
  size_t size() const { return buffer_.size(); }

 private:
  struct Text {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0 if it is not cached, or empty.
  };
  static_assert(kMaxSize < (uint64_t{1} << 31));

  // Returns the text of the stack at `index`, of size 0 if it is empty or cannot be cached.
  Text Keep(uint32_t index, const Stack& stack);

  void (*const append_)(const Stack& stack, TextBuffer* out);
  uint64_t tables_serial_ = 0;  // EventTables::serial() of the tables whose stacks are in texts_.
  std::vector<Text> texts_;     // By EventTables::StackIndex().
  TextBuffer buffer_;           // The texts.
  uint64_t last_stack_ = 0;     // The id of the last stack, since many events have it twice.
  Text last_text_;              // The text of the last stack.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_STACK_TEXTS_H_
