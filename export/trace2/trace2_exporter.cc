// How it works: each goroutine has a state, and its open regions. From the first time of the filter
// on, lines are written as events come. The line that starts a thread comes as soon as the function
// of the goroutine is known, and in any case before its other lines. The function is part of the
// thread's name in each line, so lines from before it is known are held back for a while, along
// with everything after them.
#include "gotrace/trace2_exporter.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "export/text_sink.h"
#include "export/trace2/trace2_lines.h"
#include "export/trace2/trace2_session_id.h"
#include "gotrace/event_times.h"
#include "gotrace/ids.h"
#include "util/dense_table.h"
#include "util/id_set.h"
#include "util/open_stack.h"

namespace gotrace {
namespace {

using internal::DenseTable;
using internal::IdSet;
using internal::OpenStack;
using internal::TextSink;
using internal::Trace2Formatter;

constexpr absl::string_view kBackgroundCategory = "background";

// The maximum number of lines that are held back until the name of the first one's thread is known.
constexpr size_t kMaxHeldLines = 4096;

// Years have four digits. Only damaged traces have later times.
const absl::Time kMaxTime = absl::FromUnixSeconds(253'402'300'799);

// The counters, for each thread and for the whole program.
enum Counter { kCreated, kUnblocked, kCounterEnd };
constexpr absl::string_view kCounterNames[kCounterEnd] = {"created", "unblocked"};
using Counters = std::array<uint64_t, kCounterEnd>;

// A timer by its place in the list of the program's timers.
using TimerId = uint32_t;

// The first timers; those of reasons to block follow.
enum FixedTimer : TimerId { kRunning, kRunnable, kSyscall, kUnknownBlock };

struct ProgramTimer {
  absl::string_view category;
  std::string name;
  Trace2Timer timer;
};

// An open region, or a range in progress.
struct OpenRegion {
  bool is_range = false;
  TaskId task = kBackgroundTask;
  std::string category;
  std::string label;
  int64_t begin = 0;
  bool is_selected = false;
  bool is_written = false;
};

// The key by which the end of a region or range finds it.
struct RegionTraits {
  struct Key {
    bool is_range = false;
    TaskId task = kBackgroundTask;
    std::string label;

    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H hash, const Key& key) {
      return H::combine(std::move(hash), key.is_range, key.task.value, key.label);
    }
  };
  static Key KeyOf(const OpenRegion& region) {
    return {region.is_range, region.task, region.label};
  }
  static bool Has(const OpenRegion& region, const Key& key) {
    return region.is_range == key.is_range && region.task == key.task && region.label == key.label;
  }
};

struct ThreadName {
  std::string text;       // "th7:main.work"
  bool is_final = false;  // Whether it is final: it has the function, or never will.
};

// A thread of Trace2: a goroutine, or the main thread.
struct Thread {
  GoId id;
  std::shared_ptr<ThreadName> name;
  bool has_function = false;
  bool is_written = false;  // Whether it was started in the output.
  int64_t begin = 0;
  bool is_known_late = false;  // Whether it became known after the window.
  GoState state = GoState::kUndetermined;
  int64_t since = 0;  // When the state began.
  TimerId timer = kRunning;
  OpenStack<OpenRegion, RegionTraits> regions;
  std::vector<int64_t> written_begins;  // The begins of the written regions.
  std::map<TimerId, Trace2Timer> timers;
  Counters counters = {};
};

struct OpenTask {
  std::string type;
  int64_t begin = 0;
  GoId goroutine;
  bool is_selected = false;
  bool is_written = false;
};

// A place in the source code. The views are valid as long as the stack.
struct SourcePlace {
  absl::string_view file = {};
  uint64_t line = 0;
};

SourcePlace PlaceOf(const Stack& stack) {
  if (stack.none() || stack.size() == 0) return {};
  const StackFrame frame = stack.frame(0);
  return {frame.file, frame.line};
}

// Returns 0 if times go backwards, as in a damaged trace.
uint64_t Elapsed(int64_t begin, int64_t end) {
  return end < begin ? 0 : static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
}

// A line that waits for the name of its thread, or for lines before it.
struct HeldLine {
  std::shared_ptr<ThreadName> thread;
  Trace2Event event;  // Without the members below.
  std::string file, category, name, text;
  std::vector<std::string> arguments;
};

EventFilter WithoutKinds(EventFilter filter) {
  filter.kinds.clear();
  return filter;
}

}  // namespace

class Trace2Exporter::State {
 public:
  State(ByteSink* out, Trace2Options options)
      : options_(std::move(options)),
        selection_(options_.filter.WithoutTimes().WithWholeSpans()),
        sink_(out) {
    main_.name = std::make_shared<ThreadName>(ThreadName{"main", /*is_final=*/true});
    main_.is_written = true;
  }

