// How it works: a ProgramView knows the state of each goroutine, and the regions that are open.
// From the first time of the filter on, lines are written as events come. The line that starts a
// thread comes as soon as the function of the goroutine is known, and in any case before its other
// lines. If there are such before the function is known, which is part of the thread's name in each
// line, they are held back for a while, and so is everything after them.
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
#include "export/program_view.h"
#include "export/text_sink.h"
#include "export/trace2/trace2_lines.h"
#include "export/trace2/trace2_session_id.h"
#include "gotrace/event_times.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "util/dense_table.h"
#include "util/id_set.h"

namespace gotrace {
namespace {

using internal::DenseTable;
using internal::IdSet;
using internal::ProgramView;
using internal::TextSink;
using internal::Trace2Formatter;
using internal::ViewEnd;
using internal::ViewGoroutine;
using internal::ViewSlice;
using internal::ViewTask;
using internal::ViewTrack;

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

struct ThreadName {
  std::string text;       // "th7:main.work"
  bool is_final = false;  // Whether it is final: it has the function, or never will.
};

// A thread of Trace2: a goroutine, or the main thread.
struct Thread {
  GoId id;
  ViewTrack* track = nullptr;
  std::shared_ptr<ThreadName> name;
  bool has_function = false;
  bool is_written = false;  // Whether it was started in the output.
  int64_t begin = 0;
  TimerId timer = kRunning;  // Of its state.
  std::map<TimerId, Trace2Timer> timers;
  Counters counters = {};
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

ProgramView::Options ViewOptions(const Trace2Options& options) {
  return {.filter = options.filter.WithWholeSpans(), .start = options.start};
}

}  // namespace

class Trace2Exporter::State final : private ProgramView::Delegate {
 public:
  State(ByteSink* out, Trace2Options options)
      : options_(std::move(options)), sink_(out), view_(ViewOptions(options_), &interner_, this) {
    main_.track = &view_.program();
    main_.name = std::make_shared<ThreadName>(ThreadName{"main", /*is_final=*/true});
    main_.is_written = true;
  }

  void Add(const Event& event) {
    if (!status_.ok()) return;
    if (!std::exchange(has_begun_, true)) {
      start_ = options_.start.value_or(event.time());
      times_.Add(event);
    } else if (event.time() <= view_.to()) {
      times_.Add(event);
    }
    // Timers are in the order in which they were first named.
    const bool has_range =
        event.kind() == EventKind::kRangeBegin || event.kind() == EventKind::kRangeActive;
    if (has_range && event.range_parts().scope.kind == ResourceKind::kProc) {
      TimerOfProc(event.range().name);
    }
    view_.Add(absl::MakeConstSpan(&event, 1));
    if (event.time() > view_.to()) return;
    // After a new thread was started with what the event itself says.
    if (event.kind() != EventKind::kStackSample && event.goroutine() != GoId::kNone) {
      Thread* const thread = threads_.Find(event.goroutine());
      if (thread != nullptr && !thread->has_function) Learn(*thread, event.stack());
    }
  }

  bool WantsMore() const { return status_.ok() && sink_.status().ok(); }

