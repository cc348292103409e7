// The states of goroutines come from a StateTracker, as intervals. An interval is known when it
// ends, so the record of its beginning is written then: after the records of events in between, but
// in order of time for each goroutine. All other records are written with their event.
//
// Before the window of time begins, events only change the set of open slices. With the first event
// of the window, the open slices are written with the time at which the window begins.
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
#include "export/counters.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_koids.h"
#include "export/fxt/fxt_writer.h"
#include "export/fxt/open_slices.h"
#include "export/process_bits.h"
#include "export/thread_slices.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "util/cut_text.h"

namespace gotrace {

using internal::FxtInt32;
using internal::FxtKoid;
using internal::FxtKoids;
using internal::FxtString;
using internal::FxtUint64;
using internal::OpenSlice;
using internal::OpenSlices;
using internal::WholePrefix;

namespace {

// The CPU of goroutines that change their state without a P. Perfetto has no more CPUs.
constexpr int64_t kNoCpu = 4095;

// Longer strings are cut off, so that no record exceeds its maximum size. Go's own strings have at
// most 1024 bytes.
constexpr size_t kMaxText = 8000;

constexpr int64_t kNotOnCpu = -1;

// The state of writing a goroutine.
struct GoThread {
  bool is_introduced = false;        // Whether its thread record was written.
  bool is_named = false;             // Whether its name was written.
  StringId name = StringId::kEmpty;  // The name that was written.
  int64_t cpu = kNotOnCpu;           // Where the file says that it runs.
};

// If the end of a slice interrupts more than this number of others, these are not resumed, so that
// the size of the file is in proportion to the trace.
constexpr size_t kMaxInterrupted = 16;

struct OpenTask {
  StringId type = StringId::kEmpty;
  TaskId parent;
  bool is_selected = false;
  StackId stack = StackId::kNone;
};

}  // namespace

class FxtExporter::Impl final : public IntervalConsumer {
 public:
  Impl(ByteSink* out, FxtOptions options)
      : options_(std::move(options)),
        select_(options_.filter.WithoutTimes()),
        out_(*out),
        writer_(internal::MakeFxtStore(options_.buffer, out)),
        tracker_(&interner_, this),
        state_counters_([this](int64_t time, size_t counter, uint64_t value) {
          WriteStateCounter(time, counter, value);
        }) {}

  void Add(absl::Span<const Event> events);
  bool WantsMore() const { return out_.ok(); }
  absl::Status Finish();
  uint64_t dropped() const { return writer_.dropped(); }
  uint64_t replaced() const { return writer_.replaced(); }
  void GiveNotes() const;

  void AddGoroutine(const GoInterval& interval) override;
  void AddThread(const ThreadInterval& interval) override;
  void Merge(IntervalConsumer&&, const InternerMap&) override {}

 private:
  // Sets the window, once the start of the trace is known.
  void SetWindow(int64_t start);
  bool InWindow(int64_t time) const { return from_ <= time && time <= to_; }
  // Writes the slices that are open at the beginning of the window.
  void OpenWindow();

  void AddEvent(const Event& event);
  void AddMetric(const Event& event);
  void AddRegionEnd(const Event& event);
  void AddTask(const Event& event);
  void AddLog(const Event& event);
  void AddRangeEnd(const Event& event);
  void AddSample(const Event& event);
  void AddSync(const Event& event);

  void AddTransition(const Event& event);
  void AddExperimental(const Event& event);

  void BeginSlice(const ResourceId& scope, OpenSlice slice, int64_t time, const Event& event);
  // Ends one of the open slices of `scope`. Slices that are written inside it are interrupted.
  void EndSlice(const ResourceId& scope, OpenSlice* slice, int64_t time,
                std::vector<FxtArgument> arguments);
  void WriteBegin(uint64_t lane, int64_t time, const OpenSlice& slice);
  void WriteEnd(uint64_t lane, int64_t time, const OpenSlice& slice,
                std::vector<FxtArgument> arguments = {});
  void WriteTask(FxtEvent kind, int64_t time, uint64_t lane, TaskId id, const OpenTask& task);
  void WriteMetric(size_t counter, int64_t time);
  void WriteStateCounter(int64_t time, size_t counter, uint64_t value);