  void Add(const Event& event) {
    if (!status_.ok()) return;
    const bool is_first = !has_begun_;
    if (is_first) {
      has_begun_ = true;
      first_time_ = event.time();
      start_ = options_.start.value_or(first_time_);
      options_.filter = options_.filter.WithAbsoluteTimes(start_);
    }
    const EventFilter::Times& times = options_.filter.times;
    if (is_past_ || (event.time() > times.to && !is_first)) return AddPast(event);
    times_.See(event);
    if (event.kind() == EventKind::kSync) generation_begin_ = event.time();
    last_time_ = std::max(last_time_, event.time());
    if (!is_in_window_ && times.Has(event.time())) BeginWindow(std::max(first_time_, times.from));
    if (status_.ok()) Take(event);
  }

  bool WantsMore() const { return status_.ok() && sink_.status().ok(); }

  absl::Status Finish() {
    if (!has_begun_) return sink_.status();
    const int64_t end = is_past_ ? options_.filter.times.to : last_time_;
    if (!is_in_window_ && status_.ok()) BeginOutput(end);
    if (!status_.ok()) return status_;
    if (is_in_window_) EndWindow(end);
    Write(main_, {.type = Trace2Type::kExit}, end);
    for (const ProgramTimer& timer : timers_) {
      if (timer.timer.intervals == 0) continue;
      Write(main_,
            {.type = Trace2Type::kTimer,
             .category = timer.category,
             .name = timer.name,
             .timer = timer.timer},
            end);
    }
    WriteCounters(Trace2Type::kCounter, counters_, main_, end);
    Write(main_, {.type = Trace2Type::kAtExit}, end);
    WriteHeldLines(/*max_left=*/0);
    sink_.Flush();
    return sink_.status();
  }

 private:
  // Processes an event after the window. Until the end of the generation, the trace still states
  // the states, open regions and ranges of goroutines without events in it.
  void AddPast(const Event& event) {
    if (!is_past_) {
      is_past_ = true;
      // Nothing may have happened in the window.
      if (!is_in_window_) BeginWindow(std::max(first_time_, options_.filter.times.from));
    }
    if (event.kind() == EventKind::kSync) is_generation_past_ = true;
    if (is_generation_past_ || !status_.ok()) return;
    if (event.kind() == EventKind::kRangeActive) {
      const ResourceId scope = event.range_parts().scope;
      if (scope.kind != ResourceKind::kGoroutine) return;
      const Thread* const thread = threads_.Find(GoId{scope.id});
      if (thread != nullptr && thread->is_known_late) TakeRange(event);
      return;
    }
    if (event.kind() != EventKind::kStateTransition ||
        event.transition_resource().kind != ResourceKind::kGoroutine) {
      return;
    }
    const GoId id{event.transition_resource().id};
    if (Thread* const thread = threads_.Find(id); thread != nullptr) {
      Learn(*thread, event.transition_stack());
    } else if (static_cast<GoState>(event.transition_from()) == GoState::kUndetermined) {
      TakeTransition(event);
      if (Thread* const late = threads_.Find(id); late != nullptr) late->is_known_late = true;
    }
  }

  // --- What is written, and when.