  absl::Status Finish() {
    if (!has_begun_) return sink_.status();
    const int64_t end = view_.end();
    if (!view_.is_in_window() && status_.ok()) BeginOutput(end);
    if (!status_.ok()) return status_;
    if (view_.is_in_window()) EndWindow(end);
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
  // --- What is written, and when.

  // Whether the thread is written even if nothing happens on it.
  bool Lists(const Thread& thread) const { return lists_threads_ && selection_.Selects(thread.id); }

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

  void BeginWindow(int64_t time) override {
    BeginOutput(time);
    if (!status_.ok()) return;
    main_.begin = time;
    view_.ShowSlices(view_.program(), time);
    for (ViewGoroutine* const goroutine : view_.Goroutines()) {
      Thread& thread = Get(goroutine->id);
      thread.begin = time;
      if (Lists(thread) && thread.has_function) StartThread(thread);
      view_.ShowSlices(goroutine->track, time);
    }
    for (auto& [id, track] : view_.procs()) view_.ShowSlices(track, time);
    view_.ShowTasks(time);
  }

  void EndWindow(int64_t end) {
    for (const auto& [id, task] : view_.tasks()) {
      // -1: it did not end.
      if (task.is_shown) EndTask(task, task.goroutine, -1, end, {});
    }
    for (const ViewGoroutine* const goroutine : view_.Goroutines()) {
      Thread& thread = Get(goroutine->id);
      if (Lists(thread)) WriteInterval(*goroutine, thread, end);
      EndThread(thread, end);
    }
    view_.EndSlices(*main_.track, end);
    WriteCounters(Trace2Type::kThreadCounter, main_.counters, main_, end);
  }

  // Writes an event of `thread`, whose name is not set in it.
  void Write(const Thread& thread, Trace2Event event, int64_t time) {
    if (!formatter_.has_value()) return;
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

  void TakeEvent(const Event& event) override {
    if (!view_.Selects(event)) return;
    if (event.kind() == EventKind::kLog) {
      const Log log = event.log();
      WriteData(ThreadOf(event), event, log.category.empty() ? "log" : log.category,
                log.task == kBackgroundTask ? "log" : absl::StrCat("log/", log.task.value),
                log.message);
    } else if (event.kind() == EventKind::kLabel) {
      WriteData(ThreadOf(event), event, "goroutine", "label", event.label().label);
    } else if (event.kind() == EventKind::kMetric) {
      const Metric metric = event.metric();
      WriteData(main_, event, "metric", metric.name, absl::StrCat(metric.value));
    }
  }

  void WriteData(Thread& thread, const Event& event, absl::string_view category,
                 absl::string_view key, absl::string_view value) {
    StartThread(thread, event.stack());
    const SourcePlace place = PlaceOf(event.stack());
    int64_t since = thread.id == GoId::kNone ? start_ : thread.begin;
    const std::vector<ViewSlice*>& regions = thread.track->slices.shown();
    if (!regions.empty()) since = regions.back()->begin;
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
    thread.track = &view_.Get(id).track;
    thread.name = std::make_shared<ThreadName>();
    thread.name->text = absl::StrCat(id.value < 10 && id.value >= 0 ? "th0" : "th", id.value);
    thread.begin = view_.since_status();
    return thread;
  }

  // The thread of the goroutine that executes the event, or the main thread.
  Thread& ThreadOf(const Event& event) {
    return event.goroutine() == GoId::kNone ? main_ : Get(event.goroutine());
  }
  Thread& ThreadOf(const ViewTrack& track) {
    return track.goroutine == nullptr ? main_ : Get(track.goroutine->id);
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
    if (view_.is_in_window() && Lists(thread)) StartThread(thread, {}, place);
  }

  // Writes the beginning of the thread, unless that was done. `stack` is one of its own, or none.
  void StartThread(Thread& thread, const Stack& stack = {}, const SourcePlace& place = {}) {
    if (thread.is_written) return;
    Learn(thread, stack);
    if (thread.is_written) return;
    thread.is_written = true;
    Write(thread, {.type = Trace2Type::kThreadStart, .file = place.file, .line = place.line},
          thread.begin);
  }

  // Ends the thread, if it was started or has to be.
  void EndThread(Thread& thread, int64_t time) {
    if (Lists(thread)) StartThread(thread);
    if (!thread.is_written) return;
    view_.EndSlices(*thread.track, time);
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

  // Adds the time that a goroutine spent in its state to the timers of its thread and the program.
  void WriteInterval(const ViewGoroutine& goroutine, Thread& thread, int64_t end) {
    if (goroutine.state == GoState::kUndetermined) return;
    const uint64_t duration = Elapsed(goroutine.since, end);
    timers_[thread.timer].timer.Add(duration);
    thread.timers[thread.timer].Add(duration);
  }

  void Count(Counter counter, Thread& thread) {
    ++thread.counters[counter];
    ++counters_[counter];
  }

  // Counts what `event` did to another goroutine for the one that did it.
  void CountFor(Counter counter, const Event& event) {
    const GoId by = event.goroutine();
    if (view_.Wants(event) && by.value != event.transition_resource().id && by != GoId::kNone &&
        selection_.Selects(by)) {
      Count(counter, Get(by));
    }
  }

  void AddGoroutine(ViewGoroutine& goroutine, const Event& event) override {
    Thread& thread = Get(goroutine.id);
    Learn(thread, event.transition_stack());
    thread.timer = TimerOf(goroutine.state, "");
  }

  void CreateGoroutine(ViewGoroutine& goroutine, const Event& event) override {
    Thread& thread = Get(goroutine.id);
    thread.begin = event.time();
    Learn(thread, event.transition_stack(), PlaceOf(event.stack()));
    CountFor(kCreated, event);
    thread.timer = TimerOf(goroutine.state, "");
  }

  void ChangeState(ViewGoroutine& goroutine, GoState state, StringId reason,
                   const Event& event) override {
    Thread& thread = Get(goroutine.id);
    Learn(thread, event.transition_stack());
    if (view_.Wants(event) && selection_.Selects(goroutine.id)) {
      WriteInterval(goroutine, thread, event.time());
    }
    thread.timer = TimerOf(state, interner_.String(reason));
    const bool was_waiting = event.transition_from() == static_cast<uint8_t>(GoState::kWaiting);
    if (was_waiting) CountFor(kUnblocked, event);
  }

  void EndGoroutine(ViewGoroutine& goroutine, const Event& event) override {
    Thread& thread = Get(goroutine.id);
    Learn(thread, event.transition_stack());
    if (view_.Wants(event) && selection_.Selects(goroutine.id)) {
      WriteInterval(goroutine, thread, event.time());
    }
    if (view_.is_in_window()) EndThread(thread, event.time());
    threads_.Erase(&thread);
  }

  void TakeLateEvent(const Event& event) override {
    if (event.transition_resource().kind != ResourceKind::kGoroutine) return;
    Thread* const thread = threads_.Find(GoId{event.transition_resource().id});
    if (thread != nullptr) Learn(*thread, event.transition_stack());
  }

  // --- Regions and ranges.

  static uint64_t NestingIn(const Thread& thread) {
    return 1 + thread.track->slices.shown().size();
  }

  // The category of a region is the type of its task.
  absl::string_view CategoryOf(const ViewSlice& slice) const {
    if (slice.key.kind == ViewSlice::Kind::kRange) return "runtime";
    if (slice.task == kBackgroundTask) return kBackgroundCategory;
    return slice.task_type == StringId::kEmpty ? "task" : interner_.String(slice.task_type);
  }

  void WriteRegion(Trace2Type type, const Thread& thread, const ViewSlice& slice, uint64_t nesting,
                   int64_t time, const Stack& stack) {
    const SourcePlace place = PlaceOf(stack);
    const std::string message =
        slice.task == kBackgroundTask ? "" : absl::StrCat("task:", slice.task.value);
    Write(thread,
          {.type = type,
           .file = place.file,
           .line = place.line,
           .nesting = nesting,
           .elapsed = Elapsed(slice.begin, time),
           .category = CategoryOf(slice),
           .name = interner_.String(slice.name),
           .text = message},
          time);
  }

  ViewSlice::Key KeyOf(const Region& region, StringId name) override {
    return {.kind = ViewSlice::Kind::kRegion, .name = name, .task = region.task};
  }

  // There are no threads for Ps: their ranges are timers of the program.
  TimerId TimerOfProc(absl::string_view range) { return TimerOf("proc", range, &proc_timers_); }

  void BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event) override {
    if (track.scope.kind == ResourceKind::kProc) return;
    Thread& thread = ThreadOf(track);
    const Stack stack = event == nullptr ? Stack() : event->stack();
    StartThread(thread, stack);
    WriteRegion(Trace2Type::kRegionEnter, thread, slice, slice.depth + 1, time, stack);
  }

  void EndSlice(ViewTrack& track, const ViewSlice& slice, absl::Span<ViewSlice* const>,
                const ViewEnd& end) override {
    if (track.scope.kind == ResourceKind::kProc) {
      timers_[TimerOfProc(interner_.String(slice.name))].timer.Add(Elapsed(slice.begin, end.time));
      return;
    }
    const Thread& thread = ThreadOf(track);
    WriteRegion(Trace2Type::kRegionLeave, thread, slice, NestingIn(thread), end.time, end.stack);
  }

  void EndUnknownRegion(ViewTrack& track, const Event& event) override {
    // It is older than the trace.
    const ViewSlice region = view_.RegionOf(event);
    view_.BeginSlice(track, region, ThreadOf(track).begin, event);
    view_.EndSlice(track, region.key, {event.time(), event.stack()});
  }

  // --- Tasks.

  // The thread of the goroutine if it is running, or else the main thread.
  Thread& ThreadOfTask(GoId goroutine) {
    Thread* const thread = threads_.Find(goroutine);
    return thread == nullptr ? main_ : *thread;
  }

  void BeginTask(const ViewTask& task, int64_t time, const Event* event) override {
    const Stack stack = event == nullptr ? Stack() : event->stack();
    Thread& thread = ThreadOfTask(task.goroutine);
    StartThread(thread, stack);
    const SourcePlace place = PlaceOf(stack);
    const absl::string_view type = interner_.String(task.type);
    Write(thread,
          {.type = Trace2Type::kChildStart,
           .file = place.file,
           .line = place.line,
           .nesting = NestingIn(thread),
           .id = task.id.value,
           .name = type.empty() ? "?" : type,
           .arguments = absl::MakeConstSpan(&type, 1)},
          time);
  }

  // Writes the end of a task; the goroutine ends it.
  void EndTask(const ViewTask& task, GoId goroutine, int64_t code, int64_t time,
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
           .id = task.id.value,
           .code = code},
          time);
  }

