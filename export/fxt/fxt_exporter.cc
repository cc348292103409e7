// The states of goroutines come from a StateTracker, as intervals. An interval is known when it
// ends, so the record of its beginning is written then: later than those of events meanwhile, but
// in order of time for each goroutine. All other records are written with their event.
//
// Before the window of time begins, events only change what is open. Once the first event of the
// window comes, what is open is written with the time at which the window begins.
#include "gotrace/fxt_exporter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_writer.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

using internal::FxtArgument;
using internal::FxtEvent;
using internal::FxtInt32;
using internal::FxtKoid;
using internal::FxtRecord;
using internal::FxtScheduling;
using internal::FxtState;
using internal::FxtString;
using internal::FxtType;
using internal::FxtUint64;

namespace {

// Threads that stand for something else than a goroutine. Goroutines have their own ids, of which
// Perfetto keeps 32 bits.
constexpr uint64_t kRuntime = 0xfffe0000;
constexpr uint64_t kNetwork = 0xfffe0001;
constexpr uint64_t kTimers = 0xfffe0002;
constexpr uint64_t kCollector = 0xfffe0003;
constexpr uint64_t kFirstProc = 0xffff0000;

// The CPU of goroutines that change their state without a P. Perfetto has no more CPUs.
constexpr int64_t kNoCpu = 4095;

// Longer strings are cut off, so that every record fits into its maximum size. Go's own strings
// have at most 1024 bytes.
constexpr size_t kMaxText = 8000;

constexpr int64_t kNotOnCpu = -1;

// What the writer of a goroutine's states knows.
struct GoThread {
  bool is_introduced = false;  // Its thread record was written,
  bool is_named = false;       // with its name.
  int64_t cpu = kNotOnCpu;     // Where the file says that it runs.
};

// A region or range that is open.
struct OpenSlice {
  bool is_region = false;
  bool is_selected = false;
  bool is_written = false;
  StringId name = StringId::kEmpty;
  TaskId task;
};

struct OpenTask {
  StringId type = StringId::kEmpty;
  TaskId parent;
  bool is_selected = false;
};

struct Counter {
  absl::string_view metric;
  absl::string_view name;
  absl::string_view unit;
};
constexpr Counter kCounters[] = {
    {"/memory/classes/heap/objects:bytes", "heap", "bytes"},
    {"/gc/heap/goal:bytes", "heap goal", "bytes"},
    {"/sched/gomaxprocs:threads", "GOMAXPROCS", "threads"},
};

int64_t CpuOf(ProcId proc) { return proc.value >= 0 && proc.value < kNoCpu ? proc.value : kNoCpu; }

}  // namespace

class FxtExporter::Impl final : public IntervalConsumer {
 public:
  Impl(ByteSink* out, FxtOptions options)
      : options_(std::move(options)),
        select_(options_.filter.WithoutTimes()),
        writer_(internal::MakeFxtStore(options_.buffer, out)),
        tracker_(&interner_, this) {}

  void Add(absl::Span<const Event> events);
  absl::Status Finish();
  uint64_t dropped() const { return writer_.dropped(); }
  void NoteDropped() const {
    if (dropped() == 0 || !options_.on_note) return;
    options_.on_note(absl::StrCat(dropped(), dropped() == 1 ? " record" : " records",
                                  " did not fit into the buffer and were left out"));
  }

  void AddGoroutine(const GoInterval& interval) override;
  void Merge(IntervalConsumer&&, const InternerMap&) override {}

 private:
  // The window, once it is known when the trace starts.
  void SetWindow(int64_t start);
  bool InWindow(int64_t time) const { return from_ <= time && time <= to_; }
  // Writes what is open at the beginning of the window.
  void OpenWindow();

  void AddEvent(const Event& event);
  void AddMetric(const Event& event);
  void AddRegionEnd(const Event& event);
  void AddTask(const Event& event);
  void AddLog(const Event& event);
  void AddRangeEnd(const Event& event);
  void AddSample(const Event& event);
  void AddSync(const Event& event);