  // How goroutines change their states.
  void WriteState(const GoInterval& interval);
  void Enter(const GoInterval& interval, int64_t time, GoThread* go);
  void Leave(GoId id, FxtState state, int64_t time, GoThread* go, absl::string_view reason = "");
  // Writes that something woke a goroutine. Returns false if the waker is not known.
  bool WriteWakeup(const GoInterval& interval);
  void WriteSyscall(const GoInterval& interval, int64_t begin, int64_t end);
  void WriteWait(const GoInterval& interval, int64_t begin, int64_t end);
  void WriteFlows(const GoInterval& interval);
  // Writes a flow from the action of another goroutine at `begin` to `goroutine`, which could run
  // because of it, at `end`.
  void WriteFlow(absl::string_view name, const Cause& cause, int64_t begin, GoId goroutine,
                 int64_t end);
  bool SelectsPlace(ProcId proc, ThreadId thread) const {
    return select_.Selects(proc) && select_.Selects(thread);
  }

  // Threads and their names.
  GoThread& Introduce(GoId id, StackId stack = StackId::kNone);
  void IntroduceLane(uint64_t lane, absl::string_view name);
  // Returns the lane of a part of the runtime.
  uint64_t IntroducePart(FxtKoids::Part part, absl::string_view name) {
    const uint64_t lane = koids_.Of(part);
    IntroduceLane(lane, name);
    return lane;
  }
  void WriteProcess();
  void WriteThread(uint64_t koid, absl::string_view name, std::vector<FxtArgument> arguments = {});
  uint64_t KoidOf(GoId id) { return koids_.Of(ResourceKind::kGoroutine, id.value); }
  uint64_t LaneOf(const ResourceId& scope);
  uint64_t LaneOf(const Event& event) { return LaneOf(ScopeOf(event)); }
  // Returns the goroutine of an event, or else its P, or else nothing.
  static ResourceId ScopeOf(const Event& event);
  OpenSlices& SlicesOf(const ResourceId& scope) {
    const bool is_runtime = scope.kind == ResourceKind::kGoroutine && scope.id == GoId::kNone.value;
    return is_runtime ? slices_[{}] : slices_[{scope.kind, scope.id}];
  }

  // Returns the CPU of a P in the file.
  int64_t CpuOf(ProcId proc) const {
    return (proc.value >= 0 && proc.value < kNoCpu ? proc.value : kNoCpu) ^ cpu_bits_;
  }
  // Converts a time to the time in the file.
  uint64_t TicksOf(int64_t time) const {
    return static_cast<uint64_t>(time) + static_cast<uint64_t>(options_.time_offset);
  }

  // Return an event record of `lane`, and a scheduling record, for Write().
  FxtRecord& Make(FxtEvent kind, int64_t time, uint64_t lane, absl::string_view category,
                  absl::string_view name);
  FxtRecord& Make(FxtScheduling kind, int64_t time, int64_t cpu);
  void Write() { writer_.Write(record_); }

  absl::string_view Text(StringId id) const { return WholePrefix(interner_.String(id), kMaxText); }
  absl::string_view NameOf(const OpenTask& task) const {
    return task.type == StringId::kEmpty ? "task" : Text(task.type);
  }
  absl::string_view LeafFunction(StackId stack) const {
    const absl::Span<const FrameId> frames = interner_.Frames(stack);
    return frames.empty() ? "" : WholePrefix(interner_.Frame(frames[0]).func, kMaxText);
  }
  // Adds the stack to the arguments of record_, if it is not empty.
  void AddStackArgument(StackId stack);
  void AddStackArgument(const Stack& stack) {
    if (options_.stacks) AddStackArgument(interner_.InternStack(stack));
  }

  const FxtOptions options_;
  const EventFilter select_;  // Without times.
  const ByteSink& out_;
  internal::FxtWriter writer_;
  Interner interner_;
  StateTracker tracker_;
  internal::StateCounters state_counters_;
  internal::FxtKoids koids_ = internal::FxtKoids(options_.pid);
  FxtRecord record_;
  std::string stack_text_;  // The stack of the record.

  bool has_events_ = false;
  bool has_process_ = false;
  bool is_open_ = false;       // Whether the window has begun.
  bool is_over_ = false;       // Whether its last generation has ended.
  bool is_finishing_ = false;  // Whether intervals end because the trace does.
  int64_t from_ = std::numeric_limits<int64_t>::min();
  int64_t to_ = std::numeric_limits<int64_t>::max();
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  int64_t sync_time_ = std::numeric_limits<int64_t>::min();  // The time when the generation began.

