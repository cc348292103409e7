// The states of goroutines come from a ProgramView as intervals. An interval is known when it ends,
// so the record of its beginning is written then: later than those of events meanwhile, but in
// order of time for each goroutine. All other records are written with their event, or when the
// window of time begins if they are of what is open then.
#include "gotrace/fxt_exporter.h"

#include <algorithm>
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
#include "export/process_bits.h"
#include "export/program_view.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "parser/event/trace_clock.h"
#include "util/cut_text.h"

namespace gotrace {

using internal::FxtInt32;
using internal::FxtKoid;
using internal::FxtKoids;
using internal::FxtString;
using internal::FxtUint64;
using internal::ProgramView;
using internal::ViewEnd;
using internal::ViewSlice;
using internal::ViewTask;
using internal::ViewTrack;
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

bool IsRegion(const ViewSlice& slice) { return slice.key.kind == ViewSlice::Kind::kRegion; }

bool IsTask(TaskId id) { return id != TaskId::kNone && id != kBackgroundTask; }

}  // namespace

class FxtExporter::Impl final : private ProgramView::Delegate {
 public:
  Impl(ByteSink* out, FxtOptions options)
      : options_(std::move(options)),
        out_(*out),
        writer_(internal::MakeFxtStore(options_.buffer, out)),
        // The end of a goroutine ends its regions before its last interval.
        view_({.filter = options_.filter,
               .time_offset = options_.time_offset,
               .stacks = options_.stacks,
               .intervals = ProgramView::Intervals::kAfterEvent,
               .keeps_all_metrics = false,
               .ends_inside = false},
              &interner_, this) {}

  void Add(absl::Span<const Event> events);
  bool WantsMore() const { return out_.ok(); }
  absl::Status Finish();
  uint64_t dropped() const { return writer_.dropped(); }
  uint64_t replaced() const { return writer_.replaced(); }
  void GiveNotes() const;

 private:
  // ProgramView::Delegate.
  void BeginWindow(int64_t time) override;
  void TakeEvent(const Event& event) override;
  void AddInterval(const GoInterval& interval) override;
  void AddThread(const ThreadInterval& interval, int64_t begin, int64_t end) override;
  // Regions end in the opposite order.
  ViewSlice::Key KeyOf(const Region&, StringId) override {
    return {.kind = ViewSlice::Kind::kRegion};
  }
  void BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event) override;
  void EndSlice(ViewTrack& track, const ViewSlice& slice, absl::Span<ViewSlice* const> inside,
                const ViewEnd& end) override;
  void EndUnknownRegion(ViewTrack& track, const Event& event) override;
  void BeginTask(const ViewTask& task, int64_t time, const Event* event) override;
  void EndTask(const ViewTask& task, const Event& event) override;
  void EndUnknownTask(const Event& event) override;
  void SetMetric(int64_t time, size_t metric, uint64_t value) override;
  void SetStateCounter(int64_t time, size_t counter, uint64_t value) override;

  // Whether a damaged trace, whose times go back, has the event before the window.
  bool IsBefore(const Event& event) const { return event.time() < view_.from(); }
  void WriteLog(const Event& event);
  void WriteSample(const Event& event);
  void WriteSync(const Event& event);
  void WriteExperimental(const Event& event);
  void WriteBegin(uint64_t lane, int64_t time, const ViewSlice& slice);

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

  // Returns the CPU of a P in the file.
  int64_t CpuOf(ProcId proc) const {
    return (proc.value >= 0 && proc.value < kNoCpu ? proc.value : kNoCpu) ^ cpu_bits_;
  }

  // Return an event record of `lane`, and a scheduling record, for Write().
  FxtRecord& Make(FxtEvent kind, int64_t time, uint64_t lane, absl::string_view category,
                  absl::string_view name);
  FxtRecord& Make(FxtScheduling kind, int64_t time, int64_t cpu);
  void Write() { writer_.Write(record_); }

  absl::string_view Text(StringId id) const { return WholePrefix(interner_.String(id), kMaxText); }
  absl::string_view NameOf(const ViewTask& task) const {
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
  const ByteSink& out_;
  internal::FxtWriter writer_;
  Interner interner_;
  ProgramView view_;
  const EventFilter& select_ = view_.selection();
  internal::FxtKoids koids_ = internal::FxtKoids(options_.pid);
  FxtRecord record_;
  std::string stack_text_;  // The stack of the record.

  bool has_process_ = false;
  bool is_finishing_ = false;  // Whether intervals end because the trace does.

  absl::flat_hash_map<GoId, GoThread> goroutines_;
  std::vector<GoId> ended_;              // Goroutines that the current event ended.
  absl::flat_hash_set<uint64_t> lanes_;  // Those without a goroutine that were introduced.
  uint64_t flows_ = 0;

  // Makes ids different from those of other processes.
  const int64_t cpu_bits_ = static_cast<int64_t>(internal::ProcessBits(options_.pid, 12));
  const uint64_t id_bits_ = internal::ProcessBits(options_.pid, 64);
};