  void BeginSlice(uint64_t lane, OpenSlice slice, int64_t time, const Event& event);
  // Ends the slice at `index` of the lane's open ones. Those above it, which would have to end
  // first, are interrupted.
  void EndSlice(uint64_t lane, size_t index, int64_t time, std::vector<FxtArgument> arguments);
  void WriteBegin(uint64_t lane, int64_t time, OpenSlice* slice);
  void WriteEnd(uint64_t lane, int64_t time, const OpenSlice& slice,
                std::vector<FxtArgument> arguments = {});
  void WriteTask(FxtEvent kind, int64_t time, uint64_t lane, TaskId id, const OpenTask& task);
  void WriteCounter(size_t counter, int64_t time);

  // How goroutines change their states.
  void WriteState(const GoInterval& interval);
  void Enter(const GoInterval& interval, int64_t time, GoThread* go);
  void Leave(GoId id, FxtState state, int64_t time, GoThread* go, absl::string_view reason = "");
  void WriteWakeup(const GoInterval& interval);
  void WriteSyscall(const GoInterval& interval, int64_t begin, int64_t end);
  void WriteFlow(const GoInterval& interval);
  bool SelectsPlace(ProcId proc, ThreadId thread) const {
    return select_.Selects(proc) && select_.Selects(thread);
  }

  // Threads and their names.
  GoThread& Introduce(GoId id, StackId stack = StackId::kNone);
  void IntroduceLane(uint64_t lane, absl::string_view name);
  void WriteProcess();
  void WriteThread(uint64_t koid, absl::string_view name);
  uint64_t LaneOf(const ResourceId& scope);
  uint64_t LaneOf(const Event& event);

  // Return an event record of `lane`, and a scheduling record. Write() writes it.
  FxtRecord& Make(FxtEvent kind, int64_t time, uint64_t lane, absl::string_view category,
                  absl::string_view name);
  FxtRecord& Make(FxtScheduling kind, int64_t time, int64_t cpu);
  void Write() { writer_.Write(record_); }

  absl::string_view Text(StringId id) const { return interner_.String(id).substr(0, kMaxText); }
  absl::string_view NameOf(const OpenTask& task) const {
    return task.type == StringId::kEmpty ? "task" : Text(task.type);
  }
  absl::string_view LeafFunction(StackId stack) const {
    const absl::Span<const FrameId> frames = interner_.Frames(stack);
    return frames.empty() ? "" : interner_.Frame(frames[0]).func.substr(0, kMaxText);
  }

  const FxtOptions options_;
  const EventFilter select_;  // Without times.
  internal::FxtWriter writer_;
  Interner interner_;
  StateTracker tracker_;
  FxtRecord record_;

  bool has_events_ = false;
  bool has_process_ = false;
  bool is_open_ = false;       // Whether the window has begun.
  bool is_finishing_ = false;  // Whether intervals end because the trace does.
  int64_t from_ = std::numeric_limits<int64_t>::min();
  int64_t to_ = std::numeric_limits<int64_t>::max();
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  int64_t sync_time_ = std::numeric_limits<int64_t>::min();  // When the generation began.

  absl::flat_hash_map<GoId, GoThread> goroutines_;
  std::map<uint64_t, std::vector<OpenSlice>> slices_;  // By lane, outermost first.
  std::map<uint64_t, OpenTask> tasks_;
  std::array<std::optional<uint64_t>, std::size(kCounters)> counters_;
  absl::flat_hash_set<uint64_t> lanes_;  // Those without a goroutine that were introduced.
  uint64_t flows_ = 0;
};

void FxtExporter::Impl::SetWindow(int64_t start) {
  const EventFilter::Times times = options_.filter.WithAbsoluteTimes(start).times;
  from_ = std::max(start, times.from);
  to_ = times.to;
}

void FxtExporter::Impl::Add(absl::Span<const Event> events) {
  if (events.empty()) return;
  if (!std::exchange(has_events_, true)) SetWindow(events.front().time());
  for (const Event& event : events) {
    if (event.time() >= from_ && !is_open_) OpenWindow();
    last_time_ = std::max(last_time_, std::min(event.time(), to_));
    // The end of a goroutine ends its regions first.
    AddEvent(event);
    tracker_.Add(absl::MakeConstSpan(&event, 1));
  }
}