  absl::flat_hash_map<GoId, GoThread> goroutines_;
  std::vector<GoId> ended_;  // Goroutines that the current event ended.
  std::map<std::pair<ResourceKind, int64_t>, OpenSlices> slices_;
  std::map<uint64_t, OpenTask> tasks_;
  std::array<std::optional<uint64_t>, std::size(internal::kMetricCounters)> metrics_;
  absl::flat_hash_set<uint64_t> lanes_;  // Introduced lanes without a goroutine.
  uint64_t flows_ = 0;

  // Makes ids different from those of other processes.
  const int64_t cpu_bits_ = static_cast<int64_t>(internal::ProcessBits(options_.pid, 12));
  const uint64_t id_bits_ = internal::ProcessBits(options_.pid, 64);
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
    if (event.kind() == EventKind::kSync && event.time() <= to_) state_counters_.BeginGeneration();
    if (event.time() >= from_ && !is_open_) OpenWindow();
    last_time_ = std::max(last_time_, std::min(event.time(), to_));
    // A goroutine's regions end before the goroutine does.
    AddEvent(event);
    tracker_.Add(absl::MakeConstSpan(&event, 1));
    for (const GoId id : ended_) goroutines_.erase(id);
    ended_.clear();
  }
}

void FxtExporter::Impl::OpenWindow() {
  is_open_ = true;
  for (size_t counter = 0; counter < metrics_.size(); ++counter) {
    if (metrics_[counter].has_value()) WriteMetric(counter, from_);
  }
  state_counters_.Begin(from_);
  // The goroutine that began a task may have ended.
  for (const auto& [id, task] : tasks_) {
    WriteTask(FxtEvent::kAsyncBegin, from_, LaneOf(ResourceId{}), TaskId{id}, task);
  }
  for (auto& [scope, slices] : slices_) {
    if (slices.empty()) continue;
    const uint64_t lane = LaneOf(ResourceId{scope.first, scope.second});
    for (OpenSlice* slice : slices.Sorted()) {
      if (!slice->is_selected) continue;
      slices.AddWritten(slice);
      WriteBegin(lane, from_, *slice);
    }
  }
}

absl::Status FxtExporter::Impl::Finish() {
  is_finishing_ = true;
  (void)tracker_.Finish();
  if (is_open_) {
    const int64_t end = std::max(from_, last_time_);
    state_counters_.Finish(end);
    // Open slices last until the last record.
    Make(FxtEvent::kInstant, end, LaneOf(ResourceId{}), "trace", "end");
    Write();
  }
  WriteProcess();
  return writer_.Finish();
}

void FxtExporter::Impl::GiveNotes() const {
  if (!options_.on_note) return;
  if (dropped() > 0) {
    options_.on_note(absl::StrCat(dropped(), dropped() == 1 ? " record" : " records",
                                  " did not fit into the buffer and were left out"));
  }
  if (replaced() > 0) {
    options_.on_note(absl::StrCat(replaced(), replaced() == 1 ? " record" : " records",
                                  " did not fit into the buffer, which keeps the latest"));
  }
  if (koids_.has_renamed_goroutines()) {
    options_.on_note(
        "some goroutines have another id in the file, since the format's readers use theirs for "
        "something else; `goroutine` in their thread records is their own id");
  }
}

// Events.

void FxtExporter::Impl::AddEvent(const Event& event) {
  switch (event.kind()) {
    case EventKind::kNone:
      return;
    case EventKind::kExperimental:
      return AddExperimental(event);
    case EventKind::kSync:
      sync_time_ = event.time();
      is_over_ = event.time() > to_;
      return AddSync(event);
    case EventKind::kMetric:
      return AddMetric(event);
    case EventKind::kLabel: {
      if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
      const Label label = event.label();
      Make(FxtEvent::kInstant, event.time(), LaneOf(label.resource), "label",
           WholePrefix(label.label, kMaxText));
      return Write();
    }
    case EventKind::kStackSample:
      return AddSample(event);
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive: {
      const RangeParts range = event.range_parts();
      OpenSlice slice;
      slice.name = interner_.InternRange(range);
      int64_t time = event.time();
      if (event.kind() == EventKind::kRangeActive) {
        OpenSlices& open = SlicesOf(range.scope);
        if (open.LastRange(slice.name) != nullptr) return;
        // It has been open since the generation began, even if it is stated late. But it cannot
        // enclose slices that began in the meantime.
        if (open.empty()) time = sync_time_;
      }
      return BeginSlice(range.scope, slice, time, event);
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
      return BeginSlice(ScopeOf(event), slice, event.time(), event);
    }
    case EventKind::kRegionEnd:
      return AddRegionEnd(event);
    case EventKind::kLog:
      return AddLog(event);
    case EventKind::kStateTransition:
      return AddTransition(event);
  }
}

