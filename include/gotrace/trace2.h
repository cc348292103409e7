// Lets a program trace its own runs in the formats of Git's Trace2, for tools that read them.
// docs/trace2.md describes the traces of gotrace-dump, which uses this.
//
//   int main(int argc, char** argv) {
//     gotrace::Trace2Settings settings;
//     settings.program = "myprog";
//     settings.variables = "MYPROG_TRACE2";
//     const std::unique_ptr<gotrace::Trace2> trace = gotrace::Trace2::Start(settings);
//     if (trace != nullptr) trace->WriteStart(std::vector<std::string>(argv, argv + argc));
//     const int code = Run(trace.get());
//     if (trace != nullptr) trace->WriteExit(code);
//     return code;
//   }
//
//   int Run(gotrace::Trace2* trace) {
//     const gotrace::Trace2Region region(trace, "myprog", "run");
//     ...
//   }
//
// Unless an environment variable requests a trace, or the program has targets of its own, Start()
// returns nullptr, and the only cost is to test the pointer.
#ifndef GOTRACE_TRACE2_H_
#define GOTRACE_TRACE2_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/trace2_event.h"

namespace gotrace {

// The name and version of a program, and the environment variables that it reads.
struct Trace2Settings {
  // The name and version.
  std::string program;
  std::string version = "unknown";

  // The prefix of the names of the environment variables. With "MYPROG_TRACE2" the variables are
  //   MYPROG_TRACE2, MYPROG_TRACE2_PERF, MYPROG_TRACE2_EVENT: where to write each format,
  //   the same with _BRIEF at the end: whether to leave out times and places,
  //   MYPROG_TRACE2_EVENT_NESTING: how deeply regions are nested in the event format, by default 2,
  //   MYPROG_TRACE2_ENV_VARS: environment variables to write as parameters, separated by commas,
  //   MYPROG_TRACE2_CONFIG_PARAMS: patterns of settings to write, see Trace2::WriteSettings(),
  //   MYPROG_TRACE2_MAX_FILES: how many files a directory may have,
  //   MYPROG_TRACE2_DST_DEBUG: whether to report errors of writing,
  // with the same values as git's variables GIT_TRACE2 and so on.
  std::string variables;

  // Targets of the program's own, which get all events, whatever the values of the variables.
  std::vector<std::shared_ptr<Trace2Target>> targets;

  // Whether timers and counters are also written for each thread, when it exits.
  bool values_of_threads = false;

  // Called for a destination that cannot be parsed and, if _DST_DEBUG is set, for a destination
  // that cannot be opened or written. It must not use the trace. The default prints to the standard
  // error.
  std::function<void(absl::string_view message)> on_warning;
};

// A place in the source code of the program, which each line of the trace names. As a default
// argument, Trace2Place::Here() is the place of the call.
struct Trace2Place {
  // Returns the place of the call, if no arguments are given.
  static constexpr Trace2Place Here(const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file = "";
  int line = 0;
};

// How a program calls a child process.
struct Trace2Child {
  // The kind of program, such as "editor" or "pager".
  absl::string_view child_class = "?";

  // If this is not empty, the child is the hook of this name, and its class is "hook".
  absl::string_view hook = "";

  // The directory in which it runs; "" for that of the program.
  absl::string_view directory = "";

  // Whether a shell interprets its arguments.
  bool uses_shell = false;
};

// Whether a child that runs in the background has begun its work.
enum class Trace2Readiness : uint8_t {
  kReady,
  kTimeout,  // Not ready within some time.
  kError,    // It is not known.
};

// The trace of one run. Thread-safe. Each event is written to each destination immediately, as one
// line. After an error nothing more is written to that destination.
//
// Each function writes the event that its comment names, unless it says otherwise. `place` is the
// place in the source code; by default the place of the call.
class Trace2 {
 public:
  // Begins the trace if an environment variable requests one or `settings` has targets: reads the
  // variables, opens the destinations, and writes the event `version`. Returns nullptr if there is
  // neither a destination nor a target.
  //
  // Like git, reads the environment variable GIT_TRACE2_PARENT_SID and sets it for programs that
  // this one calls, so that tools know the caller of each: the trace of a program that git calls
  // belongs to git's trace. Call this before other threads are started.
  static std::unique_ptr<Trace2> Start(Trace2Settings settings,
                                       Trace2Place place = Trace2Place::Here());

  // Leaves the regions that are open on this thread, and writes timers, counters and the event
  // `atexit`, with the code of WriteExit(), or 0. No thread may use the object any longer.
  ~Trace2();

  Trace2(const Trace2&) = delete;
  Trace2& operator=(const Trace2&) = delete;