void FxtExporter::Impl::OpenWindow() {
  is_open_ = true;
  for (size_t counter = 0; counter < counters_.size(); ++counter) {
    if (counters_[counter].has_value()) WriteCounter(counter, from_);
  }
  // The goroutine that began a task may have ended.
  for (const auto& [id, task] : tasks_) {
    WriteTask(FxtEvent::kAsyncBegin, from_, LaneOf(ResourceId{}), TaskId{id}, task);
  }
  for (auto& [lane, slices] : slices_) {
    if (lane < kRuntime && !slices.empty()) Introduce(GoId{static_cast<int64_t>(lane)});
    if (lane >= kFirstProc) IntroduceLane(lane, absl::StrCat("P ", lane - kFirstProc));
    for (OpenSlice& slice : slices) WriteBegin(lane, from_, &slice);
  }
}

absl::Status FxtExporter::Impl::Finish() {
  is_finishing_ = true;
  (void)tracker_.Finish();
  if (is_open_) {
    // What is open lasts until the last record.
    Make(FxtEvent::kInstant, std::max(from_, last_time_), LaneOf(ResourceId{}), "trace", "end");
    Write();
  }
  WriteProcess();
  return writer_.Finish();
}

// Events.

void FxtExporter::Impl::AddEvent(const Event& event) {
  switch (event.kind()) {
    case EventKind::kNone:
    case EventKind::kExperimental:
      return;
    case EventKind::kSync:
      sync_time_ = event.time();
      return AddSync(event);
    case EventKind::kMetric:
      return AddMetric(event);
    case EventKind::kLabel: {
      if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
      const Label label = event.label();
      Make(FxtEvent::kInstant, event.time(), LaneOf(label.resource), "label",
           label.label.substr(0, kMaxText));
      return Write();
    }
    case EventKind::kStackSample:
      return AddSample(event);
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive: {
      const RangeParts range = event.range_parts();
      const uint64_t lane = LaneOf(range.scope);
      OpenSlice slice;
      slice.name = interner_.InternString(range.name());
      int64_t time = event.time();
      if (event.kind() == EventKind::kRangeActive) {
        const std::vector<OpenSlice>& open = slices_[lane];
        for (const OpenSlice& other : open) {
          if (!other.is_region && other.name == slice.name) return;
        }
        // It has been open since the generation began, though it may be stated late. It cannot
        // enclose what has begun since then.
        if (open.empty()) time = sync_time_;
      }
      return BeginSlice(lane, slice, time, event);
    }
    case EventKind::kRangeEnd:
      return AddRangeEnd(event);
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      return AddTask(event);
    case EventKind::kRegionBegin: {
      const Region region = event.region();
      OpenSlice slice;
      slice.is_region = true;
      slice.name = interner_.InternString(region.type);
      slice.task = region.task;
      return BeginSlice(LaneOf(event), slice, event.time(), event);
    }
    case EventKind::kRegionEnd:
      return AddRegionEnd(event);
    case EventKind::kLog:
      return AddLog(event);
    case EventKind::kStateTransition: {
      const ResourceId resource = event.transition_resource();
      if (resource.kind != ResourceKind::kGoroutine ||
          event.transition_to() != static_cast<uint8_t>(GoState::kNotExist)) {
        return;
      }
      // Nothing can end what is still open when the goroutine does.
      const uint64_t lane = static_cast<uint64_t>(resource.id);
      const auto open = slices_.find(lane);
      if (open == slices_.end()) return;
      while (!open->second.empty()) EndSlice(lane, open->second.size() - 1, event.time(), {});
      slices_.erase(open);
      return;
    }
  }
}

void FxtExporter::Impl::AddSync(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const Sync sync = event.sync();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(ResourceId{}), "trace", "sync");
  record.arguments = {FxtUint64("number", sync.n)};
  if (sync.clock_snapshot.has_value()) {
    const ClockSnapshot& clocks = *sync.clock_snapshot;
    record.arguments.push_back(internal::FxtInt64("trace time", clocks.trace_time));
    record.arguments.push_back(FxtUint64("monotonic clock", clocks.mono));
    record.arguments.push_back(internal::FxtInt64("wall clock", absl::ToUnixNanos(clocks.wall)));
  }
  Write();
}