void FxtExporter::Impl::AddTransition(const Event& event) {
  if (event.time() <= to_) {
    state_counters_.Add(event);
  } else if (!is_over_) {
    state_counters_.AddLate(event);
  }
  const ResourceId resource = event.transition_resource();
  if (resource.kind != ResourceKind::kGoroutine ||
      event.transition_to() != static_cast<uint8_t>(GoState::kNotExist)) {
    return;
  }
  // Nothing can end slices that are still open when the goroutine ends.
  const auto found = slices_.find({resource.kind, resource.id});
  if (found == slices_.end()) return;
  const std::vector<OpenSlice*>& written = found->second.written();
  const uint64_t lane = LaneOf(resource);
  for (auto slice = written.rbegin(); slice != written.rend(); ++slice) {
    WriteEnd(lane, event.time(), **slice);
  }
  slices_.erase(found);
}

void FxtExporter::Impl::AddExperimental(const Event& event) {
  if (!options_.alloc || !InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const ExperimentalEvent details = event.experimental();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "alloc", details.name);
  for (const ExperimentalArg& arg : details.args) {
    if (record.arguments.size() == internal::kFxtMaxArguments) break;
    record.arguments.push_back(FxtUint64(arg.name, arg.value));
  }
  Write();
}

void FxtExporter::Impl::AddSync(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const Sync sync = event.sync();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(ResourceId{}), "trace", "sync");
  record.arguments = {FxtUint64("number", sync.n)};
  if (sync.clock_snapshot.has_value()) {
    const ClockSnapshot& clocks = *sync.clock_snapshot;
    record.arguments.push_back(
        internal::FxtInt64("trace time", static_cast<int64_t>(TicksOf(clocks.trace_time))));
    record.arguments.push_back(FxtUint64("monotonic clock", clocks.mono));
    record.arguments.push_back(internal::FxtInt64("wall clock", absl::ToUnixNanos(clocks.wall)));
  }
  Write();
}

void FxtExporter::Impl::AddMetric(const Event& event) {
  if (!select_.Matches(event, 0)) return;
  if (event.time() > to_) return;
  for (size_t counter = 0; counter < metrics_.size(); ++counter) {
    if (event.type() != internal::kMetricCounters[counter].type) continue;
    metrics_[counter] = event.metric().value;
    if (is_open_) WriteMetric(counter, event.time());
  }
}

void FxtExporter::Impl::WriteMetric(size_t counter, int64_t time) {
  const internal::MetricCounter& metric = internal::kMetricCounters[counter];
  FxtRecord& record = Make(FxtEvent::kCounter, time, LaneOf(ResourceId{}), "metric", metric.name);
  record.arguments = {FxtUint64(metric.unit, *metrics_[counter])};
  Write();
}

void FxtExporter::Impl::WriteStateCounter(int64_t time, size_t counter, uint64_t value) {
  if (!select_.Selects(EventKind::kStateTransition)) return;
  const internal::StateCounters::Spec& spec = internal::StateCounters::kSpecs[counter];
  FxtRecord& record = Make(FxtEvent::kCounter, time, LaneOf(ResourceId{}), "state", spec.name);
  record.arguments = {FxtUint64(spec.unit, value)};
  Write();
}

void FxtExporter::Impl::BeginSlice(const ResourceId& scope, OpenSlice slice, int64_t time,
                                   const Event& event) {
  slice.is_selected = select_.Matches(event, 0);
  if (options_.stacks) slice.stack = interner_.InternStack(event.stack());
  OpenSlices& open = SlicesOf(scope);
  OpenSlice* const added = open.Add(slice);
  if (!is_open_ || time > to_ || !slice.is_selected) return;
  open.AddWritten(added);
  WriteBegin(LaneOf(scope), std::max(time, from_), slice);
}