  // Whether the thread is written even if nothing happens on it.
  bool Lists(const Thread& thread) const { return lists_threads_ && selection_.Selects(thread.id); }

  // Returns whether the event is selected, before the window or in it.
  bool Selects(const Event& event) const {
    return selects_all_ || selection_.Matches(event, /*start=*/0);
  }
  bool SelectsBegin(const Event& event, EventKind begin) const {
    if (selects_all_) return true;
    // An end without a beginning stands for both.
    if (!selection_.Selects(begin)) return false;
    return selected_ids_.Matches(event, /*start=*/0);
  }

  std::optional<absl::Time> WallTime(int64_t time) const {
    std::optional<absl::Time> wall;
    if (options_.epoch.has_value()) {
      wall = *options_.epoch + absl::Nanoseconds(Elapsed(start_, time));
    } else {
      wall = times_.WallTime(time);
    }
    if (!wall.has_value()) return std::nullopt;
    return std::clamp(*wall, absl::UnixEpoch(), kMaxTime);
  }

  void BeginOutput(int64_t time) {
    const std::optional<absl::Time> wall = WallTime(start_);
    if (!wall.has_value() && (!options_.brief || options_.form == Trace2Form::kEvent)) {
      status_ = absl::FailedPreconditionError(
          "the trace has no wall-clock times, which only Go 1.25 and later record, and the time of "
          "its start was not given");
      return;
    }
    session_id_ = internal::Trace2SessionId(wall.value_or(absl::UnixEpoch()));
    formatter_.emplace(
        Trace2Formatter::Style{options_.form, options_.brief, options_.nesting, options_.zone});
    Write(main_, {.type = Trace2Type::kVersion, .name = options_.version}, time);
    const absl::string_view arguments[] = {options_.program};
    Write(main_, {.type = Trace2Type::kStart, .arguments = arguments}, time);
  }

  void BeginWindow(int64_t time) {
    window_begin_ = time;
    BeginOutput(time);
    if (!status_.ok()) return;
    is_in_window_ = true;
    const auto begin = [time](Thread& thread) {
      thread.begin = thread.since = time;
      for (OpenRegion& region : thread.regions) region.begin = time;
    };
    begin(main_);
    WriteRegions(main_);
    for (Thread* const thread : threads_.Sorted()) {
      begin(*thread);
      const bool has_region =
          std::any_of(thread->regions.begin(), thread->regions.end(),
                      [](const OpenRegion& region) { return region.is_selected; });
      if (has_region || (Lists(*thread) && thread->has_function)) StartThread(*thread);
    }
    for (auto& [key, since] : proc_ranges_) since = time;
    for (auto& [id, task] : tasks_) {
      task.begin = time;
      if (task.is_selected) StartTask(id, task, {});
    }
  }

  void EndWindow(int64_t end) {
    for (const auto& [id, task] : tasks_) {
      // -1: it did not end.
      if (task.is_written) EndTask(id, task, task.goroutine, -1, end, {});
    }
    for (Thread* const thread : threads_.Sorted()) {
      if (Lists(*thread)) AddInterval(*thread, end);
      EndThread(*thread, end);
    }
    LeaveRegions(main_, 0, end, {});
    WriteCounters(Trace2Type::kThreadCounter, main_.counters, main_, end);
  }

  // Writes an event of `thread`, whose name is not set in it.
  void Write(const Thread& thread, Trace2Event event, int64_t time) {
    event.session_id = session_id_;
    event.time = WallTime(time).value_or(absl::UnixEpoch());
    event.since_start = Elapsed(start_, time);
    if (!held_lines_.empty() || !thread.name->is_final) {
      Hold(thread.name, event);
      return WriteHeldLines(kMaxHeldLines);
    }
    event.thread = thread.name->text;
    formatter_->Append(event, &sink_.buffer());
    sink_.MaybeFlush();
  }