  void EndTask(const ViewTask& task, const Event& event) override {
    if (task.is_shown) EndTask(task, event.goroutine(), 0, event.time(), event.stack());
    ended_tasks_.Add(task.id.value);
  }

  void ReplaceTask(const ViewTask& task, const Event& event) override {
    EndTask(task, event.goroutine(), -1, event.time(), {});
  }

  void EndUnknownTask(const Event& event) override {
    const Task ended = event.task();
    // A program may end a task twice.
    const bool has_ended = ended_tasks_.Has(ended.id.value);
    ended_tasks_.Add(ended.id.value);
    if (has_ended || !view_.Wants(event)) return;
    // It is older than the trace.
    const ViewTask task = {.id = ended.id,
                           .type = interner_.InternString(ended.type),
                           .begin = view_.from(),
                           .goroutine = event.goroutine(),
                           .is_shown = true};
    BeginTask(task, task.begin, nullptr);
    EndTask(task, event);
  }

  Trace2Options options_;
  TextSink sink_;
  Interner interner_;
  ProgramView view_;
  const EventFilter& selection_ = view_.selection();
  const bool lists_threads_ = selection_.procs.empty() && selection_.threads.empty() &&
                              selection_.Selects(EventKind::kStateTransition);
  std::optional<Trace2Formatter> formatter_;  // Once there is output.
  std::string session_id_;
  absl::Status status_;  // The error that prevents output.
  std::deque<HeldLine> held_lines_;

  EventTimes times_;
  bool has_begun_ = false;
  int64_t start_ = 0;

  Thread main_;
  DenseTable<Thread> threads_;
  IdSet ended_tasks_ = IdSet(/*below=*/1 << 16, /*max=*/1 << 26);

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
