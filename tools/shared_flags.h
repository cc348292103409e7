// Flags that several commands share, each as one row. A command includes the rows that it needs.
#ifndef GOTRACE_TOOLS_SHARED_FLAGS_H_
#define GOTRACE_TOOLS_SHARED_FLAGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/reader.h"
#include "gotrace/reader_limits.h"
#include "tools/flags.h"
#include "tools/open_trace.h"
#include "tools/salvage.h"

namespace gotrace::internal {

// Accepts wall-clock times with their zone, in RFC 3339.
SetFlag SetWallTime(std::optional<absl::Time>* wall);

// --json, for commands that print one JSON object for each file.
Flag JsonFlag(bool* json);

// -o FILE, for commands that write a trace.
Flag OutputFlag(std::string* target);

// --jobs=N. `help` says what the command uses several cores for.
Flag JobsFlag(absl::string_view help, uint64_t* jobs);

// --stack-id=pc|lines. Sets `*without_pc` to 0 or 1.
Flag StackIdFlag(size_t* without_pc);

// --salvage
Flag SalvageFlag(bool* salvage);

// Which trace of a file to read, and within which limits: --trace, --limits.
struct InputFlags {
  TraceNumber trace = 0;    // 0 if it was not given, and for --trace=all.
  bool all_traces = false;  // Whether --trace=all was given.
  ReaderLimits limits;

  // Commands that read raw events have no limit but that on decompressed bytes.
  enum class Kind { kOrderedEvents, kRawEvents };
  // Which traces of an input that holds several a command can read.
  enum class Traces { kOne, kOneOrAll, kAllByDefault };
  std::vector<Flag> Rows(Kind kind, Traces traces);
};

// How to read ordered events: --salvage, --jobs, --trace, --limits.
struct ReadingFlags {
  bool salvage = false;
  uint64_t jobs = 0;  // 0 for all cores.
  InputFlags input;

  // `jobs_help` says what the command uses several cores for, if not to put events in order on one
  // core while another processes them.
  std::vector<Flag> Rows(InputFlags::Traces traces,
                         absl::string_view jobs_help =
                             "Of a large trace, one core puts the events in order while another "
                             "processes them; more are not used.");

  // Returns the options for a Reader, which adds the faults that it salvages to `log`.
  ReaderOptions Options(FaultLog* log) const;
};

// Which events to take: --kind, --g, --p, --m, --from, --to.
struct FilterFlags {
  // What the flag for the last time is called, where --to is something else.
  absl::string_view to_name = "to";

  EventFilter filter;
  // The first and last wall-clock time, where --from and --to are given as such. They need a trace
  // with clock snapshots.
  std::optional<absl::Time> wall_from;
  std::optional<absl::Time> wall_to;
  // As they were given, for messages.
  std::string from;
  std::string to;

  std::vector<Flag> Rows();

  // Refuses a span of time that contains nothing.
  absl::Status Check() const;

  bool has_wall_times() const { return wall_from.has_value() || wall_to.has_value(); }
};

// Sets a list of ids of tasks.
SetFlag SetTaskIds(std::set<TaskId>* ids);

// Appends `more` to `rows`.
void AppendRows(std::vector<Flag> more, std::vector<Flag>* rows);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SHARED_FLAGS_H_