void FxtExporter::Impl::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    view_.Add(absl::MakeConstSpan(&event, 1));
    for (const GoId id : ended_) goroutines_.erase(id);
    ended_.clear();
  }
}

absl::Status FxtExporter::Impl::Finish() {
  is_finishing_ = true;
  view_.Finish();
  if (view_.is_in_window()) {
    // What is open lasts until the last record.
    Make(FxtEvent::kInstant, view_.end(), LaneOf(ResourceId{}), "trace", "end");
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

void FxtExporter::Impl::BeginWindow(int64_t time) {
  view_.ShowMetrics(time);
  view_.ShowTasks(time);
  view_.ShowSlices(view_.program(), time);
  for (internal::ViewGoroutine* const goroutine : view_.Goroutines()) {
    view_.ShowSlices(goroutine->track, time);
  }
  for (auto& [id, track] : view_.procs()) view_.ShowSlices(track, time);
}

void FxtExporter::Impl::TakeEvent(const Event& event) {
  if (!view_.Selects(event) || IsBefore(event)) return;
  switch (event.kind()) {
    case EventKind::kExperimental:
      return WriteExperimental(event);
    case EventKind::kSync:
      return WriteSync(event);
    case EventKind::kLabel: {
      const Label label = event.label();
      Make(FxtEvent::kInstant, event.time(), LaneOf(label.resource), "label",
           WholePrefix(label.label, kMaxText));
      return Write();
    }
    case EventKind::kStackSample:
      return WriteSample(event);
    case EventKind::kLog:
      return WriteLog(event);
    default:
      return;
  }
}

void FxtExporter::Impl::WriteExperimental(const Event& event) {
  if (!options_.alloc) return;
  const ExperimentalEvent details = event.experimental();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "alloc", details.name);
  for (const ExperimentalArg& arg : details.args) {
    if (record.arguments.size() == internal::kFxtMaxArguments) break;
    record.arguments.push_back(FxtUint64(arg.name, arg.value));
  }
  Write();
}

void FxtExporter::Impl::WriteSync(const Event& event) {
  const Sync sync = event.sync();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(ResourceId{}), "trace", "sync");
  record.arguments = {FxtUint64("number", sync.n)};
  if (sync.clock_snapshot.has_value()) {
    const ClockSnapshot& clocks = *sync.clock_snapshot;
    record.arguments.push_back(internal::FxtInt64(
        "trace time", internal::TraceClock::Add(clocks.trace_time, options_.time_offset)));
    record.arguments.push_back(FxtUint64("monotonic clock", clocks.mono));
    record.arguments.push_back(internal::FxtInt64("wall clock", absl::ToUnixNanos(clocks.wall)));
  }
  Write();
}

void FxtExporter::Impl::SetMetric(int64_t time, size_t index, uint64_t value) {
  const internal::MetricCounter& metric = internal::kMetricCounters[index];
  FxtRecord& record = Make(FxtEvent::kCounter, time, LaneOf(ResourceId{}), "metric", metric.name);
  record.arguments = {FxtUint64(metric.unit, value)};
  Write();
}