  // Writes how the program was called: `start`, and `def_param` for each environment variable that
  // the variable _ENV_VARS lists, in the scope "environment". `arguments` begins with the name of
  // the program.
  void WriteStart(absl::Span<const std::string> arguments, Trace2Place place = Trace2Place::Here());

  // Writes the path of the program: `cmd_path`.
  void WriteCommandPath(absl::string_view path, Trace2Place place = Trace2Place::Here());

  // Writes the names of the programs that called this one, nearest first: `cmd_ancestry`.
  void WriteCommandAncestry(absl::Span<const std::string> names,
                            Trace2Place place = Trace2Place::Here());

  // Writes the command of the program that runs, such as "commit" of git: `cmd_name`. Like git,
  // appends it to the environment variable GIT_TRACE2_PARENT_NAME, for programs that this one
  // calls. Call this before other threads are started. If the arguments are wrong, git uses the
  // name "_usage_".
  void WriteCommandName(absl::string_view name, Trace2Place place = Trace2Place::Here());

  // Writes the mode in which the command runs: `cmd_mode`.
  void WriteCommandMode(absl::string_view mode, Trace2Place place = Trace2Place::Here());

  // Writes an alias that was used, and the arguments that it stands for: `alias`.
  void WriteAlias(absl::string_view alias, absl::Span<const std::string> arguments,
                  Trace2Place place = Trace2Place::Here());

  // Writes a flag of the command line, or another parameter of the run, and its value: `def_param`
  // with the scope "command".
  void WriteParameter(absl::string_view name, absl::string_view value,
                      Trace2Place place = Trace2Place::Here());

  // Writes the settings (names and values) whose names match a pattern in the variable
  // _CONFIG_PARAMS: `def_param` for each. Patterns are separated by commas and have the syntax of a
  // shell, such as "core.*". `scope` is where the settings come from, such as "system", "global" or
  // "local".
  void WriteSettings(absl::string_view scope,
                     absl::Span<const std::pair<std::string, std::string>> settings,
                     Trace2Place place = Trace2Place::Here());

  // Writes an error message: `error`. `format` is the message without the parts that differ between
  // errors of the same kind, such as names of files; tools group errors by it.
  void WriteError(absl::string_view message, absl::string_view format,
                  Trace2Place place = Trace2Place::Here());

  // Writes a message for people: `printf`.
  void WriteMessage(absl::string_view message, Trace2Place place = Trace2Place::Here());

  // Writes that the program is about to end, and keeps the code and the place for the event
  // `atexit`: `exit`.
  void WriteExit(int code, Trace2Place place = Trace2Place::Here());

  // Writes that a signal is about to end the program: `signal`. It may be called in the handler of
  // the signal: it takes no locks and allocates no memory. Does nothing when called again.
  void WriteSignal(int signal_number, Trace2Place place = Trace2Place::Here());

  // Writes that a child process is about to be started: `child_start`. Returns an id for it.
  uint64_t StartChild(absl::Span<const std::string> arguments, const Trace2Child& child = {},
                      Trace2Place place = Trace2Place::Here());

  // Writes that the child `id` of StartChild() has ended, or could not be started: `child_exit`.
  // `process` is its process id, and `code` its exit code; both are -1 if it could not be started.
  // Does nothing if `child_exit` or `child_ready` was already written for the child.
  void ExitChild(uint64_t id, int64_t process, int code, Trace2Place place = Trace2Place::Here());

  // Writes that the program leaves the child `id` running in the background: `child_ready`. Does
  // nothing if `child_exit` or `child_ready` was already written for the child.
  void LeaveChild(uint64_t id, int64_t process, Trace2Readiness readiness,
                  Trace2Place place = Trace2Place::Here());

  // Writes that the program is about to be replaced by another one: `exec`. `program` may be "" if
  // it is the first of `arguments`. Returns an id for WriteExecResult(). If the program is
  // replaced, the trace just ends.
  uint64_t WriteExec(absl::string_view program, absl::Span<const std::string> arguments,
                     Trace2Place place = Trace2Place::Here());

  // Writes that the program of WriteExec() could not be executed: `exec_result`. `error` is the
  // errno.
  void WriteExecResult(uint64_t id, int error, Trace2Place place = Trace2Place::Here());

  // Writes that the program works on the repository in `directory`: `def_repo`. Calls
  // UseRepository() with its id, and returns the id.
  uint64_t AddRepository(absl::string_view directory, Trace2Place place = Trace2Place::Here());

  // Assigns all further regions and data of the calling thread to `repository`, an id from
  // AddRepository(), or 0 for none.
  void UseRepository(uint64_t repository, Trace2Place place = Trace2Place::Here());