void FxtExporter::Impl::AddMetric(const Event& event) {
  if (!select_.Matches(event, 0)) return;
  const Metric metric = event.metric();
  for (size_t counter = 0; counter < std::size(kCounters); ++counter) {
    if (metric.name != kCounters[counter].metric) continue;
    if (event.time() > to_) return;
    counters_[counter] = metric.value;
    if (is_open_) WriteCounter(counter, event.time());
  }
}

void FxtExporter::Impl::WriteCounter(size_t counter, int64_t time) {
  FxtRecord& record =
      Make(FxtEvent::kCounter, time, LaneOf(ResourceId{}), "metric", kCounters[counter].name);
  record.arguments = {FxtUint64(kCounters[counter].unit, *counters_[counter])};
  Write();
}

void FxtExporter::Impl::BeginSlice(uint64_t lane, OpenSlice slice, int64_t time,
                                   const Event& event) {
  slice.is_selected = select_.Matches(event, 0);
  slices_[lane].push_back(slice);
  if (is_open_ && time <= to_) WriteBegin(lane, std::max(time, from_), &slices_[lane].back());
}

void FxtExporter::Impl::WriteBegin(uint64_t lane, int64_t time, OpenSlice* slice) {
  if (!slice->is_selected) return;
  slice->is_written = true;
  FxtRecord& record = Make(FxtEvent::kDurationBegin, time, lane,
                           slice->is_region ? "region" : "range", Text(slice->name));
  if (slice->is_region && slice->task != kBackgroundTask && slice->task != TaskId::kNone) {
    record.arguments = {FxtUint64("task", slice->task.value)};
  }
  Write();
}

void FxtExporter::Impl::WriteEnd(uint64_t lane, int64_t time, const OpenSlice& slice,
                                 std::vector<FxtArgument> arguments) {
  if (!slice.is_written || time > to_) return;
  FxtRecord& record = Make(FxtEvent::kDurationEnd, time, lane, slice.is_region ? "region" : "range",
                           Text(slice.name));
  record.arguments = std::move(arguments);
  Write();
}

void FxtExporter::Impl::EndSlice(uint64_t lane, size_t index, int64_t time,
                                 std::vector<FxtArgument> arguments) {
  std::vector<OpenSlice>& open = slices_[lane];
  for (size_t i = open.size() - 1; i > index; --i) WriteEnd(lane, time, open[i]);
  WriteEnd(lane, time, open[index], std::move(arguments));
  open.erase(open.begin() + static_cast<ptrdiff_t>(index));
  if (!InWindow(time)) return;
  for (size_t i = index; i < open.size(); ++i) WriteBegin(lane, time, &open[i]);
}

void FxtExporter::Impl::AddRangeEnd(const Event& event) {
  const RangeParts range = event.range_parts();
  const uint64_t lane = LaneOf(range.scope);
  const StringId name = interner_.InternString(range.name());
  const std::vector<OpenSlice>& open = slices_[lane];
  for (size_t index = open.size(); index-- > 0;) {
    if (open[index].is_region || open[index].name != name) continue;
    std::vector<FxtArgument> arguments;
    const std::vector<RangeAttribute> attributes = event.range_attributes();
    for (const RangeAttribute& attribute : attributes) {
      arguments.push_back(FxtUint64(attribute.name, attribute.value));
    }
    return EndSlice(lane, index, event.time(), std::move(arguments));
  }
}

void FxtExporter::Impl::AddRegionEnd(const Event& event) {
  const Region region = event.region();
  const uint64_t lane = LaneOf(event);
  const std::vector<OpenSlice>& open = slices_[lane];
  for (size_t index = open.size(); index-- > 0;) {
    if (open[index].is_region) return EndSlice(lane, index, event.time(), {});
  }
  // It began before the trace did. A duration would have to enclose all that the goroutine has had
  // since then.
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), lane, "region", "end of region");
  record.arguments = {FxtString("region", region.type.substr(0, kMaxText))};
  if (region.task != kBackgroundTask && region.task != TaskId::kNone) {
    record.arguments.push_back(FxtUint64("task", region.task.value));
  }
  Write();
}

