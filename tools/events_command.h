// The command `events`: prints ordered events.
#ifndef GOTRACE_TOOLS_EVENTS_COMMAND_H_
#define GOTRACE_TOOLS_EVENTS_COMMAND_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gotrace/reader.h"
#include "tools/open_trace.h"
#include "tools/per_file_command.h"
#include "tools/progress.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {

struct EventsOptions {
  bool json = false;
  bool stacks = false;  // With `json`.
  bool wall = false;    // With `json`: wall-clock times too.
  FilterFlags filter;
  uint64_t limit = std::numeric_limits<uint64_t>::max();  // How many events to print at most.
  TraceNumber trace = 0;                                  // Which trace of the input.
  // Continues after an event that is too late for the filter, since the times of a damaged trace
  // may be wrong.
  bool to_end = false;
};

struct EventsResult {
  absl::Status status;   // Why reading ended early, if it did.
  uint64_t events = 0;   // How many were read.
  uint64_t printed = 0;  // How many of them were printed.
  Losses losses;
  // If the filter has conditions: the times of the first event, and of the latest that was read.
  int64_t first_time = 0;
  int64_t last_time = 0;
  // If the filter has wall-clock times: the same times as such, if they are known, and whether any
  // event was between the two.
  std::optional<absl::Time> first_wall;
  std::optional<absl::Time> last_wall;
  bool within_wall = false;
  // The first generation whose frequency of the trace clock is not plausible, so that the times of
  // its events mean nothing.
  std::optional<GenerationInfo> timeless;
};

// Reads a trace and prints the events that the options select. Stops early once no later event can
// be selected. An error of writing is in the Output.
EventsResult DumpEvents(const EventsOptions& options, ReaderOptions reader_options,
                        Progress* progress, FileOutput* output);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_EVENTS_COMMAND_H_