  // Enters a region, a part of the work of the calling thread; regions can be nested:
  // `region_enter`. `message` may be "". Trace2Region does both.
  void EnterRegion(absl::string_view category, absl::string_view label, absl::string_view message,
                   Trace2Place place = Trace2Place::Here());

  // Leaves the innermost region of the calling thread: `region_leave`. Does nothing if none is
  // open.
  void LeaveRegion(Trace2Place place = Trace2Place::Here());

  // Writes a value that describes the open region, or the thread: `data`.
  void WriteData(absl::string_view category, absl::string_view key, absl::string_view value,
                 Trace2Place place = Trace2Place::Here());
  void WriteData(absl::string_view category, absl::string_view key, uint64_t value,
                 Trace2Place place = Trace2Place::Here());

  // Like WriteData(), for a value in JSON: `data_json`. `json` is not checked, except that control
  // characters, such as line breaks between its parts, are written as blanks.
  void WriteJson(absl::string_view category, absl::string_view key, absl::string_view json,
                 Trace2Place place = Trace2Place::Here());

  // Write that the calling thread joins or leaves the trace: `thread_start` and `thread_exit`.
  // Trace2Thread does both. The thread that called Start() is part of the trace from the beginning,
  // with the name "main". Any other thread that writes to the trace without having called
  // StartThread() has the name "unnamed". Names need not be unique.
  void StartThread(absl::string_view name, Trace2Place place = Trace2Place::Here());
  void ExitThread(Trace2Place place = Trace2Place::Here());

  // Adds an interval of time to a timer. At the end, the number of intervals, their sum, minimum
  // and maximum are written, with the place of the first one: `timer`. Trace2Interval measures the
  // time.
  void AddInterval(absl::string_view category, absl::string_view name, absl::Duration duration,
                   Trace2Place place = Trace2Place::Here());

  // Adds to a counter. At the end, its value is written, with the place of the first call:
  // `counter`.
  void AddCount(absl::string_view category, absl::string_view name, uint64_t count,
                Trace2Place place = Trace2Place::Here());

  // Returns the id of the session, preceded by the ids of the programs that called this one.
  const std::string& session_id() const;

 private:
  class State;

  explicit Trace2(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

// Enters a region, and leaves it at the end of the scope. Does nothing if `trace` is nullptr.
class Trace2Region {
 public:
  // Enters the region, as Trace2::EnterRegion() does.
  Trace2Region(Trace2* trace, absl::string_view category, absl::string_view label,
               absl::string_view message = "", Trace2Place place = Trace2Place::Here())
      : trace_(trace), place_(place) {
    if (trace_ != nullptr) trace_->EnterRegion(category, label, message, place);
  }
  Trace2Region(const Trace2Region&) = delete;
  Trace2Region& operator=(const Trace2Region&) = delete;
  ~Trace2Region() { Leave(); }

  // Leaves the region before the end of the scope.
  void Leave() {
    if (trace_ != nullptr) trace_->LeaveRegion(place_);
    trace_ = nullptr;
  }

 private:
  Trace2* trace_;
  const Trace2Place place_;
};

// Makes the calling thread part of the trace until the end of the scope. Does nothing if `trace` is
// nullptr.
class Trace2Thread {
 public:
  // Makes the thread part of the trace, as Trace2::StartThread() does.
  Trace2Thread(Trace2* trace, absl::string_view name, Trace2Place place = Trace2Place::Here())
      : trace_(trace), place_(place) {
    if (trace_ != nullptr) trace_->StartThread(name, place);
  }
  Trace2Thread(const Trace2Thread&) = delete;
  Trace2Thread& operator=(const Trace2Thread&) = delete;
  ~Trace2Thread() {
    if (trace_ != nullptr) trace_->ExitThread(place_);
  }

 private:
  Trace2* const trace_;
  const Trace2Place place_;
};

// Adds the time of a scope to a timer. Does nothing if `trace` is nullptr. The texts must outlive
// the object.
class Trace2Interval {
 public:
  // Begins to measure the time.
  Trace2Interval(Trace2* trace, absl::string_view category, absl::string_view name,
                 Trace2Place place = Trace2Place::Here())
      : trace_(trace), category_(category), name_(name), place_(place) {
    if (trace_ != nullptr) begin_ = Clock::now();
  }
  Trace2Interval(const Trace2Interval&) = delete;
  Trace2Interval& operator=(const Trace2Interval&) = delete;
  ~Trace2Interval() {
    if (trace_ != nullptr) {
      trace_->AddInterval(category_, name_, absl::FromChrono(Clock::now() - begin_), place_);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  Trace2* const trace_;
  const absl::string_view category_;
  const absl::string_view name_;
  const Trace2Place place_;
  Clock::time_point begin_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE2_H_