void FxtExporter::Impl::SetStateCounter(int64_t time, size_t counter, uint64_t value) {
  if (!select_.Selects(EventKind::kStateTransition)) return;
  const internal::StateCounters::Spec& spec = internal::StateCounters::kSpecs[counter];
  FxtRecord& record = Make(FxtEvent::kCounter, time, LaneOf(ResourceId{}), "state", spec.name);
  record.arguments = {FxtUint64(spec.unit, value)};
  Write();
}

void FxtExporter::Impl::BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time,
                                   const Event* event) {
  // A range that is only stated cannot enclose what has begun since the generation did.
  const bool is_stated = event != nullptr && event->kind() == EventKind::kRangeActive;
  if (is_stated && track.slices.size() > 1) time = event->time();
  WriteBegin(LaneOf(track.scope), std::max(time, view_.from()), slice);
}

void FxtExporter::Impl::WriteBegin(uint64_t lane, int64_t time, const ViewSlice& slice) {
  FxtRecord& record = Make(FxtEvent::kDurationBegin, time, lane,
                           IsRegion(slice) ? "region" : "range", Text(slice.name));
  if (IsTask(slice.task)) record.arguments = {FxtUint64("task", slice.task.value)};
  AddStackArgument(slice.stack);
  Write();
}

void FxtExporter::Impl::EndSlice(ViewTrack& track, const ViewSlice& slice,
                                 absl::Span<ViewSlice* const> inside, const ViewEnd& end) {
  const uint64_t lane = LaneOf(track.scope);
  const auto write_end = [&](const ViewSlice& ended) -> FxtRecord& {
    return Make(FxtEvent::kDurationEnd, end.time, lane, IsRegion(ended) ? "region" : "range",
                Text(ended.name));
  };
  // In the file only the innermost duration can end.
  for (const ViewSlice* const other : inside) {
    write_end(*other);
    Write();
  }
  FxtRecord& record = write_end(slice);
  for (const ViewEnd::Attribute& attribute : end.attributes) {
    record.arguments.push_back(FxtUint64(interner_.String(attribute.name), attribute.value));
  }
  Write();
  if (inside.size() > kMaxInterrupted || end.time < view_.from()) return;
  for (auto other = inside.rbegin(); other != inside.rend(); ++other) {
    track.slices.Show(*other);
    WriteBegin(lane, end.time, **other);
  }
}

void FxtExporter::Impl::EndUnknownRegion(ViewTrack& track, const Event& event) {
  // It began before the trace did. A duration would have to enclose all that the goroutine has had
  // since then.
  if (IsBefore(event)) return;
  const Region region = event.region();
  FxtRecord& record =
      Make(FxtEvent::kInstant, event.time(), LaneOf(track.scope), "region", "end of region");
  record.arguments = {FxtString("region", WholePrefix(region.type, kMaxText))};
  if (IsTask(region.task)) record.arguments.push_back(FxtUint64("task", region.task.value));
  Write();
}

void FxtExporter::Impl::BeginTask(const ViewTask& task, int64_t time, const Event* event) {
  if (event != nullptr && IsBefore(*event)) return;
  // The goroutine that began a task before the window may have ended.
  const uint64_t lane = event == nullptr ? LaneOf(ResourceId{}) : LaneOf(*event);
  FxtRecord& record = Make(FxtEvent::kAsyncBegin, time, lane, "task", NameOf(task));
  record.id = task.id.value ^ id_bits_;
  record.arguments = {FxtUint64("task", task.id.value)};
  if (IsTask(task.parent)) record.arguments.push_back(FxtUint64("parent", task.parent.value));
  AddStackArgument(task.stack);
  Write();
}

void FxtExporter::Impl::EndTask(const ViewTask& task, const Event& event) {
  if (!task.is_shown || IsBefore(event)) return;
  Make(FxtEvent::kAsyncEnd, event.time(), LaneOf(event), "task", NameOf(task)).id =
      task.id.value ^ id_bits_;
  Write();
}

