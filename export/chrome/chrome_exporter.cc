// How it works: each goroutine has a state, which its events change. A slice is written when it
// ends: the slice of a goroutine is written when the goroutine stops running in its lane, together
// with the slices of syscalls and ranges inside it. Arrows are written when they end, too.
#include "gotrace/chrome_exporter.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "export/chrome/event_writer.h"
#include "parser/event/trace_clock.h"
#include "util/open_spans.h"
#include "util/text_buffer.h"

namespace gotrace {
namespace {

using internal::ChromeEvent;
using internal::ChromeEventWriter;
using internal::ChromeSection;
using internal::TextBuffer;
using internal::TraceClock;

constexpr int64_t kNoLane = -1;

// Lanes of everything other than Ps, threads and goroutines, with the numbers of `go tool trace`.
enum SpecialLane : int64_t {
  kTimersLane = 1'000'001,
  kNetworkLane = 1'000'002,
  kSyscallsLane = 1'000'003,
  kGcLane = 1'000'004,
};

constexpr absl::string_view kMarkAssist = "GC mark assist";

// The name for regions without a name, which viewers would not show.
constexpr absl::string_view kRegion = "region";

bool IsExecuting(GoState state) { return state == GoState::kRunning || state == GoState::kSyscall; }

// Returns the color of a task and its regions, one of the colors that viewers know.
absl::string_view ColorOfTask(TaskId task) {
  constexpr absl::string_view kColors[] = {"thread_state_running",
                                           "thread_state_runnable",
                                           "thread_state_iowait",
                                           "rail_response",
                                           "rail_animation",
                                           "rail_idle",
                                           "rail_load",
                                           "startup",
                                           "good",
                                           "bad",
                                           "terrible",
                                           "olive"};
  return kColors[task.value % std::size(kColors)];
}

// The ids that are compared with the filter's sets.
struct Owner {
  GoId goroutine;
  ProcId proc;
  ThreadId thread;
};

Owner OwnerOf(const Event& event) { return {event.goroutine(), event.proc(), event.thread()}; }

// A span of time in a lane.
struct Span {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
  uint32_t stack = 0;
  uint32_t end_stack = 0;
  const char* args = "";
};

// A range in progress.
struct OpenRange {
  std::string name;
  int64_t begin = 0;
  uint32_t stack = 0;
  uint64_t run = 0;  // Goroutine::runs when it began.
};

struct OpenRangeTraits {
  using Key = std::string;
  static const std::string& KeyOf(const OpenRange& range) { return range.name; }
  static bool Has(const OpenRange& range, absl::string_view name) { return range.name == name; }
};
using OpenRanges = internal::OpenSpans<OpenRange, OpenRangeTraits>;

// If more ranges than this are open on a goroutine when it stops running, its next slice does not
// show them, so that the size of the file is in proportion to the trace.
constexpr size_t kMaxContinuedRanges = 16;

// The value of the goroutine counter to which a goroutine contributes.
enum class GoCount { kNone, kRunnable, kRunning, kWaiting, kWaitingForGc, kEnd };

struct OpenRegion {
  TaskId task;
  std::string name;
  int64_t begin = 0;
  uint32_t stack = 0;
  int64_t lane = kNoLane;
  Owner owner;
};

struct Goroutine {
  // With the function it started in, once that is known, but without its label.
  std::string name;
  bool has_function = false;
  std::string label;

  // The lane in which it runs; kNoLane if it does not run. The next three members are set if it
  // runs.
  int64_t lane = kNoLane;
  Owner owner;
  int64_t running_since = 0;
  uint64_t runs = 0;  // How often it began to run.
  bool in_syscall = false;
  Span syscall;  // If `in_syscall`.

  uint32_t last_stop_stack = 0;
  OpenRanges open_ranges;
  std::vector<Span> ended;  // Ended spans in its current slice or for its next one.

  std::string block_reason;

  // The reason why it may run again, where the arrow to its next slice begins. "" if there is none.
  struct Cause {
    std::string name;
    int64_t lane = kNoLane;
    Owner owner;
    int64_t time = 0;
    uint32_t stack = 0;
  };
  Cause cause;

  GoCount count = GoCount::kNone;
  std::vector<OpenRegion> regions;

