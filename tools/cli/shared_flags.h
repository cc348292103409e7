// Flags that several commands share, each as one row. A command includes the rows that it needs.
#ifndef GOTRACE_TOOLS_CLI_SHARED_FLAGS_H_
#define GOTRACE_TOOLS_CLI_SHARED_FLAGS_H_

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
#include "tools/cli/flags.h"
#include "tools/cli/report.h"
#include "tools/input/open_trace.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {

// Accepts wall-clock times with their zone, in RFC 3339.
SetFlag SetWallTime(std::optional<absl::Time>* wall);

// --json, for commands that print one JSON object for each file.
Flag JsonFlag(bool* json);

// -o FILE, for commands that write a trace.
Flag OutputFlag(std::string* target);

// Accepts numbers above 0, also as in 64M.
SetFlag SetAmount(uint64_t* amount);

// --jobs=N. `help` says how the command uses several cores.
Flag JobsFlag(absl::string_view help, uint64_t* jobs);

// --stack-id=pc|lines. Sets `*without_pc` to 0 or 1.
Flag StackIdFlag(size_t* without_pc);

// --func=REGEX, which selects goroutines by the function that they started in. `help` is the begin
// of a sentence that ends with it.
Flag StartFlag(absl::string_view help, std::string* pattern);

// --min=DURATION and --max=DURATION, which select by a length.
struct LengthFlags {
  std::optional<absl::Duration> min;
  std::optional<absl::Duration> max;

  // `what` is what they select: "Only waits".
  std::vector<Flag> Rows(absl::string_view what);

  bool is_set() const { return min.has_value() || max.has_value(); }

  // Returns whether the length, in nanoseconds, is between the two.
  bool Has(int64_t length) const;

  // Returns an error if no length is.
  absl::Status Check() const;
};

// --salvage
Flag SalvageFlag(bool* salvage);

// The flags --trace and --limits: the trace of a file to read, and the limits of reading.
struct InputFlags {
  TraceNumber trace = 0;    // 0 if it was not given, and for --trace=all.
  bool all_traces = false;  // Whether --trace=all was given.
  ReaderLimits limits;

  // Commands that read raw events have only the limit on decompressed bytes.
  enum class Kind { kOrderedEvents, kRawEvents };
  // The traces that a command can read from an input that holds several.
  enum class Traces { kOne, kOneOrAll, kAllByDefault };
  std::vector<Flag> Rows(Kind kind, Traces traces);
};

// The flags for reading ordered events: --salvage, --jobs, --trace, --limits.
struct ReadingFlags {
  bool salvage = false;
  uint64_t jobs = 0;  // 0 for all cores.
  InputFlags input;

  // `jobs_help` says how the command uses several cores, if not by ordering events on one core
  // while another processes them.
  std::vector<Flag> Rows(InputFlags::Traces traces,
                         absl::string_view jobs_help =
                             "Of a large trace, one core puts the events in order while another "
                             "processes them; more are not used.");

  // Returns the options for a Reader, which adds the faults that it salvages to `log`.
  ReaderOptions Options(FaultLog* log) const;

  // Returns the result of reading `file` with these options, whose status and counts are set, with
  // all that --salvage means for it: whether it was possible, or what was lost.
  FileResult Complete(FileResult result, const std::string& file, const FaultLog& log,
                      const Losses& losses) const;
};

// The flags that select events: --kind, --g, --p, --m, --from, --to; and --stack.
struct FilterFlags {
  // The name of the flag for the last time, for commands in which --to means something else.
  absl::string_view to_name = "to";  // "at" once --at is given.

  EventFilter filter;
  // The first and last wall-clock time, if --from and --to are wall-clock times. They require a
  // trace with clock snapshots.
  std::optional<absl::Time> wall_from;
  std::optional<absl::Time> wall_to;
  // The flags as given, for messages.
  std::string from;
  std::string to;

  std::vector<Flag> Rows();

  // Returns the row of --stack. `help` is what has to be in the stack: "Only waits".
  Flag StackRow(absl::string_view help);

  // Returns the row of --at, which names the end of the window, for a command that shows a moment.
  Flag AtRow(absl::string_view help);
  bool has_at() const;

  // Returns an error for an empty span of time.
  absl::Status Check() const;

  bool has_wall_times() const { return wall_from.has_value() || wall_to.has_value(); }
};

// Sets the id of a goroutine or a task.
template <class Id>
SetFlag SetId(std::optional<Id>* id) {
  return [=](absl::string_view text) {
    uint64_t number = 0;
    absl::Status status = SetNumber(0, &number)(text);
    if (status.ok()) *id = Id{static_cast<decltype(Id::value)>(number)};
    return status;
  };
}

// Sets a list of ids of tasks.
SetFlag SetTaskIds(std::set<TaskId>* ids);

// Appends `more` to `rows`.
void AppendRows(std::vector<Flag> more, std::vector<Flag>* rows);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_SHARED_FLAGS_H_
