// The events of Git's Trace2, and their three forms as text.
#ifndef GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_
#define GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "export/json/json_text.h"
#include "gotrace/trace2_exporter.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// In the order of the table in trace2_lines.cc.
enum class Trace2Type : uint8_t {
  kVersion,       // `name` is the version of the program.
  kTooManyFiles,  // The directory of the output has as many files as it may have.
  kStart,         // `arguments`
  kExit,          // `code`
  kAtExit,        // `code`
  kSignal,        // `code` is its number.
  kError,         // `text` is the message, `name` its format.
  kCommandName,   // `name`, `text` is the hierarchy: those of the programs that called it, too.
  kCommandMode,   // `name`
  kParameter,     // `category` is its scope, `name`, `text` its value.
  kChildStart,    // `id`, `name` is its class, `arguments`
  kChildExit,     // `id`, `code`, `elapsed` since it started.
  kThreadStart,
  kThreadExit,     // `elapsed` since it started.
  kRegionEnter,    // `category`, `name` is its label, `text` a message.
  kRegionLeave,    // The same, and `elapsed` since it was entered.
  kData,           // `category`, `name` is a key, `text` its value, `elapsed` as of the region.
  kThreadTimer,    // `category`, `name`, `timer`
  kTimer,          // The same for all threads.
  kThreadCounter,  // `category`, `name`, `count`
  kCounter,        // The same for all threads.
};

// Durations in nanoseconds.
struct Trace2Timer {
  uint64_t intervals = 0;
  uint64_t total = 0;
  uint64_t min = std::numeric_limits<uint64_t>::max();
  uint64_t max = 0;

  void Add(uint64_t duration);
};

// An event with what its type needs, see Trace2Type.
struct Trace2Event {
  Trace2Type type = Trace2Type::kVersion;
  absl::string_view thread = "main";
  absl::Time time = {};
  absl::string_view file = {};  // The place in the program; "" if unknown.
  uint64_t line = 0;

  // How many regions are open around it. The thread itself counts as one.
  uint64_t nesting = 1;

  uint64_t since_start = 0;  // In nanoseconds, since the start of the program.
  uint64_t elapsed = 0;      // In nanoseconds.
  uint64_t id = 0;
  int64_t code = 0;
  absl::string_view category = {};
  absl::string_view name = {};
  absl::string_view text = {};
  absl::Span<const absl::string_view> arguments = {};
  uint64_t count = 0;
  Trace2Timer timer = {};
};

// Writes events as lines of one form. Not thread-safe. Append() allocates no memory except in the
// buffer and for places, so that a signal handler can call it for an event without a place if the
// buffer is large enough.
class Trace2Formatter {
 public:
  struct Style {
    Trace2Form form = Trace2Form::kNormal;
    bool brief = false;
    uint64_t nesting = 0;    // The highest in the event form; 0 for no limit.
    absl::TimeZone zone;     // Of the normal and the perf form.
    std::string session_id;  // For the event form.
  };

  explicit Trace2Formatter(Style style);

  // Appends the line of `event` to `*out`. Does nothing if the form has none.
  void Append(const Trace2Event& event, TextBuffer* out);

 private:
  // Appends the time, to the microsecond.
  void AppendTime(absl::Time time, TextBuffer* out);
  void AppendPerfColumns(const Trace2Event& event, TextBuffer* out);
  void AppendCommonMembers(const Trace2Event& event, JsonWriter* json);

  const Style style_;
  const uint64_t depth_;                                  // How many programs called this one.
  int64_t second_ = std::numeric_limits<int64_t>::min();  // What `second_text_` shows.
  ShortText<24> second_text_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TRACE2_TRACE2_LINES_H_
