// The three forms of the events of Git's Trace2 as text.
#ifndef GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_
#define GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_

#include <cstdint>
#include <limits>

#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "gotrace/trace2_event.h"
#include "gotrace/trace2_exporter.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Writes events as lines of one form. Not thread-safe. Append() allocates no memory except in the
// buffer, so that a signal handler can call it for the event kSignal if the buffer is large enough.
class Trace2Formatter {
 public:
  struct Style {
    Trace2Form form = Trace2Form::kNormal;
    bool brief = false;
    uint64_t nesting = 0;  // The limit in the event form; 0 for none.
    absl::TimeZone zone;   // Of the normal and the perf form.
  };

  explicit Trace2Formatter(Style style) : style_(style) {}

  // Appends the line of `event` to `*out`. Does nothing if the form has none.
  void Append(const Trace2Event& event, TextBuffer* out);

 private:
  // Appends the time, to the microsecond.
  void AppendTime(absl::Time time, TextBuffer* out);
  void AppendPerfColumns(const Trace2Event& event, TextBuffer* out);
  void AppendCommonMembers(const Trace2Event& event, JsonWriter* json);

  const Style style_;
  int64_t second_ = std::numeric_limits<int64_t>::min();  // What `second_text_` shows.
  ShortText<24> second_text_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_
