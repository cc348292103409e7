// What takes how many bytes of a trace: the command `footprint` of gotrace-dump.
#ifndef GOTRACE_TOOLS_FOOTPRINT_H_
#define GOTRACE_TOOLS_FOOTPRINT_H_

#include <array>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/read_mode.h"
#include "parser/framing/raw_reader.h"
#include "tools/progress.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

struct Footprint {
  struct Share {
    uint64_t bytes = 0;
    uint64_t count = 0;
  };

  std::array<Share, 256> by_type;  // Index by the type's value on the wire.
  uint64_t bytes = 0;              // Of the trace, its header too, as far as it was read.
  uint64_t events = 0;
  absl::Status status;  // What reading ended with.
  Losses losses;        // What was not counted.
};

// Adds up the raw events of `reader` into `*footprint`. Returns the failure of reading, if any;
// which then stands in `footprint->status` too; what stood before it is counted.
absl::Status CollectFootprint(RawReader* reader, Progress* progress, Footprint* footprint);

// The same for a trace that may be damaged: counts what can be read of it. `source` must stand at
// the trace's beginning. Faults are told to `on_fault`; the status returned is for a header that
// cannot be read and for errors of I/O.
absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              Progress* progress, Footprint* footprint);

// Appends the footprint as a table, or as one JSON object on a line, which names `file`:
// docs/footprint.schema.json describes it.
void AppendFootprint(const Footprint& footprint, TextBuffer* out);
void AppendFootprintJson(absl::string_view file, const Footprint& footprint, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_FOOTPRINT_H_
