// The sizes of the parts of a trace, for the command `footprint` of gotrace-dump.
#ifndef GOTRACE_TOOLS_COMMANDS_FOOTPRINT_H_
#define GOTRACE_TOOLS_COMMANDS_FOOTPRINT_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/trace_info.h"
#include "parser/framing/raw_reader.h"
#include "tools/cli/progress.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Like the functions of the same names in analysis/summary/footprint.h, but show the progress.
absl::Status CollectFootprint(RawReader* reader, Progress* progress, Footprint* footprint);
absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              Progress* progress, Footprint* footprint);

// Appends the footprint as a table, or as one JSON object on a line, which names `file`:
// docs/footprint.schema.json describes it.
void AppendFootprint(const Footprint& footprint, TextBuffer* out);
void AppendFootprintJson(absl::string_view file, const Footprint& footprint, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_FOOTPRINT_H_
