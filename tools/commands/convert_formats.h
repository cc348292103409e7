// The formats that `convert` writes, one row each, and the flags that only some of them have.
#ifndef GOTRACE_TOOLS_COMMANDS_CONVERT_FORMATS_H_
#define GOTRACE_TOOLS_COMMANDS_CONVERT_FORMATS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/chrome_exporter.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/fxt_exporter.h"
#include "gotrace/perfetto_exporter.h"
#include "tools/cli/flags.h"

namespace gotrace::internal {

// The options of a conversion. Exporters get all events of the generations from the one that
// contains the filter's first time to the one that contains its last time.
struct ConvertOptions {
  EventFilter filter;         // Only with absolute times.
  EventFilter::Times window;  // The requested times, which a survey may narrow.
  int64_t trace_start = 0;    // The origin of relative times in the output.

  // Called with remarks for the user about the result; see PerfettoOptions::on_note.
  std::function<void(absl::string_view)> on_note;

  // Set by the flags of formats.
  static constexpr absl::string_view kNoProcessName = "Go program";
  std::string process_name{kNoProcessName};
  bool has_process_name() const { return process_name != kNoProcessName; }
  int32_t pid = 1;
  std::map<size_t, absl::Duration> offsets;  // By the number of the file, from 1.
  int64_t time_offset = 0;                   // Added to all times, in nanoseconds.
  ChromeFile* chrome_file = nullptr;         // The file to which a trace is added, if it is shared.
  bool stacks = false;
  bool threads = false;
  bool alloc = false;
  PerfettoOptions perfetto;
  FxtOptions fxt;
  ChromeOptions chrome;
  bool chrome_shows_tasks = false;    // Selects the view of tasks, which has lanes of goroutines.
  bool chrome_shows_related = false;  // Shows related goroutines too.
  // Not a Trace2Options, which would look up the local time zone for every command.
  bool trace2_brief = false;
  uint64_t trace2_nesting = 0;
  std::optional<absl::Time> trace2_epoch;
};

struct ConvertFormat {
  absl::string_view name;  // The value of --to.
  absl::string_view help;  // Its purpose, in a few words.
  bool is_binary = false;  // Whether the output is binary.
  bool joins = false;      // Whether a file can have several traces.
  // Returns a sink that must receive all events before the exporter is made, and that sets members
  // of `*options` when it finishes; nullptr if these options need none. The function is nullptr if
  // no options need one.
  std::unique_ptr<EventSink> (*make_survey)(ConvertOptions* options) = nullptr;
  // Returns an exporter that writes to `*out`, without finishing it.
  std::unique_ptr<EventSink> (*make_exporter)(ByteSink* out, const ConvertOptions& options);
};

absl::Span<const ConvertFormat> ConvertFormats();

// Returns an error if the values of the flags cannot be combined, or OK.
absl::Status CheckFormatFlags(const ConvertOptions& options, const EventFilter& filter);

// Returns the flags that only some formats have, as Flag::needs states. They set members of
// `*options`.
std::vector<Flag> FormatFlags(ConvertOptions* options);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_CONVERT_FORMATS_H_
