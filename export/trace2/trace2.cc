// How it works: a lock orders the lines of all threads. A signal handler must not wait for it, so
// that each target has a second formatter and buffer for the one line that a handler writes.
#include "gotrace/trace2.h"

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

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "export/trace2/trace2_destination.h"
#include "export/trace2/trace2_lines.h"
#include "export/trace2/trace2_session_id.h"
#include "util/text_buffer.h"

namespace gotrace {
namespace {

using internal::TextBuffer;
using internal::Trace2Destination;
using internal::Trace2Event;
using internal::Trace2Formatter;
using internal::Trace2Target;
using internal::Trace2Timer;
using internal::Trace2Type;

constexpr char kParentId[] = "GIT_TRACE2_PARENT_SID";
constexpr char kParentName[] = "GIT_TRACE2_PARENT_NAME";
constexpr absl::string_view kProgramScope = "command";
constexpr uint64_t kDefaultNesting = 2;

// The variable for each form, after their common beginning.
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

// Returns the number that the variable has, or 0.
uint64_t GetNumber(const std::string& name) {
  uint64_t number = 0;
  return absl::SimpleAtoi(GetVariable(name), &number) ? number : 0;
}

// Whether the variable is set to a value that git takes for true.
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

// A destination and the form of its lines.
struct Target {
  Target(Trace2Formatter::Style style, std::unique_ptr<Trace2Destination> opened)
      : formatter(style), signal_formatter(std::move(style)), destination(std::move(opened)) {
    // Reserves memory for a longer line than that of the signal.
    for (int i = 0; i < 4; ++i) {
      signal_formatter.Append({.type = Trace2Type::kSignal}, &signal_line);
    }
  }

  Trace2Formatter formatter;
  TextBuffer line;
  Trace2Formatter signal_formatter;
  TextBuffer signal_line;
  std::unique_ptr<Trace2Destination> destination;
};

struct OpenRegion {
  std::string category;
  std::string label;
  std::string message;
  uint64_t begin = 0;  // In nanoseconds since the start of the program.
};

struct ThreadState {
  std::string name;
  uint64_t begin = 0;  // In nanoseconds since the start of the program.
  std::vector<OpenRegion> regions;

  // How many regions are open, with the thread itself.
  uint64_t nesting() const { return 1 + regions.size(); }
};

// A category and a name.
using TotalKey = std::pair<std::string, std::string>;

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
    for (const FormVariable& form : kForms) Open(form, own);
  }

  bool has_targets() const { return !targets_.empty(); }
  const std::string& session_id() const { return session_id_; }

  void Begin(const Trace2Place& place) {
    setenv(kParentId, session_id_.c_str(), /*overwrite=*/1);
    threads_[std::this_thread::get_id()].name = "main";
    const std::lock_guard lock(mutex_);
    Write(Self(), {.type = Trace2Type::kVersion, .name = settings_.version}, place);
    for (const std::unique_ptr<Target>& target : targets_) {
      if (target->destination->too_many_files()) {
        WriteTo(*target, Complete(Self(), {.type = Trace2Type::kTooManyFiles}, place));
      }
    }
  }

  void End() {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self();
    while (!self.regions.empty()) LeaveRegionOf(self, {});
    for (const auto& [key, timer] : timers_) {
      Write(self,
            {.type = Trace2Type::kTimer, .category = key.first, .name = key.second, .timer = timer},
            {});
    }
    for (const auto& [key, count] : counters_) {
      Write(
          self,
          {.type = Trace2Type::kCounter, .category = key.first, .name = key.second, .count = count},
          {});
    }
    Write(self, {.type = Trace2Type::kAtExit, .code = exit_code_}, {});
  }

  // Writes an event of the calling thread.
  void Write(const Trace2Event& event, const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    Write(Self(), event, place);
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
    Write(Self(), {.type = Trace2Type::kExit, .code = code}, place);
  }

  void WriteSignal(int signal_number) {
    if (has_signal_.exchange(true)) return;
    Trace2Event event = {.type = Trace2Type::kSignal,
                         .time = ReadClock(CLOCK_REALTIME),
                         .since_start = SinceStart(),
                         .code = signal_number};
    for (const std::unique_ptr<Target>& target : targets_) {
      target->signal_line.clear();
      target->signal_formatter.Append(event, &target->signal_line);
      target->destination->WriteInSignalHandler(target->signal_line.view());
    }
  }

  void EnterRegion(absl::string_view category, absl::string_view label, absl::string_view message,
                   const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self();
    OpenRegion region = {std::string(category), std::string(label), std::string(message),
                         SinceStart()};
    WriteRegion(Trace2Type::kRegionEnter, self, region, place);
    self.regions.push_back(std::move(region));
  }

  void LeaveRegion(const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    LeaveRegionOf(Self(), place);
  }

  void WriteData(absl::string_view category, absl::string_view key, absl::string_view value,
                 const Trace2Place& place) {
    const std::lock_guard lock(mutex_);
    ThreadState& self = Self();
    const uint64_t begin = self.regions.empty() ? self.begin : self.regions.back().begin;
    Write(self,
          {.type = Trace2Type::kData,
           .elapsed = SinceStart() - begin,
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
    ThreadState& self = Self();
    while (!self.regions.empty()) LeaveRegionOf(self, place);
    Write(self, {.type = Trace2Type::kThreadExit, .elapsed = SinceStart() - self.begin}, place);
    threads_.erase(std::this_thread::get_id());
  }

  void AddInterval(absl::string_view category, absl::string_view name, absl::Duration duration) {
    const std::lock_guard lock(mutex_);
    timers_[TotalKey(category, name)].Add(
        static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Nanoseconds(duration), 0)));
  }