void FxtExporter::Impl::AddTask(const Event& event) {
  const Task task = event.task();
  const bool in_window = InWindow(event.time());
  const OpenTask stated = {interner_.InternString(task.type), task.parent,
                           select_.Matches(event, 0)};
  if (event.kind() == EventKind::kTaskBegin) {
    tasks_[task.id.value] = stated;
    if (in_window) {
      WriteTask(FxtEvent::kAsyncBegin, event.time(), LaneOf(event), task.id, stated);
    }
    return;
  }
  auto open = tasks_.extract(task.id.value);
  if (!in_window) return;
  if (!open.empty()) {
    return WriteTask(FxtEvent::kAsyncEnd, event.time(), LaneOf(event), task.id, open.mapped());
  }
  // It began before the trace did, or has ended already.
  if (!stated.is_selected) return;
  Make(FxtEvent::kAsyncInstant, event.time(), LaneOf(event), "task", "end of task").id =
      task.id.value;
  Write();
}

void FxtExporter::Impl::WriteTask(FxtEvent kind, int64_t time, uint64_t lane, TaskId id,
                                  const OpenTask& task) {
  if (!task.is_selected) return;
  FxtRecord& record = Make(kind, time, lane, "task", NameOf(task));
  record.id = id.value;
  if (kind == FxtEvent::kAsyncBegin) {
    record.arguments = {FxtUint64("task", id.value)};
    if (task.parent != TaskId::kNone && task.parent != kBackgroundTask) {
      record.arguments.push_back(FxtUint64("parent", task.parent.value));
    }
  }
  Write();
}

void FxtExporter::Impl::AddLog(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const Log log = event.log();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "log",
                           log.category.empty() ? "log" : log.category.substr(0, kMaxText));
  record.arguments = {FxtString("category", log.category.substr(0, kMaxText)),
                      FxtString("message", log.message.substr(0, kMaxText))};
  if (log.task != kBackgroundTask && log.task != TaskId::kNone) {
    record.arguments.push_back(FxtUint64("task", log.task.value));
  }
  writer_.WriteOnce(record_);
}

void FxtExporter::Impl::AddSample(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const StackId stack = interner_.InternStack(event.stack());
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "cpu", "CPU sample");
  record.arguments = {FxtString("function", LeafFunction(stack))};
  Write();
}

// States of goroutines.

void FxtExporter::Impl::AddGoroutine(const GoInterval& interval) {
  const bool is_before = interval.begin < from_ && interval.end <= from_;
  if (select_.Selects(EventKind::kStateTransition) && select_.Selects(interval.goroutine) &&
      !is_before && interval.begin <= to_) {
    WriteState(interval);
  }
  if (interval.ends_life) goroutines_.erase(interval.goroutine);
}

void FxtExporter::Impl::WriteState(const GoInterval& interval) {
  const int64_t begin = std::max(interval.begin, from_);
  GoThread& go = Introduce(interval.goroutine, interval.stack);
  Enter(interval, begin, &go);
  if (interval.state == GoState::kSyscall) {
    WriteSyscall(interval, begin, std::min(interval.end, to_));
  }
  if (interval.state == GoState::kRunnable) WriteFlow(interval);
  // After a gap nothing is known of the goroutine until its next interval.
  const bool has_gap = interval.end_clipped && !is_finishing_;
  if (interval.end > to_ || !(interval.ends_life || has_gap)) return;
  if (go.cpu != kNotOnCpu || SelectsPlace(interval.ended_by.proc, interval.ended_by.thread)) {
    Leave(interval.goroutine, FxtState::kDead, interval.end, &go);
  }
}

void FxtExporter::Impl::Enter(const GoInterval& interval, int64_t time, GoThread* go) {
  const GoId id = interval.goroutine;
  if (interval.state == GoState::kRunning) {
    if (!SelectsPlace(interval.proc, interval.thread)) return;
    go->cpu = CpuOf(interval.proc);
    FxtRecord& record = Make(FxtScheduling::kContextSwitch, time, go->cpu);
    record.outgoing_state = static_cast<uint8_t>(FxtState::kRunning);
    record.outgoing.thread = 0;
    record.incoming.thread = static_cast<uint64_t>(id.value);
    record.arguments = {FxtInt32("outgoing_weight", internal::kFxtIdleWeight)};
    return Write();
  }
  const bool is_clipped = interval.begin_clipped || interval.begin < time;
  if (go->cpu == kNotOnCpu && !SelectsPlace(interval.begun_by.proc, interval.begun_by.thread)) {
    return;
  }
  if (go->cpu == kNotOnCpu && interval.state == GoState::kRunnable && !is_clipped) {
    return WriteWakeup(interval);
  }
  FxtState state = FxtState::kRunning;  // It could run.
  if (interval.state == GoState::kWaiting) state = FxtState::kBlocked;
  if (interval.state == GoState::kSyscall) state = FxtState::kSuspended;
  Leave(id, state, time, go, Text(interval.reason));
}

