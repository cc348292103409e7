// How it works: each function makes one event from its arguments, and passes it to all targets. A
// lock orders the events of all threads. A signal handler must not wait for the lock, so the
// targets that write lines have a second formatter and buffer for the one line that a handler
// writes.
#include "gotrace/trace2.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "export/trace2/trace2_destination.h"
#include "export/trace2/trace2_lines.h"
#include "export/trace2/trace2_session_id.h"
#include "util/text_buffer.h"

namespace gotrace {
namespace {

using internal::TextBuffer;
using internal::Trace2Destination;
using internal::Trace2DestinationOptions;
using internal::Trace2Formatter;

constexpr char kParentId[] = "GIT_TRACE2_PARENT_SID";
constexpr char kParentName[] = "GIT_TRACE2_PARENT_NAME";
constexpr absl::string_view kProgramScope = "command";
constexpr absl::string_view kEnvironmentScope = "environment";
constexpr uint64_t kDefaultNesting = 2;

// The variable for each form, without the common prefix.
struct FormVariable {
  Trace2Form form;
  absl::string_view suffix;
};
constexpr FormVariable kForms[] = {
    {Trace2Form::kNormal, ""}, {Trace2Form::kPerf, "_PERF"}, {Trace2Form::kEvent, "_EVENT"}};

std::string GetVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// Returns the value of the variable as a number, or 0.
uint64_t GetNumber(const std::string& name) {
  uint64_t number = 0;
  return absl::SimpleAtoi(GetVariable(name), &number) ? number : 0;
}

// Returns whether the variable is set to a value that git treats as true.
bool IsTrue(const std::string& name) {
  const std::string value = GetVariable(name);
  int64_t number = 0;
  if (absl::SimpleAtoi(value, &number)) return number != 0;
  return absl::EqualsIgnoreCase(value, "true") || absl::EqualsIgnoreCase(value, "yes") ||
         absl::EqualsIgnoreCase(value, "on");
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

// Unlike absl::Now(), may be called in a signal handler.
absl::Time ReadClock(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return absl::TimeFromTimespec(time);
}

// Writes the lines of a form to a destination.
class LineTarget final : public Trace2Target {
 public:
  LineTarget(Trace2Formatter::Style style, absl::string_view session_id,
             std::unique_ptr<Trace2Destination> destination)
      : formatter_(style), signal_formatter_(style), destination_(std::move(destination)) {
    // Reserves memory for a longer line than that of a signal.
    const std::string file(2048, 'x');
    signal_formatter_.Append({.type = Trace2Type::kSignal, .session_id = session_id, .file = file},
                             &signal_line_);
  }

  void Write(const Trace2Event& event) override {
    line_.clear();
    formatter_.Append(event, &line_);
    if (line_.size() > 0) destination_->Write(line_.view());
    if (event.type == Trace2Type::kVersion && destination_->too_many_files()) {
      Trace2Event notice = event;
      notice.type = Trace2Type::kTooManyFiles;
      Write(notice);
    }
  }

  void WriteInSignalHandler(const Trace2Event& event) override {
    signal_line_.clear();
    signal_formatter_.Append(event, &signal_line_);
    destination_->WriteInSignalHandler(signal_line_.view());
  }

 private:
  Trace2Formatter formatter_;
  TextBuffer line_;
  Trace2Formatter signal_formatter_;
  TextBuffer signal_line_;
  const std::unique_ptr<Trace2Destination> destination_;
};

// Sums by category and name, and the place where the first value was added.
template <class Sum>
struct Total {
  Sum sum = {};
  Trace2Place place;
};
template <class Sum>
using Totals = std::map<std::pair<std::string, std::string>, Total<Sum>>;

// The values of timers and counters.
struct Values {
  Totals<Trace2Timer> timers;
  Totals<uint64_t> counters;
};

template <class Sum>
Sum& SumOf(Totals<Sum>& totals, absl::string_view category, absl::string_view name,
           const Trace2Place& place) {
  return totals
      .try_emplace(std::pair<std::string, std::string>(category, name), Total<Sum>{{}, place})
      .first->second.sum;
}

struct OpenRegion {
  std::string category;
  std::string label;
  std::string message;
  uint64_t begin = 0;  // In nanoseconds since the start of the program.
  uint64_t repository = 0;
};

struct ThreadState {
  std::string name;
  uint64_t begin = 0;  // In nanoseconds since the start of the program.
  std::vector<OpenRegion> regions;
  uint64_t repository = 0;  // From UseRepository().
  Values values;            // Used if they are wanted for each thread.

  // Returns the number of open regions, counting the thread itself as one.
  uint64_t nesting() const { return 1 + regions.size(); }
};

std::vector<absl::string_view> ViewsOf(absl::Span<const std::string> texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

class Trace2::State {
 public:
  explicit State(Trace2Settings settings) : settings_(std::move(settings)) {
    if (settings_.on_warning == nullptr) {
      settings_.on_warning = [program = settings_.program](absl::string_view message) {
        const std::string line = absl::StrCat(program, ": ", message, "\n");
        std::fputs(line.c_str(), stderr);
      };
    }
    const std::string parent = GetVariable(kParentId);
    const std::string own = internal::Trace2SessionId(ReadClock(CLOCK_REALTIME), HostName(),
                                                      static_cast<uint32_t>(getpid()));
    session_id_ = parent.empty() ? own : absl::StrCat(parent, "/", own);
    targets_ = settings_.targets;
    for (const FormVariable& form : kForms) Open(form, own);
  }

  bool has_targets() const { return !targets_.empty(); }
  const std::string& session_id() const { return session_id_; }

  void Begin(const Trace2Place& place) {
    setenv(kParentId, session_id_.c_str(), /*overwrite=*/1);
    threads_[std::this_thread::get_id()].name = "main";
    last_place_ = place;
    Write({.type = Trace2Type::kVersion, .name = settings_.version}, place);
  }

  void End() {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self(last_place_);
    while (!self.regions.empty()) LeaveRegionOf(self, last_place_);
    WriteValues(self, self.values, Trace2Type::kThreadTimer, Trace2Type::kThreadCounter);
    WriteValues(self, values_, Trace2Type::kTimer, Trace2Type::kCounter);
    Write(self, {.type = Trace2Type::kAtExit, .code = exit_code_}, last_place_);
  }

  // Writes an event of the calling thread.
  void Write(const Trace2Event& event, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    Write(Self(place), event, place);
  }

  void WriteStart(absl::Span<const std::string> arguments, const Trace2Place& place) {
    Write({.type = Trace2Type::kStart, .arguments = ViewsOf(arguments)}, place);
    const std::string names = GetVariable(absl::StrCat(settings_.variables, "_ENV_VARS"));
    for (const absl::string_view name : absl::StrSplit(names, ',', absl::SkipWhitespace())) {
      const std::string variable(absl::StripAsciiWhitespace(name));
      const char* const value = std::getenv(variable.c_str());
      if (value != nullptr) WriteParameter(kEnvironmentScope, variable, value, place);
    }
  }

  void WriteParameter(absl::string_view scope, absl::string_view name, absl::string_view value,
                      const Trace2Place& place) {
    Write({.type = Trace2Type::kParameter, .category = scope, .name = name, .text = value}, place);
  }

  void WriteSettings(absl::string_view scope,
                     absl::Span<const std::pair<std::string, std::string>> settings,
                     const Trace2Place& place) {
    const std::string variable = GetVariable(absl::StrCat(settings_.variables, "_CONFIG_PARAMS"));
    std::vector<std::string> patterns = absl::StrSplit(variable, ',', absl::SkipWhitespace());
    for (std::string& pattern : patterns) absl::StripAsciiWhitespace(&pattern);
    for (const auto& [name, value] : settings) {
      const bool is_wanted =
          std::any_of(patterns.begin(), patterns.end(), [&name = name](const std::string& pattern) {
            return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
          });
      if (is_wanted) WriteParameter(scope, name, value, place);
    }
  }

  void WriteCommandName(absl::string_view name, const Trace2Place& place) {
    const std::string parent = GetVariable(kParentName);
    const std::string hierarchy = absl::StrCat(parent, parent.empty() ? "" : "/", name);
    setenv(kParentName, hierarchy.c_str(), /*overwrite=*/1);
    Write({.type = Trace2Type::kCommandName, .name = name, .text = hierarchy}, place);
  }

  void WriteExit(int code, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    exit_code_ = code;
    last_place_ = place;
    Write(Self(place), {.type = Trace2Type::kExit, .code = code}, place);
  }

  void WriteSignal(int signal_number, const Trace2Place& place) {
    if (has_signal_.exchange(true)) return;
    const Trace2Event event = {.type = Trace2Type::kSignal,
                               .session_id = session_id_,
                               .time = ReadClock(CLOCK_REALTIME),
                               .since_start = SinceStart(),
                               .file = place.file,
                               .line = static_cast<uint64_t>(place.line),
                               .code = signal_number};
    for (const auto& target : targets_) target->WriteInSignalHandler(event);
  }

  uint64_t StartChild(absl::Span<const std::string> arguments, const Trace2Child& child,
                      const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = next_child_++;
    children_[id] = SinceStart();
    Write(Self(place),
          {.type = Trace2Type::kChildStart,
           .id = id,
           .name = child.hook.empty() ? child.child_class : "hook",
           .text = child.hook,
           .directory = child.directory,
           .uses_shell = child.uses_shell,
           .arguments = ViewsOf(arguments)},
          place);
    return id;
  }

  // Writes that a child ended, or is left running.
  void EndChild(Trace2Event event, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    const auto child = children_.find(event.id);
    if (child == children_.end()) return;
    event.elapsed = SinceStart() - child->second;
    children_.erase(child);
    Write(Self(place), event, place);
  }

  uint64_t WriteExec(absl::string_view program, absl::Span<const std::string> arguments,
                     const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = next_exec_++;
    Write(Self(place),
          {.type = Trace2Type::kExec, .id = id, .name = program, .arguments = ViewsOf(arguments)},
          place);
    return id;
  }

  uint64_t AddRepository(absl::string_view directory, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self(place);
    self.repository = ++repositories_;
    Write(self, {.type = Trace2Type::kRepository, .repository = self.repository, .name = directory},
          place);
    return self.repository;
  }

  void UseRepository(uint64_t repository, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    Self(place).repository = repository;
  }

  void EnterRegion(absl::string_view category, absl::string_view label, absl::string_view message,
                   const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self(place);
    OpenRegion region = {std::string(category), std::string(label), std::string(message),
                         SinceStart(), self.repository};
    WriteRegion(Trace2Type::kRegionEnter, self, region, place);
    self.regions.push_back(std::move(region));
  }

  void LeaveRegion(const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    LeaveRegionOf(Self(place), place);
  }

  void WriteData(Trace2Type type, absl::string_view category, absl::string_view key,
                 absl::string_view value, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self(place);
    const uint64_t begin = self.regions.empty() ? self.begin : self.regions.back().begin;
    Write(self,
          {.type = type,
           .elapsed = SinceStart() - begin,
           .repository = self.repository,
           .category = category,
           .name = key,
           .text = value},
          place);
  }

  void StartThread(absl::string_view name, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    StartThreadLocked(name, place);
  }

  void ExitThread(const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self(place);
    while (!self.regions.empty()) LeaveRegionOf(self, place);
    WriteValues(self, self.values, Trace2Type::kThreadTimer, Trace2Type::kThreadCounter);
    Write(self, {.type = Trace2Type::kThreadExit, .elapsed = SinceStart() - self.begin}, place);
    threads_.erase(std::this_thread::get_id());
  }

  void AddInterval(absl::string_view category, absl::string_view name, absl::Duration duration,
                   const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Nanoseconds(duration), 0));
    SumOf(values_.timers, category, name, place).Add(ns);
    if (settings_.values_of_threads) {
      SumOf(Self(place).values.timers, category, name, place).Add(ns);
    }
  }

  void AddCount(absl::string_view category, absl::string_view name, uint64_t count,
                const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    SumOf(values_.counters, category, name, place) += count;
    if (settings_.values_of_threads) {
      SumOf(Self(place).values.counters, category, name, place) += count;
    }
  }

 private:
  void Open(const FormVariable& form, const std::string& file_name) {
    const std::string& variables = settings_.variables;
    Trace2DestinationOptions options;
    options.variable = absl::StrCat(variables, form.suffix);
    options.value = GetVariable(options.variable);
    options.file_name = file_name;
    options.max_files = GetNumber(absl::StrCat(variables, "_MAX_FILES"));
    options.tells_errors = GetNumber(absl::StrCat(variables, "_DST_DEBUG")) > 0;
    options.on_warning = settings_.on_warning;
    Trace2Formatter::Style style;
    style.form = form.form;
    style.brief = IsTrue(absl::StrCat(options.variable, "_BRIEF"));
    if (form.form == Trace2Form::kEvent) {
      style.nesting = GetNumber(absl::StrCat(options.variable, "_NESTING"));
      if (style.nesting == 0) style.nesting = kDefaultNesting;
    }
    style.zone = absl::LocalTimeZone();
    std::unique_ptr<Trace2Destination> destination = Trace2Destination::Open(std::move(options));
    if (destination == nullptr) return;
    targets_.push_back(std::make_shared<LineTarget>(style, session_id_, std::move(destination)));
  }

  // In nanoseconds.
  uint64_t SinceStart() const {
    return static_cast<uint64_t>(absl::ToInt64Nanoseconds(ReadClock(CLOCK_MONOTONIC) - start_));
  }

  // Returns the state of the calling thread, which executes `place`.
  ThreadState& Self(const Trace2Place& place) {
    const auto thread = threads_.find(std::this_thread::get_id());
    return thread != threads_.end() ? thread->second : StartThreadLocked("unnamed", place);
  }

  ThreadState& StartThreadLocked(absl::string_view name, const Trace2Place& place) {
    ThreadState& self = threads_[std::this_thread::get_id()];
    const uint64_t number = ++started_threads_;
    self.name = absl::StrCat(number < 10 ? "th0" : "th", number, ":", name);
    self.begin = SinceStart();
    Write(self, {.type = Trace2Type::kThreadStart}, place);
    return self;
  }

  void WriteRegion(Trace2Type type, const ThreadState& thread, const OpenRegion& region,
                   const Trace2Place& place) {
    Write(thread,
          {.type = type,
           .elapsed = SinceStart() - region.begin,
           .repository = region.repository,
           .category = region.category,
           .name = region.label,
           .text = region.message},
          place);
  }

  void LeaveRegionOf(ThreadState& thread, const Trace2Place& place) {
    if (thread.regions.empty()) return;
    const OpenRegion region = std::move(thread.regions.back());
    thread.regions.pop_back();
    WriteRegion(Trace2Type::kRegionLeave, thread, region, place);
  }

  void WriteValues(const ThreadState& thread, const Values& values, Trace2Type timer_type,
                   Trace2Type counter_type) {
    for (const auto& [key, timer] : values.timers) {
      Write(thread,
            {.type = timer_type, .category = key.first, .name = key.second, .timer = timer.sum},
            timer.place);
    }
    for (const auto& [key, counter] : values.counters) {
      Write(thread,
            {.type = counter_type, .category = key.first, .name = key.second, .count = counter.sum},
            counter.place);
    }
  }

  // Adds the members that all events have, and writes the event.
  void Write(const ThreadState& thread, Trace2Event event, const Trace2Place& place) {
    event.session_id = session_id_;
    event.thread = thread.name;
    event.time = ReadClock(CLOCK_REALTIME);
    event.since_start = SinceStart();
    event.file = place.file;
    event.line = static_cast<uint64_t>(place.line);
    event.nesting = thread.nesting();
    for (const auto& target : targets_) target->Write(event);
  }

  Trace2Settings settings_;
  const absl::Time start_ = ReadClock(CLOCK_MONOTONIC);
  std::string session_id_;
  std::vector<std::shared_ptr<Trace2Target>> targets_;
  std::atomic<bool> has_signal_ = false;

  std::mutex mutex_;  // Guards the targets, except in signal handlers, and the members below.
  std::map<std::thread::id, ThreadState> threads_;
  uint64_t started_threads_ = 0;           // Without the main thread.
  std::map<uint64_t, uint64_t> children_;  // The start times of running children.
  uint64_t next_child_ = 0;
  uint64_t next_exec_ = 0;
  uint64_t repositories_ = 0;
  Values values_;
  int exit_code_ = 0;
  Trace2Place last_place_;  // The place of WriteExit() or, before that, of Start().
};

std::unique_ptr<Trace2> Trace2::Start(Trace2Settings settings, Trace2Place place) {
  // Most runs are not traced, and cost no more than this.
  const bool is_wanted =
      !settings.targets.empty() ||
      std::any_of(std::begin(kForms), std::end(kForms), [&](const FormVariable& form) {
        return !GetVariable(absl::StrCat(settings.variables, form.suffix)).empty();
      });
  if (!is_wanted) return nullptr;
  auto state = std::make_unique<State>(std::move(settings));
  if (!state->has_targets()) return nullptr;
  state->Begin(place);
  return std::unique_ptr<Trace2>(new Trace2(std::move(state)));
}

Trace2::Trace2(std::unique_ptr<State> state) : state_(std::move(state)) {}

Trace2::~Trace2() { state_->End(); }

void Trace2::WriteStart(absl::Span<const std::string> arguments, Trace2Place place) {
  state_->WriteStart(arguments, place);
}

void Trace2::WriteCommandPath(absl::string_view path, Trace2Place place) {
  state_->Write({.type = Trace2Type::kCommandPath, .name = path}, place);
}

void Trace2::WriteCommandAncestry(absl::Span<const std::string> names, Trace2Place place) {
  state_->Write({.type = Trace2Type::kCommandAncestry, .arguments = ViewsOf(names)}, place);
}

void Trace2::WriteCommandName(absl::string_view name, Trace2Place place) {
  state_->WriteCommandName(name, place);
}

void Trace2::WriteCommandMode(absl::string_view mode, Trace2Place place) {
  state_->Write({.type = Trace2Type::kCommandMode, .name = mode}, place);
}

void Trace2::WriteAlias(absl::string_view alias, absl::Span<const std::string> arguments,
                        Trace2Place place) {
  state_->Write({.type = Trace2Type::kAlias, .name = alias, .arguments = ViewsOf(arguments)},
                place);
}

void Trace2::WriteParameter(absl::string_view name, absl::string_view value, Trace2Place place) {
  state_->WriteParameter(kProgramScope, name, value, place);
}

void Trace2::WriteSettings(absl::string_view scope,
                           absl::Span<const std::pair<std::string, std::string>> settings,
                           Trace2Place place) {
  state_->WriteSettings(scope, settings, place);
}

void Trace2::WriteError(absl::string_view message, absl::string_view format, Trace2Place place) {
  state_->Write({.type = Trace2Type::kError, .name = format, .text = message}, place);
}

void Trace2::WriteMessage(absl::string_view message, Trace2Place place) {
  state_->Write({.type = Trace2Type::kMessage, .text = message}, place);
}

void Trace2::WriteExit(int code, Trace2Place place) { state_->WriteExit(code, place); }

void Trace2::WriteSignal(int signal_number, Trace2Place place) {
  state_->WriteSignal(signal_number, place);
}

uint64_t Trace2::StartChild(absl::Span<const std::string> arguments, const Trace2Child& child,
                            Trace2Place place) {
  return state_->StartChild(arguments, child, place);
}

void Trace2::ExitChild(uint64_t id, int64_t process, int code, Trace2Place place) {
  state_->EndChild({.type = Trace2Type::kChildExit, .id = id, .process = process, .code = code},
                   place);
}

void Trace2::LeaveChild(uint64_t id, int64_t process, Trace2Readiness readiness,
                        Trace2Place place) {
  constexpr absl::string_view kNames[] = {"ready", "timeout", "error"};
  state_->EndChild({.type = Trace2Type::kChildReady,
                    .id = id,
                    .process = process,
                    .text = kNames[static_cast<size_t>(readiness)]},
                   place);
}

uint64_t Trace2::WriteExec(absl::string_view program, absl::Span<const std::string> arguments,
                           Trace2Place place) {
  return state_->WriteExec(program, arguments, place);
}

void Trace2::WriteExecResult(uint64_t id, int error, Trace2Place place) {
  state_->Write({.type = Trace2Type::kExecResult, .id = id, .code = error}, place);
}

uint64_t Trace2::AddRepository(absl::string_view directory, Trace2Place place) {
  return state_->AddRepository(directory, place);
}

void Trace2::UseRepository(uint64_t repository, Trace2Place place) {
  state_->UseRepository(repository, place);
}

void Trace2::EnterRegion(absl::string_view category, absl::string_view label,
                         absl::string_view message, Trace2Place place) {
  state_->EnterRegion(category, label, message, place);
}

void Trace2::LeaveRegion(Trace2Place place) { state_->LeaveRegion(place); }

void Trace2::WriteData(absl::string_view category, absl::string_view key, absl::string_view value,
                       Trace2Place place) {
  state_->WriteData(Trace2Type::kData, category, key, value, place);
}

void Trace2::WriteData(absl::string_view category, absl::string_view key, uint64_t value,
                       Trace2Place place) {
  state_->WriteData(Trace2Type::kData, category, key, absl::StrCat(value), place);
}

void Trace2::WriteJson(absl::string_view category, absl::string_view key, absl::string_view json,
                       Trace2Place place) {
  state_->WriteData(Trace2Type::kDataJson, category, key, json, place);
}

void Trace2::StartThread(absl::string_view name, Trace2Place place) {
  state_->StartThread(name, place);
}

void Trace2::ExitThread(Trace2Place place) { state_->ExitThread(place); }

void Trace2::AddInterval(absl::string_view category, absl::string_view name,
                         absl::Duration duration, Trace2Place place) {
  state_->AddInterval(category, name, duration, place);
}

void Trace2::AddCount(absl::string_view category, absl::string_view name, uint64_t count,
                      Trace2Place place) {
  state_->AddCount(category, name, count, place);
}

const std::string& Trace2::session_id() const { return state_->session_id(); }

}  // namespace gotrace
