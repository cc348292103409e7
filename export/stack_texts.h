// Texts of stacks, which many events have in common.
#ifndef GOTRACE_EXPORT_STACK_TEXTS_H_
#define GOTRACE_EXPORT_STACK_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Keeps the texts of a generation's stacks until they fill kMost bytes. Not thread-safe.
class StackTexts {
 public:
  // No further stack's text is kept where there are as many bytes. Those of a busy server are a
  // million; deep stacks of long names could take a thousand times what they take in the trace.
  static constexpr size_t kMost = 8 << 20;

  // `append` appends the text of a stack.
  explicit StackTexts(void (*append)(const Stack& stack, TextBuffer* out)) : append_(append) {}

  // The text of `stack`, or nothing where it is not kept, or is empty. Valid until the next call.
  absl::string_view Find(const Stack& stack);

  // How many bytes are kept.
  size_t size() const { return buffer_.size(); }

 private:
  struct Text {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0 where it was not made; then making it costs nothing, or does not pay.
  };
  static_assert(kMost < (uint64_t{1} << 31));

  // The text of a stack with the index, of size 0 if there is none or no room to keep it.
  Text Keep(uint32_t index, const Stack& stack);

  void (*const append_)(const Stack& stack, TextBuffer* out);
  uint64_t tables_serial_ = 0;  // Of the tables whose stacks stand in texts_.
  std::vector<Text> texts_;     // By GenerationTables::StackIndex().
  TextBuffer buffer_;           // What texts_ point into.
  uint64_t last_stack_ = 0;     // The id of the last one, as many events tell one twice;
  Text last_text_;              // and its text.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_STACK_TEXTS_H_