  std::string ShownName() const {
    return label.empty() ? name : absl::StrCat(name, " (", label, ")");
  }
};

struct OpenTask {
  std::string name;
  int64_t begin = 0;
  GoId begin_goroutine;
  Owner owner;
  uint32_t stack = 0;
  int64_t place = 0;
};

// Removes and returns the range of that name, if there is one.
std::optional<OpenRange> TakeRange(absl::string_view name, OpenRanges* ranges) {
  const size_t place = ranges->Find(name);
  if (place == OpenRanges::kNone) return std::nullopt;
  OpenRange range = ranges->at(place);
  ranges->Remove(place);
  return range;
}

// Sorts by id, so that the output does not depend on the order of hash tables.
template <class Id>
std::vector<Id> Sorted(const absl::flat_hash_set<Id>& ids) {
  std::vector<Id> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

template <class Id, class Value>
std::vector<Id> SortedKeys(const absl::flat_hash_map<Id, Value>& map) {
  std::vector<Id> sorted;
  for (const auto& [id, value] : map) sorted.push_back(id);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

class ChromeFile::Writer {
 public:
  explicit Writer(ByteSink* out) : out_(*out), events_(out) {}

  const ByteSink& out() const { return out_; }
  ChromeEventWriter& events() { return events_; }

 private:
  const ByteSink& out_;
  ChromeEventWriter events_;
};

ChromeFile::ChromeFile(ByteSink* out) : writer_(std::make_unique<Writer>(out)) {}
ChromeFile::~ChromeFile() = default;
absl::Status ChromeFile::Finish() { return writer_->events().Finish(); }

class ChromeExporter::State {
 public:
  State(ChromeFile::Writer* file, const ChromeOptions& options)
      : options_(options), out_(file->out()), writer_(file->events()) {
    writer_.BeginTrace(options_.process_name);
  }

  bool WantsMore() const { return out_.ok(); }

  void Add(const Event& event) {
    if (!begun_) Begin(event);
    last_time_ = event.time();
    switch (event.kind()) {
      case EventKind::kSync:
        ++syncs_;
        break;
      case EventKind::kStateTransition:
        AddTransition(event);
        break;
      case EventKind::kRangeBegin:
      case EventKind::kRangeActive:
      case EventKind::kRangeEnd:
        AddRange(event);
        break;
      case EventKind::kMetric:
        AddMetric(event);
        break;
      case EventKind::kLabel:
        AddLabel(event);
        break;
      case EventKind::kStackSample:
        WriteInstant(event, LaneOf(event), "CPU profile sample");
        break;
      case EventKind::kLog:
        AddLog(event);
        break;
      case EventKind::kTaskBegin:
        BeginTask(event);
        break;
      case EventKind::kTaskEnd:
        EndTask(event);
        break;
      case EventKind::kRegionBegin:
        BeginRegion(event);
        break;
      case EventKind::kRegionEnd:
        EndRegion(event);
        break;
      default:
        break;
    }
  }

  absl::Status Finish() {
    for (const int64_t proc : SortedKeys(proc_ranges_)) {
      for (const OpenRange& range : proc_ranges_[proc].all()) EndProcRange(ProcId{proc}, range, 0);
    }
    for (const OpenRange& range : global_ranges_.all()) EndGlobalRange(range, 0);
    for (const int64_t id : SortedKeys(goroutines_)) {
      Goroutine& goroutine = goroutines_[id];
      if (goroutine.lane != kNoLane) {
        EndSyscall(&goroutine, last_time_, /*blocked=*/false);
        Stop(&goroutine, last_time_, 0);
      }
      EndRegions(&goroutine, 0);
      NameGoroutine(GoId{id}, goroutine);
    }
    for (const uint64_t id : SortedKeys(tasks_)) {
      WriteTask(TaskId{id}, tasks_[id], /*end_goroutine=*/GoId::kNone, /*end_stack=*/0);
    }
    NameLanes();
    return out_.status();
  }

 private:
  using View = ChromeOptions::View;

  // --- What is shown.

  void Begin(const Event& event) {
    begun_ = true;
    begin_ = event.time();
    start_ = options_.start.value_or(begin_);
    options_.filter = options_.filter.WithAbsoluteTimes(start_);
  }

  bool Shows(EventKind kind) const { return options_.filter.Selects(kind); }
  bool ShowsRanges() const {
    return Shows(EventKind::kRangeBegin) || Shows(EventKind::kRangeActive) ||
           Shows(EventKind::kRangeEnd);
  }
  bool Shows(const Owner& owner) const {
    const EventFilter& filter = options_.filter;
    return filter.Selects(owner.goroutine) && filter.Selects(owner.proc) &&
           filter.Selects(owner.thread);
  }
  bool ShowsTime(int64_t time) const { return options_.filter.times.Has(time); }
  bool ShowsSpan(int64_t begin, int64_t end) const {
    return begin <= options_.filter.times.to && end >= options_.filter.times.from;
  }
  bool ShowsTask(TaskId task) const {
    return options_.tasks.empty() || options_.tasks.contains(task);
  }

  int64_t SinceStart(int64_t time) const { return TraceClock::Subtract(time, start_); }

  // The lane of what executes an event.
  int64_t LaneOf(const Owner& owner) const {
    switch (options_.view) {
      case View::kProc:
        return owner.proc.value;
      case View::kThread:
        return owner.thread.value;
      case View::kGoroutine:
        break;
    }
    return owner.goroutine.value;
  }
  int64_t LaneOf(const Event& event) const { return LaneOf(OwnerOf(event)); }

  // --- Writing.

  void WriteSlice(int64_t lane, const Owner& owner, const Span& span) {
    if (!Shows(owner) || !ShowsSpan(span.begin, span.end)) return;
    writer_.Write({.phase = 'X',
                   .lane = lane,
                   .time = SinceStart(span.begin),
                   .duration = TraceClock::Subtract(span.end, span.begin),
                   .name = span.name,
                   .stack = span.stack,
                   .end_stack = span.end_stack,
                   .args = span.args});
  }

  void WriteInstant(const Event& event, int64_t lane, absl::string_view name,
                    absl::string_view category = "") {
    if (lane == kNoLane || !Shows(event.kind()) || !Shows(OwnerOf(event)) ||
        !ShowsTime(event.time())) {
      return;
    }
    writer_.Write({.phase = 'I',
                   .lane = lane,
                   .time = SinceStart(event.time()),
                   .name = name,
                   .category = category,
                   .scope = "t",
                   .stack = writer_.NumberOf(event.stack())});
  }

  void WriteCounters(int64_t time, absl::string_view name, absl::string_view args) {
    if (!ShowsTime(time)) return;
    writer_.Write({.phase = 'C',
                   .section = ChromeSection::kCounters,
                   .time = SinceStart(time),
                   .name = name,
                   .args = args});
  }

  void WriteArrow(ChromeSection section, const Goroutine::Cause& from, int64_t to_lane,
                  int64_t time) {
    if (!ShowsTime(from.time) || !ShowsTime(time)) return;
    ChromeEvent end = {.phase = 's',
                       .section = section,
                       .lane = from.lane,
                       .time = SinceStart(from.time),
                       .name = from.name,
                       .id = writer_.NewArrow(),
                       .stack = from.stack};
    writer_.Write(end);
    end.phase = 't';
    end.lane = to_lane;
    end.time = SinceStart(time);
    end.stack = 0;
    writer_.Write(end);
  }

  // --- Goroutines.

  Goroutine& Get(GoId id) {
    Goroutine& goroutine = goroutines_[id.value];
    if (goroutine.name.empty()) goroutine.name = absl::StrCat("G", id.value);
    return goroutine;
  }

  static void Name(const Stack& stack, Goroutine* goroutine) {
    if (goroutine->has_function || stack.none()) return;
    goroutine->has_function = true;
    absl::StrAppend(&goroutine->name, " ",
                    stack.size() == 0 ? "" : stack.frame(stack.size() - 1).func);
  }

  // Records that something in the lane `lane` made the goroutine able to run.
  void SetCause(const Event& event, absl::string_view name, int64_t lane, const Owner& owner,
                Goroutine* goroutine) {
    if (lane == kNoLane) return;
    goroutine->cause = {std::string(name), lane, owner, event.time(),
                        writer_.NumberOf(event.stack())};
  }

  // Writes an instant at the beginning of an arrow if no goroutine runs there, since viewers would
  // find no slice.
  void MarkCause(const Event& event, absl::string_view name) {
    if (event.goroutine() == GoId::kNone) WriteInstant(event, LaneOf(event), name, "arrow");
  }

  void Start(int64_t time, const Owner& owner, Goroutine* goroutine) {
    ++goroutine->runs;
    const int64_t lane = LaneOf(owner);
    const Goroutine::Cause& cause = goroutine->cause;
    if (!cause.name.empty() && lane != kNoLane && Shows(EventKind::kStateTransition) &&
        Shows(cause.owner) && Shows(owner)) {
      WriteArrow(ChromeSection::kLanes, cause, lane, time);
    }
    goroutine->cause = {};
    goroutine->lane = lane;
    goroutine->owner = owner;
    goroutine->running_since = time;
  }

  void Stop(Goroutine* goroutine, int64_t time, uint32_t stack) {
    const int64_t lane = std::exchange(goroutine->lane, kNoLane);
    if (Shows(EventKind::kStateTransition)) {
      WriteSlice(lane, goroutine->owner,
                 {goroutine->ShownName(), goroutine->running_since, time,
                  goroutine->last_stop_stack, stack});
    }
    for (const Span& span : goroutine->ended) WriteSlice(lane, goroutine->owner, span);
    goroutine->ended.clear();
    for (const OpenRange& range : goroutine->open_ranges.all()) {
      if (ShowsRanges()) WriteSlice(lane, goroutine->owner, SpanOf(range, *goroutine, time));
    }
    if (goroutine->open_ranges.size() > kMaxContinuedRanges) goroutine->open_ranges = {};
    goroutine->last_stop_stack = stack;
  }

  // The part of a range of the goroutine that is in its current slice, and ends at `end`.
  static Span SpanOf(const OpenRange& range, const Goroutine& goroutine, int64_t end) {
    if (range.run == goroutine.runs) return {range.name, range.begin, end, range.stack};
    return {range.name, goroutine.running_since, end};
  }

  void BeginSyscall(int64_t time, const Owner& owner, uint32_t stack, Goroutine* goroutine) {
    goroutine->in_syscall = true;
    goroutine->syscall = {"syscall", time, 0, stack};
    if (goroutine->lane != kNoLane) return;
    goroutine->lane = LaneOf(owner);
    goroutine->owner = owner;
    goroutine->running_since = time;
  }

  void EndSyscall(Goroutine* goroutine, int64_t time, bool blocked) {
    if (!std::exchange(goroutine->in_syscall, false)) return;
    goroutine->syscall.end = time;
    goroutine->syscall.args = blocked ? "\"blocked\":\"yes\"" : "\"blocked\":\"no\"";
    if (Shows(EventKind::kStateTransition)) goroutine->ended.push_back(goroutine->syscall);
  }

  void AddTransition(const Event& event) {
    const StateTransition transition = event.state_transition();
    if (event.thread() != ThreadId::kNone) threads_.insert(event.thread().value);
    if (transition.resource.kind == ResourceKind::kProc)
      return AddProcTransition(event, transition);
    const GoId id{transition.resource.id};
    Goroutine& goroutine = Get(id);
    Name(transition.stack, &goroutine);
    const GoState from = transition.go_from;
    const GoState to = transition.go_to;
    if (from == to) return;
    const uint32_t stack = writer_.NumberOf(event.stack());
    Owner owner = OwnerOf(event);
    owner.goroutine = id;
    // A state from before the trace counts from its beginning.
    const int64_t begin = from == GoState::kUndetermined ? begin_ : event.time();
    if (options_.view == View::kProc) {
      ChangeOnProc(event, from, to, owner, begin, stack, &goroutine);
    } else {
      ChangeOnOwnLane(event, from, to, owner, begin, stack, &goroutine);
    }
    if (to == GoState::kWaiting) goroutine.block_reason = std::string(transition.reason);
    if (from == GoState::kWaiting) Unblock(event, &goroutine);
    if (from == GoState::kNotExist && to == GoState::kRunnable) {
      MarkCause(event, "go");
      SetCause(event, "go", LaneOf(event), OwnerOf(event), &goroutine);
    }
    Count(event.time(), to, &goroutine);
    if (to == GoState::kNotExist) End(event, stack);
  }

  // The lanes are Ps: a goroutine whose syscall lost its P is in no lane.
  void ChangeOnProc(const Event& event, GoState from, GoState to, const Owner& owner, int64_t begin,
                    uint32_t stack, Goroutine* goroutine) {
    if (from == GoState::kSyscall) {
      // If it still has a P, the syscall did not block.
      if (goroutine->lane != kNoLane) EndSyscall(goroutine, event.time(), /*blocked=*/false);
      in_syscall_.erase(event.proc().value);
      if (to != GoState::kRunning) ExitBlockedSyscall(event, goroutine);
    }
    if (goroutine->lane != kNoLane && !IsExecuting(to)) Stop(goroutine, event.time(), stack);
    if (!IsExecuting(from) && to == GoState::kRunning) Start(begin, owner, goroutine);
    if (to == GoState::kSyscall && owner.proc != ProcId::kNone) {
      BeginSyscall(begin, owner, stack, goroutine);
      in_syscall_[owner.proc.value] = owner.goroutine;
    }
  }

  // The lanes are threads or goroutines: a goroutine in a syscall stays in its lane.
  void ChangeOnOwnLane(const Event& event, GoState from, GoState to, const Owner& owner,
                       int64_t begin, uint32_t stack, Goroutine* goroutine) {
    if (from == GoState::kSyscall) {
      EndSyscall(goroutine, event.time(), to != GoState::kRunning);
      if (to != GoState::kRunning && options_.view == View::kGoroutine) {
        ExitBlockedSyscall(event, goroutine);
      }
    }
    if (goroutine->lane != kNoLane && !IsExecuting(to)) Stop(goroutine, event.time(), stack);
    if (!IsExecuting(from) && IsExecuting(to)) Start(begin, owner, goroutine);
    if (to == GoState::kSyscall) BeginSyscall(begin, owner, stack, goroutine);
  }

  void ExitBlockedSyscall(const Event& event, Goroutine* goroutine) {
    constexpr absl::string_view kName = "exit blocked syscall";
    SetCause(event, kName, kSyscallsLane, Owner(), goroutine);
    if (!Shows(EventKind::kStateTransition) || !Shows(Owner()) || !ShowsTime(event.time())) return;
    writer_.Write({.phase = 'I',
                   .lane = kSyscallsLane,
                   .time = SinceStart(event.time()),
                   .name = kName,
                   .scope = "t",
                   .stack = writer_.NumberOf(event.stack())});
  }

  void Unblock(const Event& event, Goroutine* goroutine) {
    std::string name = "unblock";
    const std::string reason = std::exchange(goroutine->block_reason, "");
    if (!reason.empty()) absl::StrAppend(&name, " (", reason, ")");
    int64_t lane = LaneOf(event);
    Owner owner = OwnerOf(event);
    if (absl::StrContains(reason, "network")) {
      // The P or goroutine that happens to poll the network is not the cause.
      if (options_.view != View::kThread) {
        lane = kNetworkLane;
        owner = {};
      }
      if (Shows(owner)) WriteInstant(event, lane, name);
    } else {
      MarkCause(event, name);
    }
    SetCause(event, name, lane, owner, goroutine);
  }

  // Changes the counter of goroutines.
  void Count(int64_t time, GoState state, Goroutine* goroutine) {
    GoCount count = GoCount::kNone;
    switch (state) {
      case GoState::kUndetermined:
      case GoState::kNotExist:
        break;
      case GoState::kRunnable:
        count = GoCount::kRunnable;
        break;
      case GoState::kRunning:
      case GoState::kSyscall:
        count = GoCount::kRunning;
        break;
      case GoState::kWaiting:
        count = goroutine->open_ranges.Find(kMarkAssist) == OpenRanges::kNone
                    ? GoCount::kWaiting
                    : GoCount::kWaitingForGc;
    }
    if (count == goroutine->count) return;
    --go_counts_[static_cast<int>(goroutine->count)];
    ++go_counts_[static_cast<int>(count)];
    goroutine->count = count;
    if (!Shows(EventKind::kStateTransition)) return;
    const auto value = [&](GoCount of) { return go_counts_[static_cast<int>(of)]; };
    args_.clear();
    args_.Append("\"Running\":", value(GoCount::kRunning),
                 ",\"Runnable\":", value(GoCount::kRunnable),
                 ",\"GCWaiting\":", value(GoCount::kWaitingForGc));
    WriteCounters(time, "Goroutines", args_.view());
  }

  // A goroutine has ended.
  void End(const Event& event, uint32_t stack) {
    const int64_t id = event.transition_resource().id;
    Goroutine& goroutine = goroutines_[id];
    EndRegions(&goroutine, stack);
    // The goroutine of a thread that C created and that has left Go keeps its name in case it
    // returns.
    if (event.type() == EventType::kGoDestroySyscall) return;
    NameGoroutine(GoId{id}, goroutine);
    goroutines_.erase(id);
  }

  void NameGoroutine(GoId id, const Goroutine& goroutine) {
    if (options_.view != View::kGoroutine || !options_.filter.Selects(id)) {
      return;
    }
    writer_.NameLane(ChromeSection::kLanes, id.value, goroutine.ShownName(), id.value);
  }

  void AddLabel(const Event& event) {
    const Label label = event.label();
    const auto goroutine = goroutines_.find(label.resource.id);
    if (goroutine != goroutines_.end()) goroutine->second.label = std::string(label.label);
  }

  // --- Ps and threads.

  void AddProcTransition(const Event& event, const StateTransition& transition) {
    const int64_t proc = transition.resource.id;
    procs_.insert(proc);
    const bool was_running = transition.proc_from == ProcState::kRunning;
    const bool is_running = transition.proc_to == ProcState::kRunning;
    if (options_.view == View::kGoroutine || was_running == is_running) return;
    const int64_t time = transition.proc_from == ProcState::kUndetermined ? begin_ : event.time();
    running_procs_ += is_running ? 1 : -1;
    if (Shows(EventKind::kStateTransition)) {
      args_.clear();
      args_.Append("\"Running\":", running_procs_, ",\"InSyscall\":0");
      WriteCounters(time, "Threads", args_.view());
    }
    if (!is_running && options_.view == View::kProc) LosePInSyscall(event, proc);
    Owner owner = OwnerOf(event);
    owner.proc = ProcId{proc};
    if (!Shows(EventKind::kStateTransition) || !Shows(owner) || !ShowsTime(time)) return;
    args_.clear();
    args_.Append("\"thread\":", owner.thread.value, ",\"proc\":", proc);
    writer_.Write({.phase = 'I',
                   .lane = LaneOf(owner),
                   .time = SinceStart(time),
                   .name = is_running ? "proc start" : "proc stop",
                   .scope = "t",
                   .stack = writer_.NumberOf(event.stack()),
                   .args = args_.view()});
  }

  // The P of a goroutine in a syscall stops: the syscall blocks.
  void LosePInSyscall(const Event& event, int64_t proc) {
    const auto found = in_syscall_.find(proc);
    if (found == in_syscall_.end()) return;
    const auto goroutine = goroutines_.find(found->second.value);
    in_syscall_.erase(found);
    if (goroutine == goroutines_.end() || goroutine->second.lane == kNoLane) return;
    EndSyscall(&goroutine->second, event.time(), /*blocked=*/true);
    Stop(&goroutine->second, event.time(), writer_.NumberOf(event.stack()));
  }

  // --- Ranges.

  // Active ranges after the first generation are already known.
  bool IsKnown(const Event& event) const {
    return event.kind() == EventKind::kRangeActive && syncs_ > 1;
  }

  void AddRange(const Event& event) {
    const RangeParts range = event.range_parts();
    switch (range.scope.kind) {
      case ResourceKind::kGoroutine:
        return AddGoroutineRange(event, range.name(), GoId{range.scope.id});
      case ResourceKind::kProc:
        if (options_.view == View::kProc) AddProcRange(event, range.name(), ProcId{range.scope.id});
        return;
      default:
        return AddGlobalRange(event, range.name());
    }
  }

  void AddGoroutineRange(const Event& event, const std::string& name, GoId id) {
    const auto found = goroutines_.find(id.value);
    if (found == goroutines_.end()) return;
    Goroutine& goroutine = found->second;
    const std::optional<OpenRange> open = TakeRange(name, &goroutine.open_ranges);
    if (event.kind() == EventKind::kRangeEnd) {
      if (!open.has_value() || goroutine.lane == kNoLane || !ShowsRanges()) return;
      goroutine.ended.push_back(SpanOf(*open, goroutine, event.time()));
      goroutine.ended.back().end_stack = writer_.NumberOf(event.stack());
    } else if (event.kind() == EventKind::kRangeBegin) {
      goroutine.open_ranges.Add(
          {name, event.time(), writer_.NumberOf(event.stack()), goroutine.runs});
    } else {
      goroutine.open_ranges.Add({name, goroutine.running_since, 0, goroutine.runs});
    }
  }

  void AddProcRange(const Event& event, const std::string& name, ProcId proc) {
    Change(event, name, &proc_ranges_[proc.value], [&](const OpenRange& range, uint32_t end_stack) {
      EndProcRange(proc, range, end_stack);
    });
  }

  void AddGlobalRange(const Event& event, const std::string& name) {
    Change(event, name, &global_ranges_,
           [&](const OpenRange& range, uint32_t end_stack) { EndGlobalRange(range, end_stack); });
  }

  // Begins a range, or ends it with `end`.
  template <class End>
  void Change(const Event& event, const std::string& name, OpenRanges* ranges, End end) {
    if (IsKnown(event)) return;
    const std::optional<OpenRange> open = TakeRange(name, ranges);
    if (event.kind() == EventKind::kRangeEnd) {
      if (open.has_value()) end(*open, writer_.NumberOf(event.stack()));
      return;
    }
    const int64_t begin = event.kind() == EventKind::kRangeActive ? begin_ : event.time();
    ranges->Add({name, begin, writer_.NumberOf(event.stack())});
  }

  void EndProcRange(ProcId proc, const OpenRange& range, uint32_t end_stack) {
    if (!ShowsRanges()) return;
    Owner owner;
    owner.proc = proc;
    WriteSlice(proc.value, owner, {range.name, range.begin, last_time_, range.stack, end_stack});
  }

  void EndGlobalRange(const OpenRange& range, uint32_t end_stack) {
    if (!ShowsRanges() || !absl::StrContains(range.name, "GC")) return;
    WriteSlice(kGcLane, Owner(), {range.name, range.begin, last_time_, range.stack, end_stack});
  }

  // --- Metrics and logs.

  void AddMetric(const Event& event) {
    const Metric metric = event.metric();
    uint64_t* value = nullptr;
    if (metric.name == "/memory/classes/heap/objects:bytes") {
      value = &heap_allocated_;
    } else if (metric.name == "/gc/heap/goal:bytes") {
      value = &heap_goal_;
    } else {
      return;
    }
    // If there is no goal, the runtime states one that no heap can reach.
    constexpr uint64_t kMaxGoal = uint64_t{1} << 50;
    const uint64_t shown = value == &heap_goal_ && metric.value > kMaxGoal ? 0 : metric.value;
    if (std::exchange(*value, shown) == shown || !Shows(EventKind::kMetric)) return;
    const uint64_t left = heap_goal_ > heap_allocated_ ? heap_goal_ - heap_allocated_ : 0;
    args_.clear();
    args_.Append("\"Allocated\":", heap_allocated_, ",\"NextGC\":", left);
    WriteCounters(event.time(), "Heap", args_.view());
  }

  void AddLog(const Event& event) {
    const Log log = event.log();
    WriteInstant(event, LaneOf(event),
                 log.category.empty() ? std::string(log.message)
                                      : absl::StrCat("[", log.category, "] ", log.message),
                 "user event");
  }

  // --- Tasks and regions.

  void BeginTask(const Event& event) {
    const Task task = event.task();
    if (first_task_ == kBackgroundTask) first_task_ = task.id;
    if (!ShowsTask(task.id)) return;
    const OpenTask open = {
        std::string(task.type),          event.time(), event.goroutine(), OwnerOf(event),
        writer_.NumberOf(event.stack()), task_count_++};
    tasks_[task.id.value] = open;
    if (task.parent == TaskId::kNone || !ShowsTask(task.parent) || !Shows(EventKind::kTaskBegin) ||
        !Shows(open.owner)) {
      return;
    }
    // Viewers need a slice in which the arrow begins, but the parent may have ended.
    if (!tasks_.contains(task.parent.value) && ShowsTime(event.time())) {
      writer_.Write({.phase = 'I',
                     .section = ChromeSection::kTasks,
                     .lane = static_cast<int64_t>(task.parent.value),
                     .time = SinceStart(event.time()),
                     .name = "newTask",
                     .category = "arrow",
                     .scope = "t"});
    }
    WriteArrow(
        ChromeSection::kTasks,
        {"newTask", static_cast<int64_t>(task.parent.value), open.owner, event.time(), open.stack},
        static_cast<int64_t>(task.id.value), event.time());
  }

  void EndTask(const Event& event) {
    const TaskId id = event.task().id;
    const bool is_known = tasks_.contains(id.value);
    // Ids increase, so a task without a begin is older than the trace, or has already ended.
    if (!ShowsTask(id) || (!is_known && first_task_ != kBackgroundTask && id >= first_task_)) {
      return;
    }
    OpenTask task;
    if (const auto found = tasks_.find(id.value); found != tasks_.end()) {
      task = std::move(found->second);
      tasks_.erase(found);
    } else {
      task.begin = begin_;
      task.owner = OwnerOf(event);
      task.place = task_count_++;
    }
    WriteTask(id, task, event.goroutine(), writer_.NumberOf(event.stack()));
  }

  // Writes a task that ends now.
  void WriteTask(TaskId id, const OpenTask& task, GoId end_goroutine, uint32_t end_stack) {
    if ((!Shows(EventKind::kTaskBegin) && !Shows(EventKind::kTaskEnd)) || !Shows(task.owner) ||
        !ShowsSpan(task.begin, last_time_)) {
      return;
    }
    args_.clear();
    args_.Append("\"id\":", id.value);
    if (task.begin_goroutine != GoId::kNone) {
      args_.Append(",\"start_g\":", task.begin_goroutine.value);
    }
    if (end_goroutine != GoId::kNone) args_.Append(",\"end_g\":", end_goroutine.value);
    const int64_t lane = static_cast<int64_t>(id.value);
    writer_.Write({.phase = 'X',
                   .section = ChromeSection::kTasks,
                   .lane = lane,
                   .time = SinceStart(task.begin),
                   .duration = TraceClock::Subtract(last_time_, task.begin),
                   .name = task.name,
                   .stack = task.stack,
                   .end_stack = end_stack,
                   .color = ColorOfTask(id),
                   .args = args_.view()});
    writer_.NameLane(ChromeSection::kTasks, lane, absl::StrCat("T", id.value, " ", task.name),
                     task.place);
    has_tasks_ = true;
  }

  void BeginRegion(const Event& event) {
    if (event.goroutine() == GoId::kNone) return;
    const Region region = event.region();
    Get(event.goroutine())
        .regions.push_back({region.task, std::string(region.type), event.time(),
                            writer_.NumberOf(event.stack()), LaneOf(event), OwnerOf(event)});
  }

  void EndRegion(const Event& event) {
    if (event.goroutine() == GoId::kNone) return;
    std::vector<OpenRegion>& regions = Get(event.goroutine()).regions;
    const uint32_t stack = writer_.NumberOf(event.stack());
    if (!regions.empty()) {
      WriteRegion(regions.back(), stack);
      return regions.pop_back();
    }
    // It began before the trace.
    const Region region = event.region();
    WriteRegion({region.task, std::string(region.type), begin_, 0, LaneOf(event), OwnerOf(event)},
                stack);
  }

  void EndRegions(Goroutine* goroutine, uint32_t stack) {
    for (const OpenRegion& region : goroutine->regions) WriteRegion(region, stack);
    goroutine->regions.clear();
  }

  // Writes a region that ends now.
  void WriteRegion(const OpenRegion& region, uint32_t end_stack) {
    if ((!Shows(EventKind::kRegionBegin) && !Shows(EventKind::kRegionEnd)) ||
        !Shows(region.owner) || !ShowsTask(region.task) || region.lane == kNoLane ||
        !ShowsSpan(region.begin, last_time_)) {
      return;
    }
    const std::string scope = absl::StrCat(absl::Hex(region.task.value));
    ChromeEvent end = {.phase = 'b',
                       .lane = region.lane,
                       .time = SinceStart(region.begin),
                       .name = region.name.empty() ? kRegion : absl::string_view(region.name),
                       .category = "Region",
                       .scope = scope,
                       .id = writer_.NewSlice(),
                       .stack = region.stack};
    if (region.task != kBackgroundTask) end.color = ColorOfTask(region.task);
    writer_.Write(end);
    args_.clear();
    args_.Append("\"taskid\":", region.task.value);
    end.phase = 'e';
    end.time = SinceStart(last_time_);
    end.stack = end_stack;
    end.args = args_.view();
    writer_.Write(end);
  }

  // --- Names.

  void NameLanes() {
    writer_.NameSection(ChromeSection::kCounters, "STATS", 0);
    if (has_tasks_) writer_.NameSection(ChromeSection::kTasks, "TASKS", 1);
    constexpr absl::string_view kNames[] = {"PROCS", "OS THREADS", "G"};
    writer_.NameSection(ChromeSection::kLanes, kNames[static_cast<int>(options_.view)], 2);
    writer_.NameLane(ChromeSection::kLanes, kGcLane, "GC", -6);
    writer_.NameLane(ChromeSection::kLanes, kNetworkLane, "Network", -5);
    writer_.NameLane(ChromeSection::kLanes, kTimersLane, "Timers", -4);
    writer_.NameLane(ChromeSection::kLanes, kSyscallsLane, "Syscalls", -3);
    if (options_.view == View::kProc) {
      for (const int64_t proc : Sorted(procs_)) {
        if (!options_.filter.Selects(ProcId{proc})) continue;
        writer_.NameLane(ChromeSection::kLanes, proc, absl::StrCat("Proc ", proc), proc);
      }
    }
    if (options_.view == View::kThread) {
      for (const int64_t thread : Sorted(threads_)) {
        if (!options_.filter.Selects(ThreadId{thread})) continue;
        writer_.NameLane(ChromeSection::kLanes, thread, absl::StrCat("Thread ", thread), thread);
      }
    }
  }

  ChromeOptions options_;
  const ByteSink& out_;
  ChromeEventWriter& writer_;
  TextBuffer args_;  // For building ChromeEvent::args.

  bool begun_ = false;
  int64_t begin_ = 0;  // The time of the first event.
  int64_t start_ = 0;  // The time that is 0 in the output.
  int64_t last_time_ = 0;
  uint64_t syncs_ = 0;

  absl::flat_hash_map<int64_t, Goroutine> goroutines_;
  absl::flat_hash_map<int64_t, GoId> in_syscall_;  // The goroutine in a syscall with that P.
  absl::flat_hash_map<int64_t, OpenRanges> proc_ranges_;
  OpenRanges global_ranges_;
  absl::flat_hash_map<uint64_t, OpenTask> tasks_;
  absl::flat_hash_set<int64_t> threads_;
  absl::flat_hash_set<int64_t> procs_;

  int64_t go_counts_[static_cast<int>(GoCount::kEnd)] = {};
  int64_t running_procs_ = 0;
  uint64_t heap_allocated_ = 0;
  uint64_t heap_goal_ = 0;

  int64_t task_count_ = 0;
  TaskId first_task_ = kBackgroundTask;  // The first that began; kBackgroundTask for none.
  bool has_tasks_ = false;
};

ChromeExporter::ChromeExporter(ByteSink* out, const ChromeOptions& options)
    : own_file_(std::make_unique<ChromeFile>(out)),
      state_(std::make_unique<State>(own_file_->writer_.get(), options)) {}

ChromeExporter::ChromeExporter(ChromeFile* file, const ChromeOptions& options)
    : state_(std::make_unique<State>(file->writer_.get(), options)) {}

ChromeExporter::~ChromeExporter() = default;

void ChromeExporter::Add(absl::Span<const Event> events) {
  for (const Event& event : events) state_->Add(event);
}

bool ChromeExporter::WantsMore() const { return state_->WantsMore(); }

absl::Status ChromeExporter::Finish() {
  absl::Status status = state_->Finish();
  return own_file_ == nullptr ? status : own_file_->Finish();
}

}  // namespace gotrace