  void Hold(std::shared_ptr<ThreadName> thread, const Trace2Event& event) {
    held_lines_.push_back({std::move(thread),
                           event,
                           std::string(event.file),
                           std::string(event.category),
                           std::string(event.name),
                           std::string(event.text),
                           {event.arguments.begin(), event.arguments.end()}});
  }

  // Writes the lines whose threads have their final names now, and all but the last `max_left`.
  void WriteHeldLines(size_t max_left) {
    for (; !held_lines_.empty(); held_lines_.pop_front()) {
      const HeldLine& line = held_lines_.front();
      if (!line.thread->is_final && held_lines_.size() <= max_left) return;
      line.thread->is_final = true;
      Trace2Event event = line.event;
      event.thread = line.thread->text;
      event.file = line.file;
      event.category = line.category;
      event.name = line.name;
      event.text = line.text;
      const std::vector<absl::string_view> arguments(line.arguments.begin(), line.arguments.end());
      event.arguments = arguments;
      formatter_->Append(event, &sink_.buffer());
      sink_.MaybeFlush();
    }
  }

  void WriteCounters(Trace2Type type, const Counters& counters, const Thread& thread,
                     int64_t time) {
    for (size_t i = 0; i < counters.size(); ++i) {
      if (counters[i] == 0) continue;
      Write(thread,
            {.type = type, .category = "goroutine", .name = kCounterNames[i], .count = counters[i]},
            time);
    }
  }

  // --- Events.

  void Take(const Event& event) {
    switch (event.kind()) {
      case EventKind::kStateTransition:
        if (event.transition_resource().kind == ResourceKind::kGoroutine) TakeTransition(event);
        break;
      case EventKind::kRegionBegin:
        BeginRegion(event);
        break;
      case EventKind::kRegionEnd:
        EndRegion(event);
        break;
      case EventKind::kTaskBegin:
        BeginTask(event);
        break;
      case EventKind::kTaskEnd:
        EndTask(event);
        break;
      case EventKind::kRangeBegin:
      case EventKind::kRangeActive:
      case EventKind::kRangeEnd:
        TakeRange(event);
        break;
      case EventKind::kLog: {
        const Log log = event.log();
        WriteData(event, log.category.empty() ? "log" : log.category,
                  log.task == kBackgroundTask ? "log" : absl::StrCat("log/", log.task.value),
                  log.message);
        break;
      }
      case EventKind::kLabel:
        WriteData(event, "goroutine", "label", event.label().label);
        break;
      case EventKind::kMetric: {
        const Metric metric = event.metric();
        WriteDataOn(main_, event, "metric", metric.name, absl::StrCat(metric.value));
        break;
      }
      default:
        break;
    }
    // Only after a new thread was started with the data of the event itself.
    if (event.kind() != EventKind::kStackSample && event.goroutine() != GoId::kNone) {
      Thread* const thread = threads_.Find(event.goroutine());
      if (thread != nullptr && !thread->has_function) Learn(*thread, event.stack());
    }
  }

  void WriteData(const Event& event, absl::string_view category, absl::string_view key,
                 absl::string_view value) {
    WriteDataOn(ThreadOf(event), event, category, key, value);
  }

  void WriteDataOn(Thread& thread, const Event& event, absl::string_view category,
                   absl::string_view key, absl::string_view value) {
    if (!is_in_window_ || !Selects(event)) return;
    StartThread(thread, event.stack());
    const SourcePlace place = PlaceOf(event.stack());
    int64_t since = thread.id == GoId::kNone ? start_ : thread.begin;
    if (!thread.written_begins.empty()) since = thread.written_begins.back();
    Write(thread,
          {.type = Trace2Type::kData,
           .file = place.file,
           .line = place.line,
           .nesting = NestingIn(thread),
           .elapsed = Elapsed(since, event.time()),
           .category = category,
           .name = key,
           .text = value},
          event.time());
  }

  // --- Threads.

