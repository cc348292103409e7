// The contents of a trace in numbers, for the command `info` of gotrace-dump.
#ifndef GOTRACE_TOOLS_COMMANDS_INFO_H_
#define GOTRACE_TOOLS_COMMANDS_INFO_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/reader.h"
#include "gotrace/trace_info.h"
#include "tools/cli/progress.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Reads all of `reader` into `*info`, and shows the progress. Returns the failure of reading, if
// any, and also stores it in `info->status`.
absl::Status CollectInfo(Reader* reader, Progress* progress, TraceInfo* info);

// Appends the information as text, or as one JSON object on a line, which names `file`:
// docs/info.schema.json describes it.
void AppendInfo(const TraceInfo& info, TextBuffer* out);
void AppendInfoJson(absl::string_view file, const TraceInfo& info, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_INFO_H_