void FxtExporter::Impl::Leave(GoId id, FxtState state, int64_t time, GoThread* go,
                              absl::string_view reason) {
  FxtRecord& record =
      Make(FxtScheduling::kContextSwitch, time, go->cpu == kNotOnCpu ? kNoCpu : go->cpu);
  record.outgoing_state = static_cast<uint8_t>(state);
  record.outgoing.thread = static_cast<uint64_t>(id.value);
  record.incoming.thread = 0;
  record.arguments = {FxtInt32("incoming_weight", internal::kFxtIdleWeight)};
  if (!reason.empty()) record.arguments.push_back(FxtString("reason", reason));
  Write();
  go->cpu = kNotOnCpu;
}

void FxtExporter::Impl::WriteWakeup(const GoInterval& interval) {
  std::optional<uint64_t> waker;
  switch (interval.begun_by.kind) {
    case CauseKind::kGoroutine:
      waker = static_cast<uint64_t>(interval.begun_by.goroutine.value);
      break;
    case CauseKind::kNetwork:
      IntroduceLane(kNetwork, "network poller");
      waker = kNetwork;
      break;
    case CauseKind::kTimer:
      IntroduceLane(kTimers, "timers");
      waker = kTimers;
      break;
    case CauseKind::kGc:
      IntroduceLane(kCollector, "garbage collector");
      waker = kCollector;
      break;
    case CauseKind::kUnknown:
    case CauseKind::kItself:
    case CauseKind::kScheduler:
    case CauseKind::kSyscall:
      break;
  }
  FxtRecord& record = Make(FxtScheduling::kWakeup, interval.begin, CpuOf(interval.begun_by.proc));
  record.outgoing_state = 0;
  record.incoming.thread = static_cast<uint64_t>(interval.goroutine.value);
  if (waker.has_value()) record.arguments = {FxtKoid("waker", *waker)};
  Write();
}

void FxtExporter::Impl::WriteSyscall(const GoInterval& interval, int64_t begin, int64_t end) {
  if (!SelectsPlace(interval.proc, interval.thread)) return;
  FxtRecord& record = Make(FxtEvent::kDurationComplete, begin,
                           static_cast<uint64_t>(interval.goroutine.value), "syscall", "syscall");
  record.id = static_cast<uint64_t>(end);
  const absl::string_view function = LeafFunction(interval.stack);
  if (!function.empty()) record.arguments = {FxtString("function", function)};
  Write();
}

void FxtExporter::Impl::WriteFlow(const GoInterval& interval) {
  const bool ran = !interval.end_clipped && !interval.ends_life && interval.end <= to_;
  if (!options_.flows || !ran || interval.begun_by.kind != CauseKind::kGoroutine ||
      interval.begin < from_ || !select_.Selects(interval.begun_by.goroutine) ||
      !SelectsPlace(interval.begun_by.proc, interval.begun_by.thread)) {
    return;
  }
  const absl::string_view name = interval.starts_life ? "create" : "unblock";
  const uint64_t waker = static_cast<uint64_t>(interval.begun_by.goroutine.value);
  const uint64_t woken = static_cast<uint64_t>(interval.goroutine.value);
  const uint64_t flow = ++flows_;
  // Both threads are introduced with their own states. The waker may have ended since then.
  // Perfetto connects flows with the events that enclose them.
  Make(FxtEvent::kInstant, interval.begin, waker, "flow", name);
  Write();
  Make(FxtEvent::kFlowBegin, interval.begin, waker, "flow", name).id = flow;
  Write();
  Make(FxtEvent::kInstant, interval.end, woken, "flow", "start");
  Write();
  Make(FxtEvent::kFlowEnd, interval.end, woken, "flow", name).id = flow;
  Write();
}

