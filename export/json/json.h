// Formats events as JSON, one object per line. docs/commands.md lists the members.
#ifndef GOTRACE_EXPORT_JSON_JSON_H_
#define GOTRACE_EXPORT_JSON_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "export/stack_texts.h"
#include "gotrace/event.h"
#include "gotrace/event_times.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Formats `time` as RFC 3339 in UTC, to the nanosecond without trailing zeros.
std::string FormatUtc(absl::Time time);

// Formats `time` as RFC 3339 in UTC, with all nine digits of the nanoseconds.
std::string FormatUtcNanoseconds(absl::Time time);

// Formats the events of one Reader. Each stack is formatted once per generation, until their texts
// reach StackTexts::kMaxSize bytes; further stacks are formatted each time. Not thread-safe.
//
// The details of each kind are in an object named like Event's accessor for them. Ids are numbers,
// with -1 for none; times are in nanoseconds; wall-clock times are RFC 3339 in UTC.
class JsonFormatter {
 public:
  // Stacks are written only if `stacks` is set: they are most of the text. With `times`, which
  // must outlive the formatter and has seen each kSync event before the event is appended, events
  // have their wall-clock time as "wall" once it is known. If `file` is not "", each event begins
  // with the members of AppendFileMembers().
  explicit JsonFormatter(bool stacks, const EventTimes* times = nullptr,
                         absl::string_view file = "");

  // Appends `event` as an object and a newline. The fault of a marked event is the member "fault".
  void Append(const Event& event, TextBuffer* out);

 private:
  void AppendDetails(const Event& event, JsonWriter* json);
  void AppendTransition(const StateTransition& transition, JsonWriter* json);
  void AppendStack(const Stack& stack, JsonWriter* json);

  const bool stacks_;
  const EventTimes* const times_;
  std::string file_members_;  // As text, or "".
  StackTexts stack_texts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_JSON_JSON_H_
