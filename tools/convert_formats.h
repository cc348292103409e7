// The formats that `convert` writes: a row for each, and rows for the flags that they bring.
#ifndef GOTRACE_TOOLS_CONVERT_FORMATS_H_
#define GOTRACE_TOOLS_CONVERT_FORMATS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "tools/flags.h"

namespace gotrace::internal {

// What to write. Exporters get all events from the beginning of the generation in which the
// filter's first time is, to the first event after its last time.
struct ConvertOptions {
  EventFilter filter;       // Only with absolute times.
  int64_t trace_start = 0;  // The time of the trace's first event.

  // Set by the flags of formats.
  size_t chrome_view = 0;
  bool trace2_brief = false;
  uint64_t trace2_nesting = 0;
  std::optional<absl::Time> trace2_epoch;
};

struct ConvertFormat {
  absl::string_view name;  // The value of --to.
  absl::string_view help;  // What it is for, in a few words.
  bool is_binary = false;  // Whether it is nothing for a terminal.
  // Returns an exporter that writes to `*out`, without finishing it.
  std::unique_ptr<EventSink> (*make_exporter)(ByteSink* out, const ConvertOptions& options);
};

absl::Span<const ConvertFormat> ConvertFormats();

// Returns the flags that only some of the formats have, which Flag::needs says. They set members of
// `*options`.
std::vector<Flag> FormatFlags(ConvertOptions* options);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CONVERT_FORMATS_H_
