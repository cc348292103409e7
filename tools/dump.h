// What the commands `events`, `wire` and `assemble` of gotrace-dump do.
#ifndef GOTRACE_TOOLS_DUMP_H_
#define GOTRACE_TOOLS_DUMP_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "export/event_filter.h"
#include "parser/byte_stream.h"
#include "parser/raw_reader.h"
#include "parser/reader.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tracev2/wire_writer.h"

namespace gotrace {

struct EventsOptions {
  bool json = false;
  bool stacks = false;  // With `json`.
  EventFilter filter;
  int64_t limit = std::numeric_limits<int64_t>::max();  // How many events to print at most.
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

}  // namespace gotrace

#endif  // GOTRACE_TOOLS_DUMP_H_
