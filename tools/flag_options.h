// What the flags of gotrace-dump ask of the commands.
#ifndef GOTRACE_TOOLS_FLAG_OPTIONS_H_
#define GOTRACE_TOOLS_FLAG_OPTIONS_H_

#include "absl/status/statusor.h"
#include "gotrace/reader_limits.h"
#include "tools/command_line.h"
#include "tools/dump.h"
#include "tools/open_trace.h"
#include "tools/validate.h"

namespace gotrace::internal {

// Each reads the flags that ParseCommandLine() has set. An error is an InvalidArgumentError that
// names the flag, and tells which values it takes.

// What --format, --stacks, --limit, --salvage and the conditions on events ask of `events`.
absl::StatusOr<EventsOptions> EventsOptionsFromFlags();

// What --trace asks for: 0 if it was not given.
TraceNumber TraceFromFlags();

// What --limits sets, and of all others the values they have without. For a `command` that reads
// raw events there is no limit but that on decompressed bytes.
absl::StatusOr<ReaderLimits> LimitsFromFlags(Command command);

// What --strictness, --max-per-check, --jobs and --json ask of `validate`. Its paths and limits are
// left as they are by default.
absl::StatusOr<ValidateCommand> ValidateCommandFromFlags();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_FLAG_OPTIONS_H_
