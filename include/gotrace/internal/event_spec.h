// The layout of each event type on the wire: the table into which events.def expands.
#ifndef GOTRACE_INTERNAL_EVENT_SPEC_H_
#define GOTRACE_INTERNAL_EVENT_SPEC_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"

namespace gotrace::internal {

// One past the highest wire value of any version.
inline constexpr int kEventTypeEnd = 137;

// One past the highest experiment id known.
inline constexpr int kExperimentEnd = 2;

// The layout of an event (FORMAT.md §7, §8).
enum class EventForm : uint8_t {
  kTimed,       // [type, dt, arguments]: in event batches; returned to the user of the reader.
  kStructural,  // [type, arguments]: framing and tables.
  kData,        // Structural, then a length and that many bytes.
  kStack,       // Structural, then four varints (pc, func, file, line) for each of `nframes`.
};

// The meaning of an argument's value, given by the part of its name after the last underscore.
enum class ArgType : uint8_t {
  kRaw,              // A number described only by its name: "id", "freq", "kindclass".
  kTimeDelta,        // "dt": trace clock ticks since the thread's previous event.
  kSequenceNumber,   // "seq": of a goroutine, a P or the GC.
  kProcStatus,       // "pstatus": a ProcStatus.
  kGoroutineStatus,  // "gstatus": a GoStatus.
  kGoroutine,        // "g": a goroutine id.
  kThread,           // "m": a thread id; all ones for no thread.
  kProc,             // "p": a P's id.
  kString,           // "string": an id in the generation's string table, 0 for "".
  kStack,            // "stack": an id in the generation's stack table, 0 for no stack.
  kValue,            // "value": a plain quantity.
  kTask,             // "task": a task id, 0 for none or the background task.
};

// Returns the type of the argument called `name`.
constexpr ArgType ArgTypeOf(absl::string_view name) {
  struct Row {
    absl::string_view suffix;
    ArgType type;
  };
  constexpr Row kRows[] = {
      {"dt", ArgType::kTimeDelta},
      {"seq", ArgType::kSequenceNumber},
      {"pstatus", ArgType::kProcStatus},
      {"gstatus", ArgType::kGoroutineStatus},
      {"g", ArgType::kGoroutine},
      {"m", ArgType::kThread},
      {"p", ArgType::kProc},
      {"string", ArgType::kString},
      {"stack", ArgType::kStack},
      {"value", ArgType::kValue},
      {"task", ArgType::kTask},
  };
  size_t underscore = absl::string_view::npos;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_') underscore = i;
  }
  if (underscore != absl::string_view::npos) name = name.substr(underscore + 1);
  for (const Row& row : kRows) {
    if (row.suffix == name) return row.type;
  }
  return ArgType::kRaw;
}

// One event type. All text has static lifetime.
struct EventSpec {
  static constexpr int kMaxArgs = kMaxTimedArgs;
  static constexpr int8_t kNoArg = -1;

  EventType type = EventType::kNone;
  absl::string_view name;                     // As the text form spells it.
  uint32_t since = 0;                         // The NN of the first version, 1.NN, that has it.
  EventForm form = EventForm::kStructural;    //
  Experiment experiment = Experiment::kNone;  //
  EventType start = EventType::kNone;         // For the end of a range: the type of its beginning.
  uint8_t arg_count = 0;                      // Including "dt".
  const char* arg_names[kMaxArgs] = {};       // As the text form spells them.
  ArgType arg_types[kMaxArgs] = {};           //
  int8_t stack_arg = kNoArg;                  // The argument with the executing context's stack.
  int8_t other_stack_arg = kNoArg;            // With another goroutine's stack (new_stack).

  bool timed() const { return form == EventForm::kTimed; }
  absl::Span<const char* const> args() const { return absl::MakeConstSpan(arg_names, arg_count); }
};

// Returns the row of `type`, or nullptr if no version has such an event.
const EventSpec* FindEventSpec(EventType type);

// Returns the row of the event called `name` (exact case), or nullptr.
const EventSpec* FindEventSpec(absl::string_view name);

// Returns every row, in order of wire values.
absl::Span<const EventSpec> AllEventSpecs();

// Returns whether traces of `version` may have such events. Since Go 1.23, the runtime writes
// experimental events if an experiment is enabled.
bool VersionHas(Version version, const EventSpec& spec);

// Returns whether `go tool trace -d=wire` of Go 1.27 prints such events for a trace of `version`.
// It supports experimental events only in version 1.26, although they exist since 1.23.
bool GoToolPrints(Version version, const EventSpec& spec);

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_EVENT_SPEC_H_