  void AddCount(absl::string_view category, absl::string_view name, uint64_t count) {
    const std::lock_guard lock(mutex_);
    counters_[TotalKey(category, name)] += count;
  }

 private:
  void Open(const FormVariable& form, const std::string& file_name) {
    const std::string& variables = settings_.variables;
    Trace2Target target;
    target.variable = absl::StrCat(variables, form.suffix);
    target.value = GetVariable(target.variable);
    target.file_name = file_name;
    target.max_files = GetNumber(absl::StrCat(variables, "_MAX_FILES"));
    target.tells_errors = GetNumber(absl::StrCat(variables, "_DST_DEBUG")) > 0;
    target.on_warning = settings_.on_warning;
    Trace2Formatter::Style style;
    style.form = form.form;
    style.brief = IsTrue(absl::StrCat(target.variable, "_BRIEF"));
    if (form.form == Trace2Form::kEvent) {
      style.nesting = GetNumber(absl::StrCat(target.variable, "_NESTING"));
      if (style.nesting == 0) style.nesting = kDefaultNesting;
    }
    style.zone = absl::LocalTimeZone();
    style.session_id = session_id_;
    std::unique_ptr<Trace2Destination> destination = Trace2Destination::Open(std::move(target));
    if (destination == nullptr) return;
    targets_.push_back(std::make_unique<Target>(std::move(style), std::move(destination)));
  }

  // In nanoseconds.
  uint64_t SinceStart() const {
    return static_cast<uint64_t>(absl::ToInt64Nanoseconds(ReadClock(CLOCK_MONOTONIC) - start_));
  }

  // Returns the state of the calling thread.
  ThreadState& Self() {
    const auto thread = threads_.find(std::this_thread::get_id());
    return thread != threads_.end() ? thread->second : StartThreadLocked("unnamed", {});
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

  // Adds what all events have.
  Trace2Event Complete(const ThreadState& thread, Trace2Event event,
                       const Trace2Place& place) const {
    event.thread = thread.name;
    event.time = ReadClock(CLOCK_REALTIME);
    event.file = place.file;
    event.line = static_cast<uint64_t>(place.line);
    event.nesting = thread.nesting();
    event.since_start = SinceStart();
    return event;
  }

  void Write(const ThreadState& thread, const Trace2Event& event, const Trace2Place& place) {
    const Trace2Event complete = Complete(thread, event, place);
    for (const std::unique_ptr<Target>& target : targets_) WriteTo(*target, complete);
  }

  static void WriteTo(Target& target, const Trace2Event& event) {
    target.line.clear();
    target.formatter.Append(event, &target.line);
    if (target.line.size() > 0) target.destination->Write(target.line.view());
  }

  Trace2Settings settings_;
  const absl::Time start_ = ReadClock(CLOCK_MONOTONIC);
  std::string session_id_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::atomic<bool> has_signal_ = false;

  std::mutex mutex_;  // Guards the formatters and what follows.
  std::map<std::thread::id, ThreadState> threads_;
  uint64_t started_threads_ = 0;  // Without the main thread.
  std::map<TotalKey, Trace2Timer> timers_;
  std::map<TotalKey, uint64_t> counters_;
  int exit_code_ = 0;
};

std::unique_ptr<Trace2> Trace2::Start(Trace2Settings settings, Trace2Place place) {
  // Most runs are not traced, and cost no more than this.
  const bool is_wanted =
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
  const std::vector<absl::string_view> views(arguments.begin(), arguments.end());
  state_->Write({.type = Trace2Type::kStart, .arguments = views}, place);
}

void Trace2::WriteCommandName(absl::string_view name, Trace2Place place) {
  state_->WriteCommandName(name, place);
}

void Trace2::WriteCommandMode(absl::string_view mode, Trace2Place place) {
  state_->Write({.type = Trace2Type::kCommandMode, .name = mode}, place);
}

void Trace2::WriteParameter(absl::string_view name, absl::string_view value, Trace2Place place) {
  state_->Write(
      {.type = Trace2Type::kParameter, .category = kProgramScope, .name = name, .text = value},
      place);
}

void Trace2::WriteError(absl::string_view message, absl::string_view format, Trace2Place place) {
  state_->Write({.type = Trace2Type::kError, .name = format, .text = message}, place);
}

void Trace2::WriteExit(int code, Trace2Place place) { state_->WriteExit(code, place); }

void Trace2::WriteSignal(int signal_number) { state_->WriteSignal(signal_number); }

void Trace2::EnterRegion(absl::string_view category, absl::string_view label,
                         absl::string_view message, Trace2Place place) {
  state_->EnterRegion(category, label, message, place);
}

void Trace2::LeaveRegion(Trace2Place place) { state_->LeaveRegion(place); }

void Trace2::WriteData(absl::string_view category, absl::string_view key, absl::string_view value,
                       Trace2Place place) {
  state_->WriteData(category, key, value, place);
}

void Trace2::WriteData(absl::string_view category, absl::string_view key, uint64_t value,
                       Trace2Place place) {
  state_->WriteData(category, key, absl::StrCat(value), place);
}

void Trace2::StartThread(absl::string_view name, Trace2Place place) {
  state_->StartThread(name, place);
}

void Trace2::ExitThread(Trace2Place place) { state_->ExitThread(place); }

void Trace2::AddInterval(absl::string_view category, absl::string_view name,
                         absl::Duration duration) {
  state_->AddInterval(category, name, duration);
}

void Trace2::AddCount(absl::string_view category, absl::string_view name, uint64_t count) {
  state_->AddCount(category, name, count);
}

const std::string& Trace2::session_id() const { return state_->session_id(); }

}  // namespace gotrace
