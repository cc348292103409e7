// Events as the text that `go tool trace -d=parsed` of Go 1.27 prints, byte for byte.
#ifndef GOTRACE_EXPORT_GO_TEXT_H_
#define GOTRACE_EXPORT_GO_TEXT_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "parser/event.h"
#include "tracev2/text_buffer.h"

namespace gotrace {

// Formats the events of one Reader. Stacks are formatted once in each generation. Not thread-safe.
class GoTextFormatter {
 public:
  // Wall-clock times are told in `zone`; Go's tool tells them in the local one.
  explicit GoTextFormatter(absl::TimeZone zone = absl::LocalTimeZone()) : zone_(zone) {}

  // Appends the text of `event` and a newline. An event that is marked with a fault tells it at the
  // end of its first line, as Fault=ID.
  void Append(const Event& event, TextBuffer* out);

 private:
  struct StackText {
    size_t begin = 0;
    size_t size = 0;
    bool made = false;
  };

  // Returns the stack that belongs to the details, to be told below the first line.
  Stack AppendDetails(const Event& event, TextBuffer* out);
  void AppendRange(const Event& event, TextBuffer* out);
  Stack AppendTransition(const Event& event, TextBuffer* out);
  void AppendSync(const Event& event, TextBuffer* out);
  void AppendStack(absl::string_view title, const Stack& stack, TextBuffer* out);

  const absl::TimeZone zone_;
  uint64_t tables_serial_ = 0;          // Of the tables whose stacks stand in stack_texts_.
  std::vector<StackText> stack_texts_;  // By GenerationTables::StackIndex().
  TextBuffer stack_buffer_;             // What stack_texts_ point into.
};

}  // namespace gotrace

#endif  // GOTRACE_EXPORT_GO_TEXT_H_
