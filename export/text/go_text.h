// Events as the text that `go tool trace -d=parsed` of Go 1.27 prints, byte for byte.
#ifndef GOTRACE_EXPORT_TEXT_GO_TEXT_H_
#define GOTRACE_EXPORT_TEXT_GO_TEXT_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "export/stack_texts.h"
#include "gotrace/event.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Formats the events of one Reader. Stacks are formatted once in each generation until their texts
// fill StackTexts::kMost bytes; further ones each time anew. Not thread-safe.
class GoTextFormatter {
 public:
  // Wall-clock times are told in `zone`; Go's tool tells them in the local one.
  explicit GoTextFormatter(absl::TimeZone zone = absl::LocalTimeZone());

  // Appends the text of `event` and a newline. An event that is marked with a fault tells it at the
  // end of its first line, as Fault=ID.
  void Append(const Event& event, TextBuffer* out);

  // How many bytes of stacks' text are kept.
  size_t stack_texts_size() const { return stack_texts_.size(); }

 private:
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

  const absl::TimeZone zone_;
  std::array<ThreadText, 64> thread_texts_;
  TextBuffer thread_text_;  // Where they are made.
  StackTexts stack_texts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TEXT_GO_TEXT_H_