  // Returns the thread of a goroutine. If it is not known yet, it is older than the trace.
  Thread& Get(GoId id) {
    if (Thread* const thread = threads_.Find(id); thread != nullptr) return *thread;
    Thread& thread = *threads_.Insert(id);
    thread.name = std::make_shared<ThreadName>();
    thread.name->text = absl::StrCat(id.value < 10 && id.value >= 0 ? "th0" : "th", id.value);
    thread.begin = thread.since = std::max(generation_begin_, window_begin_);
    return thread;
  }

  // The thread of the goroutine that executes the event, or the main thread.
  Thread& ThreadOf(const Event& event) {
    return event.goroutine() == GoId::kNone ? main_ : Get(event.goroutine());
  }

  // Sets the function of the thread if `stack`, which must be its own, has it, and starts the
  // thread, which was created at `place`, if it is to be listed.
  void Learn(Thread& thread, const Stack& stack, const SourcePlace& place = {}) {
    if (thread.has_function || stack.none() || stack.size() == 0) return;
    // "" if a string is missing in the trace. Another stack may have it.
    const absl::string_view function = stack.frame(stack.size() - 1).func;
    if (function.empty()) return;
    thread.has_function = true;
    if (!thread.name->is_final) {
      absl::StrAppend(&thread.name->text, ":", function);
      thread.name->is_final = true;
      WriteHeldLines(kMaxHeldLines);
    }
    if (is_in_window_ && Lists(thread)) StartThread(thread, {}, place);
  }

  // Writes the beginning of the thread, unless that was done, and the regions that are open.
  // `stack` is one of its own, or none.
  void StartThread(Thread& thread, const Stack& stack = {}, const SourcePlace& place = {}) {
    if (thread.is_written) return;
    Learn(thread, stack);
    if (thread.is_written) return;
    thread.is_written = true;
    Write(thread, {.type = Trace2Type::kThreadStart, .file = place.file, .line = place.line},
          thread.begin);
    WriteRegions(thread);
  }

  // Ends the thread, if it was started or has to be.
  void EndThread(Thread& thread, int64_t time) {
    if (Lists(thread)) StartThread(thread);
    if (!thread.is_written) return;
    LeaveRegions(thread, 0, time, {});
    for (const auto& [id, timer] : thread.timers) {
      Write(thread,
            {.type = Trace2Type::kThreadTimer,
             .category = timers_[id].category,
             .name = timers_[id].name,
             .timer = timer},
            time);
    }
    WriteCounters(Trace2Type::kThreadCounter, thread.counters, thread, time);
    Write(thread, {.type = Trace2Type::kThreadExit, .elapsed = Elapsed(thread.begin, time)}, time);
    thread.name->is_final = true;
    WriteHeldLines(kMaxHeldLines);
  }

  // Returns the timer `name`, one of `ids`, whose category is `category`.
  TimerId TimerOf(absl::string_view category, absl::string_view name,
                  absl::flat_hash_map<std::string, TimerId>* ids) {
    const auto [it, is_new] = ids->try_emplace(name, static_cast<TimerId>(timers_.size()));
    if (is_new) timers_.push_back({category, std::string(name), {}});
    return it->second;
  }

  TimerId TimerOf(GoState state, absl::string_view reason) {
    switch (state) {
      case GoState::kRunning:
        return kRunning;
      case GoState::kRunnable:
        return kRunnable;
      case GoState::kSyscall:
        return kSyscall;
      default:
        return reason.empty() ? TimerId{kUnknownBlock} : TimerOf("block", reason, &block_timers_);
    }
  }

  // Adds the time that the thread spent in its state to its timer and to that of the program.
  void AddInterval(Thread& thread, int64_t end) {
    if (thread.state == GoState::kUndetermined) return;
    const uint64_t duration = Elapsed(thread.since, end);
    timers_[thread.timer].timer.Add(duration);
    thread.timers[thread.timer].Add(duration);
  }

  void Count(Counter counter, Thread& thread) {
    ++thread.counters[counter];
    ++counters_[counter];
  }

