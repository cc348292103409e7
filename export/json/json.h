// Events as JSON, one object a line. docs/commands.md lists the fields.
#ifndef GOTRACE_EXPORT_JSON_JSON_H_
#define GOTRACE_EXPORT_JSON_JSON_H_

#include <string>

#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "export/stack_texts.h"
#include "export/wall_clock.h"
#include "gotrace/event.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// `time` as RFC 3339 in UTC, to the nanosecond without zeros at the end.
std::string FormatUtc(absl::Time time);

// The same with all nine digits of the nanoseconds.
std::string FormatUtcNanoseconds(absl::Time time);

// Formats the events of one Reader. Stacks are formatted once in each generation until their texts
// fill StackTexts::kMost bytes; further ones each time anew. Not thread-safe.
//
// The details of each kind stand in an object named as Event's accessor for them. Ids are numbers,
// with -1 for none; times are nanoseconds; wall-clock times are RFC 3339 in UTC.
class JsonFormatter {
 public:
  // Stacks are written only if `stacks` is set: they are most of the text. With `wall_clock`, which
  // must outlive the formatter and has seen each kSync event before the event is appended, events
  // have their wall-clock time as "wall" once it is known.
  explicit JsonFormatter(bool stacks, const WallClock* wall_clock = nullptr);

  // Appends `event` as an object and a newline. One that is marked with a fault tells it as
  // "fault".
  void Append(const Event& event, TextBuffer* out);

 private:
  void AppendDetails(const Event& event, JsonWriter* json);
  void AppendTransition(const StateTransition& transition, JsonWriter* json);
  void AppendStack(const Stack& stack, JsonWriter* json);

  const bool stacks_;
  const WallClock* const wall_clock_;
  StackTexts stack_texts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_JSON_JSON_H_