void FxtExporter::Impl::WriteBegin(uint64_t lane, int64_t time, const OpenSlice& slice) {
  FxtRecord& record = Make(FxtEvent::kDurationBegin, time, lane,
                           slice.is_region ? "region" : "range", Text(slice.name));
  if (slice.is_region && slice.task != kBackgroundTask && slice.task != TaskId::kNone) {
    record.arguments = {FxtUint64("task", slice.task.value)};
  }
  AddStackArgument(slice.stack);
  Write();
}

void FxtExporter::Impl::WriteEnd(uint64_t lane, int64_t time, const OpenSlice& slice,
                                 std::vector<FxtArgument> arguments) {
  if (time > to_) return;
  FxtRecord& record = Make(FxtEvent::kDurationEnd, time, lane, slice.is_region ? "region" : "range",
                           Text(slice.name));
  record.arguments = std::move(arguments);
  Write();
}

void FxtExporter::Impl::EndSlice(const ResourceId& scope, OpenSlice* slice, int64_t time,
                                 std::vector<FxtArgument> arguments) {
  OpenSlices& open = SlicesOf(scope);
  if (slice->depth == OpenSlice::kNotWritten) return open.Remove(slice);
  const uint64_t lane = LaneOf(scope);
  const std::vector<OpenSlice*> inside = open.RemoveWritten(slice);
  for (const OpenSlice* other : inside) WriteEnd(lane, time, *other);
  WriteEnd(lane, time, *slice, std::move(arguments));
  open.Remove(slice);
  if (!InWindow(time) || inside.size() > kMaxInterrupted) return;
  for (auto other = inside.rbegin(); other != inside.rend(); ++other) {
    open.AddWritten(*other);
    WriteBegin(lane, time, **other);
  }
}

void FxtExporter::Impl::AddRangeEnd(const Event& event) {
  const RangeParts range = event.range_parts();
  OpenSlice* const slice = SlicesOf(range.scope).LastRange(interner_.InternRange(range));
  if (slice == nullptr) return;
  std::vector<FxtArgument> arguments;
  const std::vector<RangeAttribute> attributes = event.range_attributes();
  for (const RangeAttribute& attribute : attributes) {
    arguments.push_back(FxtUint64(attribute.name, attribute.value));
  }
  EndSlice(range.scope, slice, event.time(), std::move(arguments));
}

void FxtExporter::Impl::AddRegionEnd(const Event& event) {
  const Region region = event.region();
  const ResourceId scope = ScopeOf(event);
  OpenSlice* const slice = SlicesOf(scope).LastRegion();
  if (slice != nullptr) return EndSlice(scope, slice, event.time(), {});
  // It began before the trace did. A duration would have to enclose all slices of the goroutine
  // since then.
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  FxtRecord& record =
      Make(FxtEvent::kInstant, event.time(), LaneOf(scope), "region", "end of region");
  record.arguments = {FxtString("region", WholePrefix(region.type, kMaxText))};
  if (region.task != kBackgroundTask && region.task != TaskId::kNone) {
    record.arguments.push_back(FxtUint64("task", region.task.value));
  }
  Write();
}

void FxtExporter::Impl::AddTask(const Event& event) {
  const Task task = event.task();
  const bool in_window = InWindow(event.time());
  const OpenTask stated = {interner_.InternString(task.type), task.parent,
                           select_.Matches(event, 0),
                           options_.stacks ? interner_.InternStack(event.stack()) : StackId::kNone};
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
      task.id.value ^ id_bits_;
  Write();
}

void FxtExporter::Impl::WriteTask(FxtEvent kind, int64_t time, uint64_t lane, TaskId id,
                                  const OpenTask& task) {
  if (!task.is_selected) return;
  FxtRecord& record = Make(kind, time, lane, "task", NameOf(task));
  record.id = id.value ^ id_bits_;
  if (kind == FxtEvent::kAsyncBegin) {
    record.arguments = {FxtUint64("task", id.value)};
    if (task.parent != TaskId::kNone && task.parent != kBackgroundTask) {
      record.arguments.push_back(FxtUint64("parent", task.parent.value));
    }
    AddStackArgument(task.stack);
  }
  Write();
}

void FxtExporter::Impl::AddLog(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const Log log = event.log();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "log",
                           log.category.empty() ? "log" : WholePrefix(log.category, kMaxText));
  record.arguments = {FxtString("category", WholePrefix(log.category, kMaxText)),
                      FxtString("message", WholePrefix(log.message, kMaxText))};
  if (log.task != kBackgroundTask && log.task != TaskId::kNone) {
    record.arguments.push_back(FxtUint64("task", log.task.value));
  }
  AddStackArgument(event.stack());
  writer_.WriteOnce(record_);
}