  void TakeTransition(const Event& event) {
    const GoId id{event.transition_resource().id};
    const GoState from = static_cast<GoState>(event.transition_from());
    const GoState to = static_cast<GoState>(event.transition_to());
    const bool is_written = is_in_window_ && Selects(event);
    const GoId by = event.goroutine();
    const bool counts = is_written && by != id && by != GoId::kNone && selection_.Selects(by);
    if (from == GoState::kNotExist) {
      Create(event, id);
      if (counts) Count(kCreated, Get(by));
    } else {
      Thread& thread = Get(id);
      Learn(thread, event.transition_stack());
      if (from == to && thread.state == to) return;
      if (from != GoState::kUndetermined) {
        if (is_written && selection_.Selects(id)) AddInterval(thread, event.time());
        thread.since = event.time();
      }
    }
    Thread& thread = Get(id);
    if (to == GoState::kNotExist) {
      if (is_in_window_) EndThread(thread, event.time());
      threads_.Erase(&thread);
      return;
    }
    thread.state = to;
    thread.timer = TimerOf(to, event.transition_reason());
    if (from == GoState::kWaiting && counts) Count(kUnblocked, Get(by));
  }

  void Create(const Event& event, GoId id) {
    // Only a damaged trace has another one with this id.
    if (Thread* const old = threads_.Find(id); old != nullptr) {
      if (is_in_window_) EndThread(*old, event.time());
      threads_.Erase(old);
    }
    Thread& thread = Get(id);
    thread.begin = thread.since = event.time();
    Learn(thread, event.transition_stack(), PlaceOf(event.stack()));
  }

  // --- Regions and ranges.

  static uint64_t NestingIn(const Thread& thread) { return 1 + thread.written_begins.size(); }

  void WriteRegion(Trace2Type type, const Thread& thread, const OpenRegion& region, int64_t time,
                   const SourcePlace& place) {
    const std::string message =
        region.task == kBackgroundTask ? "" : absl::StrCat("task:", region.task.value);
    Write(thread,
          {.type = type,
           .file = place.file,
           .line = place.line,
           .nesting = NestingIn(thread),
           .elapsed = Elapsed(region.begin, time),
           .category = region.category,
           .name = region.label,
           .text = message},
          time);
  }

  void WriteEntry(Thread& thread, OpenRegion& region, const SourcePlace& place) {
    WriteRegion(Trace2Type::kRegionEnter, thread, region, region.begin, place);
    region.is_written = true;
    thread.written_begins.push_back(region.begin);
  }

  // Enters the open regions that were not written before.
  void WriteRegions(Thread& thread) {
    for (OpenRegion& region : thread.regions) {
      if (region.is_selected && !region.is_written) WriteEntry(thread, region, {});
    }
  }

  void Enter(const Event& event, Thread& thread, OpenRegion region) {
    const bool is_selected = region.is_selected;
    if (is_selected && is_in_window_) StartThread(thread, event.stack());
    OpenRegion& entered = thread.regions.Push(std::move(region));
    if (is_selected && is_in_window_) WriteEntry(thread, entered, PlaceOf(event.stack()));
  }

  // Leaves all regions but the first `count`.
  void LeaveRegions(Thread& thread, size_t count, int64_t time, const SourcePlace& place) {
    while (thread.regions.size() > count) {
      if (thread.regions.back().is_written) {
        thread.written_begins.pop_back();
        WriteRegion(Trace2Type::kRegionLeave, thread, thread.regions.back(), time, place);
      }
      thread.regions.Pop();
    }
  }

  // Leaves the latest region with the key, and those inside it. Returns false if there is none.
  bool Leave(const Event& event, Thread& thread, const RegionTraits::Key& key) {
    const size_t place = thread.regions.FindLast(key);
    if (place == thread.regions.kNone) return false;
    LeaveRegions(thread, place, event.time(), PlaceOf(event.stack()));
    return true;
  }

