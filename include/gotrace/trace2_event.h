// The events of Git's Trace2, and targets, which a program can implement to receive the events of
// its own runs: see gotrace/trace2.h.
#ifndef GOTRACE_TRACE2_EVENT_H_
#define GOTRACE_TRACE2_EVENT_H_

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace gotrace {

// The types of events. The comments list the members of Trace2Event that an event has in addition
// to the common ones.
enum class Trace2Type : uint8_t {
  kVersion,          // `name` is the version of the program. Always the first event.
  kTooManyFiles,     // The output directory has the maximum number of files. Targets of the
                     // program's own do not get this event.
  kStart,            // `arguments` of the program, which begin with its name.
  kExit,             // `code`: the program is about to end.
  kAtExit,           // `code`. Always the last event, unless a signal ends the program.
  kSignal,           // `code` is the number of the signal that ends the program.
  kError,            // `text` is the message, `name` is its format.
  kCommandPath,      // `name` is the path of the program.
  kCommandAncestry,  // `arguments` are the names of the calling programs, nearest first.
  kCommandName,      // `name`, `text` is the hierarchy: also the names of the calling programs.
  kCommandMode,      // `name`
  kAlias,            // `name` of the alias, `arguments` that it stands for.
  kChildStart,       // `id`, `name` is its class, `text` the hook, `arguments`, `directory`,
                     // `uses_shell`
  kChildExit,        // `id`, `process`, `code`, `elapsed` since it started.
  kChildReady,       // `id`, `process`, `text` is "ready", "timeout" or "error", `elapsed`
  kExec,             // `id`, `name` is the program, `arguments`
  kExecResult,       // `id`, `code` is an errno: the program could not be executed.
  kParameter,        // `category` is its scope, `name`, `text` its value.
  kRepository,       // `repository`, `name` is its directory.
  kThreadStart,      // Nothing else.
  kThreadExit,       // `elapsed` since the thread started.
  kRegionEnter,      // `category`, `name` is its label, `text` a message, `repository`
  kRegionLeave,      // The same, and `elapsed` since it was entered.
  kData,             // `category`, `name` is a key, `text` its value, `repository`, `elapsed` since
                     // the innermost region, or the thread, began.
  kDataJson,         // The same; the value is JSON.
  kMessage,          // `text`
  kThreadTimer,      // `category`, `name`, `timer` of one thread.
  kTimer,            // The same for all threads.
  kThreadCounter,    // `category`, `name`, `count` of one thread.
  kCounter,          // The same for all threads.
};

// Returns the name of a type in git's documentation, such as "child_start". Static lifetime.
absl::string_view Trace2TypeName(Trace2Type type);

// The measurements of a timer. Durations are in nanoseconds.
struct Trace2Timer {
  // Adds an interval of `duration`.
  void Add(uint64_t duration);

  uint64_t intervals = 0;
  uint64_t total = 0;
  uint64_t min = std::numeric_limits<uint64_t>::max();
  uint64_t max = 0;
};

// An event. The texts are valid as long as the function runs that is given the event.
struct Trace2Event {
  // All events have these.
  Trace2Type type = Trace2Type::kVersion;
  absl::string_view session_id = {};  // With the callers' ids before it: "CALLER/OWN".
  absl::string_view thread = "main";
  absl::Time time = {};
  uint64_t since_start = 0;     // In nanoseconds, since the start of the program.
  absl::string_view file = {};  // The place in the program; "" if unknown.
  uint64_t line = 0;
  uint64_t nesting = 1;  // How many regions are open around it. The thread itself counts as one.

  // Only some types have these, see Trace2Type.
  uint64_t elapsed = 0;     // In nanoseconds.
  uint64_t repository = 0;  // 0 for none.
  uint64_t id = 0;
  int64_t process = 0;  // The id of the process.
  int64_t code = 0;
  absl::string_view category = {};
  absl::string_view name = {};
  absl::string_view text = {};
  absl::string_view directory = {};
  bool uses_shell = false;
  absl::Span<const absl::string_view> arguments = {};
  uint64_t count = 0;
  Trace2Timer timer = {};
};

// Gets the events of a trace, for a format or a destination of the program's own.
class Trace2Target {
 public:
  virtual ~Trace2Target() = default;

  // Takes the next event. There is one call at a time, on the thread that causes the event. The
  // function must not use the trace.
  virtual void Write(const Trace2Event& event) = 0;

  // Takes the event kSignal in the handler of a signal, possibly while Write() is running. It must
  // be async-signal-safe. Does nothing by default.
  virtual void WriteInSignalHandler(const Trace2Event& event);
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE2_EVENT_H_