void FxtExporter::Impl::AddSample(const Event& event) {
  if (!InWindow(event.time()) || !select_.Matches(event, 0)) return;
  const StackId stack = interner_.InternStack(event.stack());
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "cpu", "CPU sample");
  record.arguments = {FxtString("function", LeafFunction(stack))};
  AddStackArgument(stack);
  Write();
}

// States of goroutines.

void FxtExporter::Impl::AddGoroutine(const GoInterval& interval) {
  const bool is_before = interval.begin < from_ && interval.end <= from_;
  if (select_.Selects(EventKind::kStateTransition) && select_.Selects(interval.goroutine) &&
      !is_before && interval.begin <= to_) {
    WriteState(interval);
  }
  if (interval.ends_life) ended_.push_back(interval.goroutine);
}

void FxtExporter::Impl::WriteState(const GoInterval& interval) {
  const int64_t begin = std::max(interval.begin, from_);
  GoThread& go = Introduce(interval.goroutine, interval.stack);
  Enter(interval, begin, &go);
  if (interval.state == GoState::kSyscall) {
    WriteSyscall(interval, begin, std::min(interval.end, to_));
  }
  if (interval.state == GoState::kWaiting && options_.stacks) {
    WriteWait(interval, begin, std::min(interval.end, to_));
  }
  WriteFlows(interval);
  // After a gap, the state of the goroutine is unknown until its next interval.
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
    record.incoming.thread = KoidOf(id);
    record.arguments = {FxtInt32("outgoing_weight", internal::kFxtIdleWeight)};
    return Write();
  }
  const bool is_clipped = interval.begin_clipped || interval.begin < time;
  if (go->cpu == kNotOnCpu && !SelectsPlace(interval.begun_by.proc, interval.begun_by.thread)) {
    return;
  }
  // Perfetto assumes that a thread woken without a waker woke itself.
  if (go->cpu == kNotOnCpu && interval.state == GoState::kRunnable && !is_clipped &&
      WriteWakeup(interval)) {
    return;
  }
  FxtState state = FxtState::kRunning;  // It could run.
  if (interval.state == GoState::kWaiting) state = FxtState::kBlocked;
  if (interval.state == GoState::kSyscall) state = FxtState::kSuspended;
  Leave(id, state, time, go, Text(interval.reason));
}

void FxtExporter::Impl::Leave(GoId id, FxtState state, int64_t time, GoThread* go,
                              absl::string_view reason) {
  FxtRecord& record = Make(FxtScheduling::kContextSwitch, time,
                           go->cpu == kNotOnCpu ? CpuOf(ProcId::kNone) : go->cpu);
  record.outgoing_state = static_cast<uint8_t>(state);
  record.outgoing.thread = KoidOf(id);
  record.incoming.thread = 0;
  record.arguments = {FxtInt32("incoming_weight", internal::kFxtIdleWeight)};
  if (!reason.empty()) record.arguments.push_back(FxtString("reason", reason));
  Write();
  go->cpu = kNotOnCpu;
}

bool FxtExporter::Impl::WriteWakeup(const GoInterval& interval) {
  uint64_t waker = 0;
  switch (interval.begun_by.kind) {
    case CauseKind::kGoroutine:
      waker = KoidOf(interval.begun_by.goroutine);
      break;
    case CauseKind::kNetwork:
      waker = IntroducePart(FxtKoids::Part::kNetwork, "network poller");
      break;
    case CauseKind::kTimer:
      waker = IntroducePart(FxtKoids::Part::kTimers, "timers");
      break;
    case CauseKind::kGc:
      waker = IntroducePart(FxtKoids::Part::kCollector, "garbage collector");
      break;
    case CauseKind::kUnknown:
    case CauseKind::kItself:
    case CauseKind::kScheduler:
    case CauseKind::kSyscall:
      return false;
  }
  FxtRecord& record = Make(FxtScheduling::kWakeup, interval.begin, CpuOf(interval.begun_by.proc));
  record.outgoing_state = 0;
  record.incoming.thread = KoidOf(interval.goroutine);
  record.arguments = {FxtKoid("waker", waker)};
  Write();
  return true;
}