  OpenRegion RegionOf(const Event& event, int64_t begin) {
    const Region region = event.region();
    std::string category(kBackgroundCategory);
    if (region.task != kBackgroundTask) {
      const auto task = tasks_.find(region.task);
      category = task == tasks_.end() || task->second.type.empty() ? "task" : task->second.type;
    }
    return {.task = region.task,
            .category = std::move(category),
            .label = std::string(region.type),
            .begin = begin,
            .is_selected = SelectsBegin(event, EventKind::kRegionBegin)};
  }

  void BeginRegion(const Event& event) {
    Enter(event, ThreadOf(event), RegionOf(event, event.time()));
  }

  void EndRegion(const Event& event) {
    Thread& thread = ThreadOf(event);
    const Region region = event.region();
    const RegionTraits::Key key = {.task = region.task, .label = std::string(region.type)};
    if (Leave(event, thread, key) || !is_in_window_) return;
    // It is older than the trace.
    Enter(event, thread, RegionOf(event, thread.begin));
    Leave(event, thread, key);
  }

  void TakeRange(const Event& event) {
    const RangeParts parts = event.range_parts();
    const std::string name = parts.name();
    if (parts.scope.kind == ResourceKind::kProc) return TakeProcRange(event, parts.scope.id, name);
    Thread& thread =
        parts.scope.kind == ResourceKind::kGoroutine ? Get(GoId{parts.scope.id}) : main_;
    const RegionTraits::Key key = {.is_range = true, .label = name};
    if (event.kind() == EventKind::kRangeEnd) {
      Leave(event, thread, key);
      return;
    }
    const bool is_active = event.kind() == EventKind::kRangeActive;
    // Each generation states again which ranges are active.
    if (is_active && thread.regions.FindLast(key) != thread.regions.kNone) return;
    Enter(event, thread,
          {.is_range = true,
           .category = "runtime",
           .label = name,
           .begin = is_active ? std::max(generation_begin_, window_begin_) : event.time(),
           .is_selected = SelectsBegin(event, EventKind::kRangeBegin)});
  }

  // There are no threads for Ps: their ranges are timers of the program.
  void TakeProcRange(const Event& event, int64_t proc, const std::string& name) {
    const std::pair<int64_t, TimerId> key(proc, TimerOf("proc", name, &proc_timers_));
    if (event.kind() != EventKind::kRangeEnd) {
      const bool is_active = event.kind() == EventKind::kRangeActive;
      proc_ranges_.try_emplace(
          key, is_active ? std::max(generation_begin_, window_begin_) : event.time());
      return;
    }
    const auto range = proc_ranges_.find(key);
    if (range == proc_ranges_.end()) return;
    if (is_in_window_ && SelectsBegin(event, EventKind::kRangeBegin)) {
      timers_[key.second].timer.Add(Elapsed(range->second, event.time()));
    }
    proc_ranges_.erase(range);
  }

  // --- Tasks.

  // The thread of the goroutine if it is running, or else the main thread.
  Thread& ThreadOfTask(GoId goroutine) {
    Thread* const thread = threads_.Find(goroutine);
    return thread == nullptr ? main_ : *thread;
  }

  void StartTask(TaskId id, OpenTask& task, const Stack& stack) {
    Thread& thread = ThreadOfTask(task.goroutine);
    StartThread(thread, stack);
    task.is_written = true;
    const SourcePlace place = PlaceOf(stack);
    const absl::string_view arguments[] = {task.type};
    Write(thread,
          {.type = Trace2Type::kChildStart,
           .file = place.file,
           .line = place.line,
           .nesting = NestingIn(thread),
           .id = id.value,
           .name = task.type.empty() ? "?" : absl::string_view(task.type),
           .arguments = arguments},
          task.begin);
  }

  // Writes the end of a task; the goroutine ends it.
  void EndTask(TaskId id, const OpenTask& task, GoId goroutine, int64_t code, int64_t time,
               const Stack& stack) {
    Thread& thread = ThreadOfTask(goroutine);
    StartThread(thread, stack);
    const SourcePlace place = PlaceOf(stack);
    Write(thread,
          {.type = Trace2Type::kChildExit,
           .file = place.file,
           .line = place.line,
           .nesting = NestingIn(thread),
           .elapsed = Elapsed(task.begin, time),
           .id = id.value,
           .code = code},
          time);
  }

