// What the commands `events`, `wire` and `assemble` of gotrace-dump do.
#ifndef GOTRACE_TOOLS_DUMP_H_
#define GOTRACE_TOOLS_DUMP_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "export/event_filter.h"
#include "gotrace/byte_stream.h"
#include "gotrace/reader.h"
#include "parser/framing/raw_reader.h"
#include "tools/open_trace.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tracev2/wire_writer.h"

namespace gotrace::internal {

struct EventsOptions {
  bool json = false;
  bool stacks = false;  // With `json`.
  bool wall = false;    // With `json`: wall-clock times too.
  EventFilter filter;
  // The first and the last wall-clock time of the events to print. A trace without clock snapshots
  // is refused where one is set.
  std::optional<absl::Time> wall_from;
  std::optional<absl::Time> wall_to;
  int64_t limit = std::numeric_limits<int64_t>::max();  // How many events to print at most.
  TraceNumber trace = 0;                                // Which trace of the input.
  // Reads on where the filter calls all later events too late: a damaged trace may say so wrongly.
  bool to_end = false;
};

struct EventsResult {
  absl::Status status;  // The failure of reading, if any.
  uint64_t events = 0;  // That were read, printed or not.
  Losses losses;
  // Where the filter has conditions: the times of the first event and of the latest that was read.
  int64_t first_time = 0;
  int64_t last_time = 0;
  // Where EventsOptions has wall-clock times: the same as such, if they are known, and whether any
  // event lay between them.
  std::optional<absl::Time> first_wall;
  std::optional<absl::Time> last_wall;
  bool within_wall = false;
  // The first generation whose frequency of the trace clock is not plausible, so that the times of
  // its events mean nothing.
  std::optional<GenerationInfo> timeless;
};

// Reads the trace in `file` and prints the events that the options ask for. Stops early where no
// further one can be printed; the failure of writing stands in `out`.
EventsResult DumpEvents(const std::string& file, ReaderOptions reader_options,
                        const EventsOptions& options, Progress* progress, Output* out);

// Prints the raw events of `reader`, behind a header line if `header` is set. Returns the failure
// of reading, if any.
absl::Status DumpWire(RawReader* reader, bool header, Progress* progress, Output* out);

// Reads the text form of a trace from `text` and writes the trace. An error of the text is a
// DataLossError that tells its line; one of writing stands in `out`. Sets `*warning` to what makes
// the trace one that cannot be read, if something does.
absl::Status AssembleTrace(ByteStream* text, BatchSizeForm form, Progress* progress, Output* out,
                           std::string* warning);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_DUMP_H_