void FxtExporter::Impl::WriteSyscall(const GoInterval& interval, int64_t begin, int64_t end) {
  if (!SelectsPlace(interval.proc, interval.thread)) return;
  FxtRecord& record =
      Make(FxtEvent::kDurationComplete, begin, KoidOf(interval.goroutine), "syscall", "syscall");
  record.id = TicksOf(end);
  const absl::string_view function = LeafFunction(interval.stack);
  if (!function.empty()) record.arguments = {FxtString("function", function)};
  if (options_.stacks) AddStackArgument(interval.stack);
  Write();
}

void FxtExporter::Impl::WriteWait(const GoInterval& interval, int64_t begin, int64_t end) {
  if (!SelectsPlace(interval.begun_by.proc, interval.begun_by.thread)) return;
  const absl::string_view reason = Text(interval.reason);
  Make(FxtEvent::kDurationComplete, begin, KoidOf(interval.goroutine), "wait",
       reason.empty() ? "waiting" : reason)
      .id = TicksOf(end);
  AddStackArgument(interval.stack);
  Write();
}

void FxtExporter::Impl::WriteFlows(const GoInterval& interval) {
  const Cause& cause = interval.begun_by;
  if (interval.state == GoState::kRunning) {
    // Another coroutine switched to it.
    return WriteFlow("unblock", cause, interval.begin, interval.goroutine, interval.begin);
  }
  // A coroutine waits when it is created.
  if (interval.state != GoState::kRunnable && !interval.starts_life) return;
  if (interval.end_clipped || interval.ends_life) return;
  WriteFlow(interval.starts_life ? "create" : "unblock", cause, interval.begin, interval.goroutine,
            interval.end);
}

void FxtExporter::Impl::WriteFlow(absl::string_view name, const Cause& cause, int64_t begin,
                                  GoId goroutine, int64_t end) {
  if (!options_.flows || cause.kind != CauseKind::kGoroutine || begin < from_ || end > to_ ||
      !select_.Selects(cause.goroutine) || !SelectsPlace(cause.proc, cause.thread)) {
    return;
  }
  const uint64_t waker = KoidOf(cause.goroutine);
  const uint64_t woken = KoidOf(goroutine);
  const uint64_t flow = ++flows_ ^ id_bits_;
  // Both threads are introduced with their own states. The waker may have ended since then.
  // Perfetto connects flows with the events that enclose them.
  Make(FxtEvent::kInstant, begin, waker, "flow", name);
  if (options_.stacks) AddStackArgument(cause.stack);
  Write();
  Make(FxtEvent::kFlowBegin, begin, waker, "flow", name).id = flow;
  Write();
  Make(FxtEvent::kInstant, end, woken, "flow", "start");
  Write();
  Make(FxtEvent::kFlowEnd, end, woken, "flow", name).id = flow;
  Write();
}

// Threads.

void FxtExporter::Impl::AddThread(const ThreadInterval& interval) {
  if (!options_.threads) return;
  const auto part = internal::ShownPart(interval, select_, from_, to_);
  if (!part.has_value()) return;
  const uint64_t lane =
      LaneOf(ResourceId{ResourceKind::kThread, static_cast<int64_t>(interval.thread.value)});
  std::vector<FxtArgument> arguments;
  absl::string_view name = interval.state == ThreadState::kSyscall ? "syscall" : "scheduling";
  if (interval.goroutine != GoId::kNone) {
    const StringId function = Introduce(interval.goroutine).name;
    if (interval.state == ThreadState::kRunning) {
      name = function == StringId::kEmpty ? "goroutine" : Text(function);
    }
    arguments.push_back(FxtUint64("goroutine", static_cast<uint64_t>(interval.goroutine.value)));
  }
  if (interval.proc != ProcId::kNone) {
    arguments.push_back(FxtUint64("P", static_cast<uint64_t>(interval.proc.value)));
  }
  FxtRecord& record = Make(FxtEvent::kDurationComplete, part->first, lane, "thread", name);
  record.id = TicksOf(part->second);
  record.arguments = std::move(arguments);
  Write();
}