// Threads.

GoThread& FxtExporter::Impl::Introduce(GoId id, StackId stack) {
  GoThread& go = goroutines_[id];
  if (go.is_named) return go;
  const absl::string_view name = interner_.RootFunction(stack);
  if (go.is_introduced && name.empty()) return go;
  go.is_introduced = true;
  go.is_named = !name.empty();
  WriteThread(static_cast<uint64_t>(id.value),
              name.empty() ? absl::StrCat("goroutine ", id.value) : name);
  return go;
}

void FxtExporter::Impl::IntroduceLane(uint64_t lane, absl::string_view name) {
  if (lanes_.insert(lane).second) WriteThread(lane, name);
}

void FxtExporter::Impl::WriteProcess() {
  if (std::exchange(has_process_, true)) return;
  FxtRecord process;
  process.type = FxtType::kKernelObject;
  process.kind = internal::kFxtProcessObject;
  process.id = options_.pid;
  process.name = absl::string_view(options_.process_name).substr(0, kMaxText);
  writer_.Write(process);
}

void FxtExporter::Impl::WriteThread(uint64_t koid, absl::string_view name) {
  WriteProcess();
  FxtRecord thread;
  thread.type = FxtType::kKernelObject;
  thread.kind = internal::kFxtThreadObject;
  thread.id = koid;
  thread.name = name.substr(0, kMaxText);
  thread.arguments = {FxtKoid("process", options_.pid)};
  writer_.Write(thread);
}

uint64_t FxtExporter::Impl::LaneOf(const ResourceId& scope) {
  switch (scope.kind) {
    case ResourceKind::kGoroutine:
      if (scope.id == GoId::kNone.value) break;
      if (is_open_) Introduce(GoId{scope.id});
      return static_cast<uint64_t>(scope.id);
    case ResourceKind::kProc: {
      const uint64_t lane = kFirstProc + (static_cast<uint64_t>(scope.id) & 0xffff);
      if (is_open_) IntroduceLane(lane, absl::StrCat("P ", scope.id));
      return lane;
    }
    case ResourceKind::kNone:
    case ResourceKind::kThread:
      break;
  }
  if (is_open_) IntroduceLane(kRuntime, "runtime");
  return kRuntime;
}

uint64_t FxtExporter::Impl::LaneOf(const Event& event) {
  if (event.goroutine() != GoId::kNone) {
    return LaneOf(ResourceId{ResourceKind::kGoroutine, event.goroutine().value});
  }
  if (event.proc() != ProcId::kNone) {
    return LaneOf(ResourceId{ResourceKind::kProc, event.proc().value});
  }
  return LaneOf(ResourceId{});
}

FxtRecord& FxtExporter::Impl::Make(FxtEvent kind, int64_t time, uint64_t lane,
                                   absl::string_view category, absl::string_view name) {
  record_.type = FxtType::kEvent;
  record_.kind = static_cast<uint8_t>(kind);
  record_.ticks = static_cast<uint64_t>(time);
  record_.thread = {options_.pid, lane};
  record_.category = category;
  record_.name = name;
  record_.id = 0;
  record_.arguments.clear();
  return record_;
}

FxtRecord& FxtExporter::Impl::Make(FxtScheduling kind, int64_t time, int64_t cpu) {
  record_.type = FxtType::kScheduling;
  record_.kind = static_cast<uint8_t>(kind);
  record_.index = static_cast<uint16_t>(cpu);
  record_.ticks = static_cast<uint64_t>(time);
  record_.arguments.clear();
  return record_;
}

FxtExporter::FxtExporter(ByteSink* out, FxtOptions options)
    : impl_(std::make_unique<Impl>(out, std::move(options))) {}
FxtExporter::~FxtExporter() = default;

void FxtExporter::Add(absl::Span<const Event> events) { impl_->Add(events); }
absl::Status FxtExporter::Finish() {
  absl::Status status = impl_->Finish();
  impl_->NoteDropped();
  return status;
}
uint64_t FxtExporter::dropped_records() const { return impl_->dropped(); }

}  // namespace gotrace
