// Events as the text that `go tool trace -d=parsed` of Go 1.27 prints, byte for byte.
#ifndef GOTRACE_EXPORT_GO_TEXT_H_
#define GOTRACE_EXPORT_GO_TEXT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "parser/event.h"
#include "tracev2/text_buffer.h"

namespace gotrace {

// Formats the events of one Reader. Stacks are formatted once in each generation until their texts
// fill kMaxStackTexts bytes; further ones each time anew. Not thread-safe.
class GoTextFormatter {
 public:
  // Wall-clock times are told in `zone`; Go's tool tells them in the local one.
  explicit GoTextFormatter(absl::TimeZone zone = absl::LocalTimeZone()) : zone_(zone) {}

  // Appends the text of `event` and a newline. An event that is marked with a fault tells it at the
  // end of its first line, as Fault=ID.
  void Append(const Event& event, TextBuffer* out);

  // No further stack's text is kept where there are as many bytes. Those of a busy server are a
  // million; deep stacks of long names could take a thousand times what they take in the trace.
  static constexpr size_t kMaxStackTexts = 8 << 20;

  // How many bytes of stacks' text are kept.
  size_t stack_texts_size() const { return stack_buffer_.size(); }

 private:
  struct StackText {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0 where it was not made; then making it costs nothing, or does not pay.
  };
  static_assert(kMaxStackTexts < (uint64_t{1} << 31));

  // "M=1 P=2 G=", by the thread.
  struct ThreadText {
    ThreadId thread;
    ProcId proc;
    ShortText<64> text;
  };

  // What the line of an event begins with. Kept, as a thread mostly stays with its P.
  const ShortText<64>& ThreadTextOf(ThreadId thread, ProcId proc);
  void AppendDetails(const Event& event, TextBuffer* out);
  void AppendRange(const Event& event, TextBuffer* out);
  void AppendTransition(const Event& event, TextBuffer* out);
  void AppendSync(const Event& event, TextBuffer* out);
  void AppendStack(absl::string_view title, const Stack& stack, TextBuffer* out);
  // The text of a stack with the index, of size 0 if there is none or no room to keep it.
  StackText KeptStackText(uint32_t index, const Stack& stack);

  const absl::TimeZone zone_;
  std::array<ThreadText, 64> thread_texts_;
  TextBuffer thread_text_;              // Where they are made.
  uint64_t tables_serial_ = 0;          // Of the tables whose stacks stand in stack_texts_.
  std::vector<StackText> stack_texts_;  // By GenerationTables::StackIndex().
  TextBuffer stack_buffer_;             // What stack_texts_ point into.
  uint64_t last_stack_ = 0;             // The id of the last one, as many events tell one twice;
  StackText last_text_;                 // and its text.
};

}  // namespace gotrace

#endif  // GOTRACE_EXPORT_GO_TEXT_H_