  void BeginTask(const Event& event) {
    const Task begun = event.task();
    OpenTask& task = tasks_[begun.id];
    // Only a damaged trace has another one with this id.
    if (task.is_written) EndTask(begun.id, task, event.goroutine(), -1, event.time(), {});
    task = {.type = std::string(begun.type),
            .begin = event.time(),
            .goroutine = event.goroutine(),
            .is_selected = SelectsBegin(event, EventKind::kTaskBegin)};
    if (is_in_window_ && task.is_selected) StartTask(begun.id, task, event.stack());
  }

  void EndTask(const Event& event) {
    const Task ended = event.task();
    auto it = tasks_.find(ended.id);
    if (it == tasks_.end()) {
      // A program may end a task twice.
      const bool has_ended = ended_tasks_.Has(ended.id.value);
      ended_tasks_.Add(ended.id.value);
      if (has_ended || !is_in_window_ || !SelectsBegin(event, EventKind::kTaskBegin)) return;
      // It is older than the trace.
      it = tasks_.try_emplace(ended.id).first;
      it->second = {
          .type = std::string(ended.type), .begin = window_begin_, .goroutine = event.goroutine()};
      StartTask(ended.id, it->second, {});
    }
    if (it->second.is_written) {
      EndTask(ended.id, it->second, event.goroutine(), 0, event.time(), event.stack());
    }
    ended_tasks_.Add(ended.id.value);
    tasks_.erase(it);
  }

  Trace2Options options_;
  const EventFilter selection_;  // Without times.
  const EventFilter selected_ids_ = WithoutKinds(selection_);
  const bool selects_all_ = selection_.MatchesAll();
  const bool lists_threads_ =
      selection_.procs.empty() && selection_.threads.empty() &&
      (selection_.kinds.empty() || selection_.kinds.contains(EventKind::kStateTransition));
  TextSink sink_;
  std::optional<Trace2Formatter> formatter_;  // Set once there is output.
  std::string session_id_;
  absl::Status status_;  // The error that prevents output.
  std::deque<HeldLine> held_lines_;

  EventTimes times_;
  bool has_begun_ = false;
  bool is_in_window_ = false;
  bool is_past_ = false;             // After the window.
  bool is_generation_past_ = false;  // After the generation in which the window ends.
  int64_t start_ = 0;
  int64_t first_time_ = 0;
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  int64_t generation_begin_ = std::numeric_limits<int64_t>::min();
  int64_t window_begin_ = std::numeric_limits<int64_t>::min();

  Thread main_;
  DenseTable<Thread> threads_;
  std::map<TaskId, OpenTask> tasks_;
  IdSet ended_tasks_ = IdSet(/*below=*/1 << 16, /*max=*/1 << 26);
  absl::flat_hash_map<std::pair<int64_t, TimerId>, int64_t> proc_ranges_;  // Since when.

  // In the order of FixedTimer.
  std::vector<ProgramTimer> timers_ = {{"goroutine", "running", {}},
                                       {"goroutine", "runnable", {}},
                                       {"goroutine", "syscall", {}},
                                       {"block", "unknown", {}}};
  absl::flat_hash_map<std::string, TimerId> block_timers_;  // By reason.
  absl::flat_hash_map<std::string, TimerId> proc_timers_;   // By name of the range.
  Counters counters_ = {};
};

Trace2Exporter::Trace2Exporter(ByteSink* out, Trace2Options options)
    : state_(std::make_unique<State>(out, std::move(options))) {}

Trace2Exporter::~Trace2Exporter() = default;

void Trace2Exporter::Add(absl::Span<const Event> events) {
  for (const Event& event : events) state_->Add(event);
}

bool Trace2Exporter::WantsMore() const { return state_->WantsMore(); }

absl::Status Trace2Exporter::Finish() { return state_->Finish(); }

}  // namespace gotrace
