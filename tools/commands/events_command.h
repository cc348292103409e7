// The command `events`: prints ordered events.
#ifndef GOTRACE_TOOLS_COMMANDS_EVENTS_COMMAND_H_
#define GOTRACE_TOOLS_COMMANDS_EVENTS_COMMAND_H_

#include <cstdint>
#include <limits>

#include "gotrace/reader.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/progress.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

struct EventsOptions {
  bool json = false;
  bool stacks = false;  // With `json`.
  bool wall = false;    // With `json`: wall-clock times too.
  FilterFlags filter;
  uint64_t limit = std::numeric_limits<uint64_t>::max();  // The maximum number of events to print.
  TraceNumber trace = 0;                                  // The number of the trace in the input.
  bool to_end = false;                                    // As in SelectionOptions.
};

struct EventsResult : SelectionResult {
  uint64_t printed = 0;  // How many events were printed.
};

// Reads a trace and prints the events that the options select. Stops early once no later event can
// be selected. Errors of writing are in the Output.
EventsResult DumpEvents(const EventsOptions& options, ReaderOptions reader_options,
                        Progress* progress, FileOutput* output);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_EVENTS_COMMAND_H_