GoThread& FxtExporter::Impl::Introduce(GoId id, StackId stack) {
  GoThread& go = goroutines_[id];
  if (go.is_named) return go;
  const absl::string_view name = interner_.RootFunction(stack);
  if (go.is_introduced && name.empty()) return go;
  go.is_introduced = true;
  go.is_named = !name.empty();
  go.name = interner_.InternString(name);
  const uint64_t koid = KoidOf(id);
  std::vector<FxtArgument> arguments;
  const uint64_t number = static_cast<uint64_t>(id.value);
  if (koid != number) arguments.push_back(FxtUint64("goroutine", number));
  WriteThread(koid, name.empty() ? absl::StrCat("goroutine ", id.value) : name,
              std::move(arguments));
  return go;
}

void FxtExporter::Impl::IntroduceLane(uint64_t lane, absl::string_view name) {
  if (lanes_.insert(lane).second) WriteThread(lane, name);
}

void FxtExporter::Impl::WriteProcess() {
  if (std::exchange(has_process_, true)) return;
  FxtRecord process;
  process.type = FxtType::kKernelObject;
  process.kind = kFxtProcessObject;
  process.id = options_.pid;
  process.name = WholePrefix(options_.process_name, kMaxText);
  writer_.Write(process);
}

void FxtExporter::Impl::WriteThread(uint64_t koid, absl::string_view name,
                                    std::vector<FxtArgument> arguments) {
  WriteProcess();
  FxtRecord thread;
  thread.type = FxtType::kKernelObject;
  thread.kind = kFxtThreadObject;
  thread.id = koid;
  thread.name = WholePrefix(name, kMaxText);
  thread.arguments = std::move(arguments);
  thread.arguments.push_back(FxtKoid("process", options_.pid));
  writer_.Write(thread);
}

uint64_t FxtExporter::Impl::LaneOf(const ResourceId& scope) {
  switch (scope.kind) {
    case ResourceKind::kGoroutine:
      if (scope.id == GoId::kNone.value) break;
      if (is_open_) Introduce(GoId{scope.id});
      return KoidOf(GoId{scope.id});
    case ResourceKind::kProc:
    case ResourceKind::kThread: {
      const uint64_t lane = koids_.Of(scope.kind, scope.id);
      const absl::string_view what = scope.kind == ResourceKind::kProc ? "P " : "M ";
      if (is_open_) IntroduceLane(lane, absl::StrCat(what, scope.id));
      return lane;
    }
    case ResourceKind::kNone:
      break;
  }
  const FxtKoids::Part program = FxtKoids::Part::kProgram;
  return is_open_ ? IntroducePart(program, "runtime") : koids_.Of(program);
}

ResourceId FxtExporter::Impl::ScopeOf(const Event& event) {
  if (event.goroutine() != GoId::kNone) {
    return ResourceId{ResourceKind::kGoroutine, event.goroutine().value};
  }
  if (event.proc() != ProcId::kNone) return ResourceId{ResourceKind::kProc, event.proc().value};
  return ResourceId{};
}

void FxtExporter::Impl::AddStackArgument(StackId stack) {
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  if (frames.empty()) return;
  stack_text_.clear();
  for (const FrameId id : frames) {
    const StackFrame frame = interner_.Frame(id);
    const absl::string_view file = frame.file.substr(frame.file.find_last_of('/') + 1);
    const std::string line =
        absl::StrCat(stack_text_.empty() ? "" : "\n", frame.func, " (", file, ":", frame.line, ")");
    if (stack_text_.size() + line.size() > kMaxText) break;
    stack_text_ += line;
  }
  record_.arguments.push_back(FxtString("stack", stack_text_));
}

FxtRecord& FxtExporter::Impl::Make(FxtEvent kind, int64_t time, uint64_t lane,
                                   absl::string_view category, absl::string_view name) {
  record_.type = FxtType::kEvent;
  record_.kind = static_cast<uint8_t>(kind);
  record_.ticks = TicksOf(time);
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
  record_.ticks = TicksOf(time);
  record_.arguments.clear();
  return record_;
}

FxtExporter::FxtExporter(ByteSink* out, FxtOptions options)
    : impl_(std::make_unique<Impl>(out, std::move(options))) {}
FxtExporter::~FxtExporter() = default;

void FxtExporter::Add(absl::Span<const Event> events) { impl_->Add(events); }
bool FxtExporter::WantsMore() const { return impl_->WantsMore(); }
absl::Status FxtExporter::Finish() {
  absl::Status status = impl_->Finish();
  impl_->GiveNotes();
  return status;
}
uint64_t FxtExporter::dropped_records() const { return impl_->dropped(); }
uint64_t FxtExporter::replaced_records() const { return impl_->replaced(); }

}  // namespace gotrace
