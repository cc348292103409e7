// Formats events as text, byte for byte like `go tool trace -d=parsed` of Go 1.27.
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

// Formats the events of one Reader. Each stack is formatted once per generation, until their texts
// reach StackTexts::kMaxSize bytes; further stacks are formatted each time. Not thread-safe.
class GoTextFormatter {
 public:
  // Prints wall-clock times in `zone`; Go's tool uses the local zone.
  explicit GoTextFormatter(absl::TimeZone zone = absl::LocalTimeZone());

  // Appends the text of `event` and a newline. The fault of a marked event is at the end of its
  // first line, as Fault=ID.
  void Append(const Event& event, TextBuffer* out);

  // Returns the size of the cached texts of stacks in bytes.
  size_t stack_texts_size() const { return stack_texts_.size(); }

 private:
  // The beginning of the lines of a thread: "M=1 P=2 G=".
  struct ThreadText {
    ThreadId thread;
    ProcId proc;
    ShortText<64> text;
  };

  // Returns the beginning of an event's line. It is cached, because a thread usually keeps its P.
  const ShortText<64>& ThreadTextOf(ThreadId thread, ProcId proc);
  void AppendDetails(const Event& event, TextBuffer* out);
  void AppendRange(const Event& event, TextBuffer* out);
  void AppendTransition(const Event& event, TextBuffer* out);
  void AppendSync(const Event& event, TextBuffer* out);
  void AppendStack(absl::string_view title, const Stack& stack, TextBuffer* out);

  const absl::TimeZone zone_;
  std::array<ThreadText, 64> thread_texts_;
  TextBuffer thread_text_;  // A buffer for building a ThreadText.
  StackTexts stack_texts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TEXT_GO_TEXT_H_