void FxtExporter::Impl::EndUnknownTask(const Event& event) {
  // It began before the trace did, or has ended already.
  if (!view_.Selects(event) || IsBefore(event)) return;
  Make(FxtEvent::kAsyncInstant, event.time(), LaneOf(event), "task", "end of task").id =
      event.task().id.value ^ id_bits_;
  Write();
}

void FxtExporter::Impl::WriteLog(const Event& event) {
  const Log log = event.log();
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "log",
                           log.category.empty() ? "log" : WholePrefix(log.category, kMaxText));
  record.arguments = {FxtString("category", WholePrefix(log.category, kMaxText)),
                      FxtString("message", WholePrefix(log.message, kMaxText))};
  if (IsTask(log.task)) record.arguments.push_back(FxtUint64("task", log.task.value));
  AddStackArgument(event.stack());
  writer_.WriteOnce(record_);
}

void FxtExporter::Impl::WriteSample(const Event& event) {
  const StackId stack = interner_.InternStack(event.stack());
  FxtRecord& record = Make(FxtEvent::kInstant, event.time(), LaneOf(event), "cpu", "CPU sample");
  record.arguments = {FxtString("function", LeafFunction(stack))};
  AddStackArgument(stack);
  Write();
}

// States of goroutines.

void FxtExporter::Impl::AddInterval(const GoInterval& interval) {
  const bool is_before = interval.begin < view_.from() && interval.end <= view_.from();
  if (select_.Selects(EventKind::kStateTransition) && select_.Selects(interval.goroutine) &&
      !is_before && interval.begin <= view_.to()) {
    WriteState(interval);
  }
  if (interval.ends_life) ended_.push_back(interval.goroutine);
}

void FxtExporter::Impl::WriteState(const GoInterval& interval) {
  const int64_t begin = std::max(interval.begin, view_.from());
  GoThread& go = Introduce(interval.goroutine, interval.stack);
  Enter(interval, begin, &go);
  if (interval.state == GoState::kSyscall) {
    WriteSyscall(interval, begin, std::min(interval.end, view_.to()));
  }
  if (interval.state == GoState::kWaiting && options_.stacks) {
    WriteWait(interval, begin, std::min(interval.end, view_.to()));
  }
  WriteFlows(interval);
  // After a gap, the state of the goroutine is unknown until its next interval.
  const bool has_gap = interval.end_clipped && !is_finishing_;
  if (interval.end > view_.to() || !(interval.ends_life || has_gap)) return;
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
  record.id = static_cast<uint64_t>(end);
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
      .id = static_cast<uint64_t>(end);
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
  if (!options_.flows || cause.kind != CauseKind::kGoroutine || begin < view_.from() ||
      end > view_.to() || !select_.Selects(cause.goroutine) ||
      !SelectsPlace(cause.proc, cause.thread)) {
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

void FxtExporter::Impl::AddThread(const ThreadInterval& interval, int64_t begin, int64_t end) {
  if (!options_.threads) return;
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
  FxtRecord& record = Make(FxtEvent::kDurationComplete, begin, lane, "thread", name);
  record.id = static_cast<uint64_t>(end);
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
      Introduce(GoId{scope.id});
      return KoidOf(GoId{scope.id});
    case ResourceKind::kProc:
    case ResourceKind::kThread: {
      const uint64_t lane = koids_.Of(scope.kind, scope.id);
      const absl::string_view what = scope.kind == ResourceKind::kProc ? "P " : "M ";
      IntroduceLane(lane, absl::StrCat(what, scope.id));
      return lane;
    }
    case ResourceKind::kNone:
      break;
  }
  return IntroducePart(FxtKoids::Part::kProgram, "runtime");
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
bool FxtExporter::WantsMore() const { return impl_->WantsMore(); }
absl::Status FxtExporter::Finish() {
  absl::Status status = impl_->Finish();
  impl_->GiveNotes();
  return status;
}
uint64_t FxtExporter::dropped_records() const { return impl_->dropped(); }
uint64_t FxtExporter::replaced_records() const { return impl_->replaced(); }

}  // namespace gotrace
