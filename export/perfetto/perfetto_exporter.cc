// A ProgramView knows the state of the program. Each change of it in the time window is written,
// and what was current when the window began is written with that time as its own.
#include "gotrace/perfetto_exporter.h"

#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "export/counters.h"
#include "export/perfetto/packet_writer.h"
#include "export/perfetto/scheduling_writer.h"
#include "export/perfetto/track_event_writer.h"
#include "export/program_view.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "parser/event/trace_clock.h"

namespace gotrace {
namespace {

using internal::PerfettoAnnotation;
using internal::PerfettoCategory;
using internal::PerfettoTrack;
using internal::ProgramView;
using internal::TraceClock;
using internal::ViewEnd;
using internal::ViewGoroutine;
using internal::ViewSlice;
using internal::ViewTask;
using internal::ViewTrack;
using internal::perfetto::CounterUnit;

// The tracks of counters: those of metrics come first, and two numbers are not used.
constexpr size_t kFirstStateCounter = std::size(internal::kMetricCounters) + 2;

PerfettoCategory CategoryOf(ViewSlice::Kind kind) {
  switch (kind) {
    case ViewSlice::Kind::kRange:
      return PerfettoCategory::kRange;
    case ViewSlice::Kind::kRegion:
      return PerfettoCategory::kRegion;
    case ViewSlice::Kind::kWait:
      return PerfettoCategory::kWait;
    case ViewSlice::Kind::kSyscall:
      return PerfettoCategory::kSyscall;
  }
  return PerfettoCategory::kNone;
}

// A goroutine waits, or is in a syscall, once at a time.
ViewSlice::Key KeyOfState(GoState state) {
  return {.kind = state == GoState::kWaiting ? ViewSlice::Kind::kWait : ViewSlice::Kind::kSyscall};
}

bool HasSlice(GoState state) { return state == GoState::kWaiting || state == GoState::kSyscall; }

}  // namespace

class PerfettoExporter::Impl final : private ProgramView::Delegate {
 public:
  Impl(ByteSink* out, PerfettoOptions options)
      : options_(std::move(options)),
        out_(*out),
        packets_(out, options_.compress, options_.pid),
        tracks_(&packets_, &interner_),
        scheduling_(&packets_, &tracks_, &interner_, options_.scheduling),
        // Threads come first, while goroutines that end have names.
        view_({.filter = options_.filter,
               .time_offset = options_.time_offset,
               .stacks = options_.stacks,
               .intervals = options_.threads ? ProgramView::Intervals::kBeforeEvent
                                             : ProgramView::Intervals::kNone},
              &interner_, this) {}

  void Add(absl::Span<const Event> events) { view_.Add(events); }
  bool WantsMore() const { return out_.ok(); }
  absl::Status Finish();

 private:
  // ProgramView::Delegate.
  void BeginWindow(int64_t time) override;
  void TakeEvent(const Event& event) override;
  void AddGoroutine(ViewGoroutine& goroutine, const Event& event) override;
  void CreateGoroutine(ViewGoroutine& goroutine, const Event& event) override;
  void ChangeState(ViewGoroutine& goroutine, GoState state, StringId reason,
                   const Event& event) override;
  void EndGoroutine(ViewGoroutine& goroutine, const Event& event) override;
  void AddThread(const ThreadInterval& interval, int64_t begin, int64_t end) override;
  void AddProc(ProcId id) override;
  ViewSlice::Key KeyOf(const Region&, StringId name) override {
    return {.kind = ViewSlice::Kind::kRegion, .name = name};
  }
  void BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event) override;
  void EndSlice(ViewTrack& track, const ViewSlice& slice, absl::Span<ViewSlice* const> inside,
                const ViewEnd& end) override;
  void BeginTask(const ViewTask& task, int64_t time, const Event* event) override;
  void EndTask(const ViewTask& task, const Event& event) override {
    if (task.is_shown) tracks_.EndSlice(event.time(), PerfettoTrack::Of(task.id));
  }
  void SetMetric(int64_t time, size_t metric, uint64_t value) override {
    tracks_.SetCounter(time, PerfettoTrack::Counter(metric), value);
  }
  void SetStateCounter(int64_t time, size_t counter, uint64_t value) override {
    if (!writes_states_) return;
    tracks_.SetCounter(time, PerfettoTrack::Counter(kFirstStateCounter + counter), value);
  }

  StringId Intern(absl::string_view text) { return interner_.InternString(text); }

  void BeginFile(int64_t time);
  void WriteClocks(const Event& sync);
  void WriteLog(const Event& event);
  void WriteExperimental(const Event& event);

  // Writes the state and the open slices of a goroutine as they are at `time`.
  void WriteCurrent(ViewGoroutine& goroutine, int64_t time);
  // `goroutine`, which runs, enters `state`; kNotExist if it ends. Returns whether it is known
  // where it ran.
  bool Stop(const ViewGoroutine& goroutine, GoState state, const Event& event);
  // Writes the end of a wait or a syscall, and what woke the goroutine.
  void EndWait(ViewGoroutine& goroutine, const Event& event);
  // The slice of a goroutine that waits, for `reason` if that is known, or is in a syscall.
  ViewSlice SliceOf(GoState state, StringId reason, const Stack& stack);

  StringId NameOf(const ViewGoroutine& goroutine) const {
    return goroutine.name == StringId::kEmpty ? goroutine_ : goroutine.name;
  }

  bool WritesStates(const ViewGoroutine& goroutine) const {
    return view_.is_in_window() && writes_states_ && selection_.Selects(goroutine.id);
  }
  bool Schedules(const ViewGoroutine& goroutine) const {
    return WritesStates(goroutine) && writes_scheduling_;
  }

  // The track of a goroutine, which is declared if need be.
  PerfettoTrack TrackOf(ViewGoroutine& goroutine);
  // The same, or that of the program if the goroutine is not known.
  PerfettoTrack TrackOf(GoId id);
  PerfettoTrack TrackOf(ViewTrack& track);

  PerfettoOptions options_;
  ByteSink& out_;
  Interner interner_;
  internal::PacketWriter packets_;
  internal::TrackEventWriter tracks_;
  internal::SchedulingWriter scheduling_;
  ProgramView view_;
  const EventFilter& selection_ = view_.selection();
  const bool writes_states_ = selection_.Selects(EventKind::kStateTransition);
  const bool writes_scheduling_ = writes_states_ && options_.scheduling != PerfettoScheduling::kOff;

  // Names that do not come from the trace.
  const StringId goroutine_ = Intern("goroutine");
  const StringId waiting_ = Intern("waiting");
  const StringId syscall_ = Intern("syscall");
  const StringId create_ = Intern("create");
  const StringId created_ = Intern("created");
  const StringId unblock_ = Intern("unblock");
  const StringId unblocked_ = Intern("unblocked");
  const StringId network_ = Intern("network");
  const StringId log_ = Intern("log");
  const StringId task_name_ = Intern("task");
  const StringId parent_ = Intern("parent");
  const StringId message_ = Intern("message");
  const StringId proc_name_ = Intern("P");
  const StringId scheduling_name_ = Intern("scheduling");

  uint64_t next_flow_ = 1;
  absl::flat_hash_set<ThreadId> declared_threads_;
};

void PerfettoExporter::Impl::BeginFile(int64_t time) {
  tracks_.Begin(time, options_.pid, options_.process_name);
  tracks_.DeclareTrack(PerfettoTrack::Gc(), "GC", PerfettoTrack::Process());
  if (selection_.Selects(EventKind::kTaskBegin)) {
    tracks_.DeclareTrack(PerfettoTrack::Tasks(), "Tasks", PerfettoTrack::Process());
  }
  if (selection_.Selects(EventKind::kMetric)) {
    for (size_t i = 0; i < std::size(internal::kMetricCounters); ++i) {
      const internal::MetricCounter& counter = internal::kMetricCounters[i];
      tracks_.DeclareCounter(PerfettoTrack::Counter(i), counter.name,
                             counter.counts_bytes ? CounterUnit::kBytes : CounterUnit::kCount);
    }
  }
  if (!writes_states_) return;
  for (size_t i = 0; i < std::size(internal::StateCounters::kSpecs); ++i) {
    tracks_.DeclareCounter(PerfettoTrack::Counter(kFirstStateCounter + i),
                           internal::StateCounters::kSpecs[i].name, CounterUnit::kCount);
  }
}

void PerfettoExporter::Impl::BeginWindow(int64_t time) {
  BeginFile(time);
  for (ViewGoroutine* const goroutine : view_.Goroutines()) WriteCurrent(*goroutine, time);
  for (auto& [id, track] : view_.procs()) {
    AddProc(id);
    view_.ShowSlices(track, time);
  }
  view_.ShowSlices(view_.program(), time);
  view_.ShowTasks(time);
  if (selection_.Selects(EventKind::kMetric)) view_.ShowMetrics(time);
}

void PerfettoExporter::Impl::TakeEvent(const Event& event) {
  if (event.kind() == EventKind::kSync) return WriteClocks(event);
  if (!view_.Wants(event)) return;
  switch (event.kind()) {
    case EventKind::kLog:
      return WriteLog(event);
    case EventKind::kLabel:
      return tracks_.AddInstant(
          event.time(), TrackOf(event.goroutine()),
          {.name = Intern(event.label().label), .category = PerfettoCategory::kLabel});
    case EventKind::kStackSample:
      return tracks_.AddCpuSample(event.time(), event.proc(), event.goroutine(), event.thread(),
                                  interner_.InternStack(event.stack()));
    case EventKind::kExperimental:
      return WriteExperimental(event);
    default:
      return;
  }
}

void PerfettoExporter::Impl::WriteClocks(const Event& event) {
  if (Sync sync = event.sync(); sync.clock_snapshot.has_value()) {
    sync.clock_snapshot->trace_time =
        TraceClock::Add(sync.clock_snapshot->trace_time, options_.time_offset);
    tracks_.AddClockSnapshot(*sync.clock_snapshot);
  }
}

void PerfettoExporter::Impl::AddGoroutine(ViewGoroutine& goroutine, const Event& event) {
  if (HasSlice(goroutine.state)) {
    ViewSlice slice = SliceOf(goroutine.state, StringId::kEmpty, event.transition_stack());
    slice.is_selected = goroutine.is_selected;
    goroutine.track.slices.Push(slice);
  }
  if (view_.is_in_window()) WriteCurrent(goroutine, goroutine.since);
}

void PerfettoExporter::Impl::WriteCurrent(ViewGoroutine& goroutine, int64_t time) {
  if (!selection_.Selects(goroutine.id)) return;
  if (writes_scheduling_ && goroutine.is_selected) {
    // Declares it, so that Perfetto knows its process.
    TrackOf(goroutine);
    if (goroutine.state != GoState::kRunning) {
      scheduling_.SetInitialState(time, goroutine.id, NameOf(goroutine), goroutine.state);
      const auto wait = goroutine.track.slices.FindLast(KeyOfState(GoState::kWaiting));
      if (goroutine.state == GoState::kWaiting && wait != goroutine.track.slices.end() &&
          wait->name != waiting_) {
        scheduling_.SetReason(time, goroutine.id, wait->name, wait->name == network_);
      }
    } else if (goroutine.proc != ProcId::kNone && selection_.Selects(goroutine.proc)) {
      scheduling_.SetInitiallyRunning(time, goroutine.id, NameOf(goroutine), goroutine.proc);
    }
  }
  view_.ShowSlices(goroutine.track, time);
}

ViewSlice PerfettoExporter::Impl::SliceOf(GoState state, StringId reason, const Stack& stack) {
  const bool waits = state == GoState::kWaiting;
  const StringId name = reason == StringId::kEmpty ? waiting_ : reason;
  return {.key = KeyOfState(state), .name = waits ? name : syscall_, .stack = view_.StackOf(stack)};
}

void PerfettoExporter::Impl::CreateGoroutine(ViewGoroutine& goroutine, const Event& event) {
  const int64_t time = event.time();
  const bool writes = view_.Wants(event) && WritesStates(goroutine);
  const GoId creator = event.goroutine();
  if (writes && writes_scheduling_) {
    TrackOf(goroutine);
    if (goroutine.state == GoState::kRunnable) {
      scheduling_.Wake(time, goroutine.id, NameOf(goroutine), creator, event.proc());
    } else {
      scheduling_.SetState(time, goroutine.id, NameOf(goroutine), goroutine.state);
    }
  }
  if (writes && creator != GoId::kNone && selection_.Selects(creator)) {
    const uint64_t flow = next_flow_++;
    tracks_.AddInstant(time, TrackOf(creator),
                       {.name = create_,
                        .category = PerfettoCategory::kGoroutine,
                        .stack = view_.StackOf(event.stack()),
                        .flow_out = flow});
    tracks_.AddInstant(time, TrackOf(goroutine), {.name = created_, .flow_in = flow});
  }
  if (HasSlice(goroutine.state)) {
    // Its stack is where it will start.
    view_.BeginSlice(goroutine.track, SliceOf(goroutine.state, StringId::kEmpty, Stack()), time,
                     event);
  }
}

void PerfettoExporter::Impl::ChangeState(ViewGoroutine& goroutine, GoState state, StringId reason,
                                         const Event& event) {
  const int64_t time = event.time();
  const GoState before = goroutine.state;
  const bool schedules = view_.Wants(event) && Schedules(goroutine);
  const StringId name = NameOf(goroutine);
  if (before == GoState::kRunning) Stop(goroutine, state, event);
  if (HasSlice(before)) EndWait(goroutine, event);
  switch (state) {
    case GoState::kRunning:
      goroutine.is_named |= schedules && goroutine.name != StringId::kEmpty;
      if (schedules && event.proc() != ProcId::kNone) {
        scheduling_.Start(time, goroutine.id, name, event.proc());
      }
      break;
    case GoState::kRunnable:
      if (schedules && before != GoState::kRunning) {
        const GoId waker = before == GoState::kWaiting ? event.goroutine() : GoId::kNone;
        scheduling_.Wake(time, goroutine.id, name, waker, event.proc());
      }
      break;
    case GoState::kWaiting:
    case GoState::kSyscall:
      if (schedules && state == GoState::kWaiting) {
        scheduling_.SetReason(time, goroutine.id, reason, reason == network_);
      }
      if (schedules && before != GoState::kRunning) {
        scheduling_.SetState(time, goroutine.id, name, state);
      }
      view_.BeginSlice(goroutine.track, SliceOf(state, reason, event.transition_stack()), time,
                       event);
      break;
    default:
      break;
  }
}

bool PerfettoExporter::Impl::Stop(const ViewGoroutine& goroutine, GoState state,
                                  const Event& event) {
  const bool is_known = goroutine.proc != ProcId::kNone;
  const ProcId proc = is_known ? goroutine.proc : event.proc();
  if (proc == ProcId::kNone) return false;
  // Also where only the beginning was selected.
  if (!Schedules(goroutine)) return true;
  const StringId name = NameOf(goroutine);
  if (!is_known && view_.Wants(event)) {
    scheduling_.SetInitiallyRunning(goroutine.since, goroutine.id, name, proc);
  }
  scheduling_.Stop(event.time(), goroutine.id, name, proc, state);
  return true;
}

void PerfettoExporter::Impl::EndWait(ViewGoroutine& goroutine, const Event& event) {
  const int64_t time = event.time();
  uint64_t flow = 0;
  const GoId waker = event.goroutine();
  if (view_.Wants(event) && WritesStates(goroutine) && goroutine.state == GoState::kWaiting &&
      waker != GoId::kNone && waker != goroutine.id && selection_.Selects(waker)) {
    flow = next_flow_++;
    tracks_.AddInstant(time, TrackOf(waker),
                       {.name = unblock_,
                        .category = PerfettoCategory::kGoroutine,
                        .stack = view_.StackOf(event.stack()),
                        .flow_out = flow});
  }
  view_.EndSlice(goroutine.track, KeyOfState(goroutine.state), {time});
  // The arrow ends at an instant, since Perfetto lets arrows begin at the slice that began first.
  if (flow != 0) {
    tracks_.AddInstant(time, TrackOf(goroutine), {.name = unblocked_, .flow_in = flow});
  }
}

void PerfettoExporter::Impl::EndGoroutine(ViewGoroutine& goroutine, const Event& event) {
  if (!view_.Wants(event) || !Schedules(goroutine)) return;
  if (goroutine.state == GoState::kRunning && Stop(goroutine, GoState::kNotExist, event)) return;
  scheduling_.SetState(event.time(), goroutine.id, NameOf(goroutine), GoState::kNotExist);
}

void PerfettoExporter::Impl::BeginTask(const ViewTask& task, int64_t time, const Event*) {
  const ViewTask* const parent = view_.Find(task.parent);
  const bool has_parent = parent != nullptr && parent->is_shown;
  const PerfettoTrack track = PerfettoTrack::Of(task.id);
  tracks_.DeclareTrack(track, interner_.String(task.type),
                       has_parent ? PerfettoTrack::Of(task.parent) : PerfettoTrack::Tasks());
  std::vector<PerfettoAnnotation> annotations = {{.name = task_name_, .number = task.id.value}};
  if (task.parent != TaskId::kNone && task.parent != kBackgroundTask) {
    annotations.push_back({.name = parent_, .number = task.parent.value});
  }
  tracks_.BeginSlice(time, track,
                     {.name = task.type == StringId::kEmpty ? task_name_ : task.type,
                      .category = PerfettoCategory::kTask,
                      .stack = task.stack,
                      .annotations = annotations});
}

void PerfettoExporter::Impl::WriteLog(const Event& event) {
  const Log log = event.log();
  std::vector<PerfettoAnnotation> annotations = {{.name = message_, .text = log.message}};
  if (log.task != kBackgroundTask) {
    annotations.push_back({.name = task_name_, .number = log.task.value});
  }
  tracks_.AddInstant(event.time(), TrackOf(event.goroutine()),
                     {.name = log.category.empty() ? log_ : Intern(log.category),
                      .category = PerfettoCategory::kLog,
                      .stack = view_.StackOf(event.stack()),
                      .annotations = annotations});
}

void PerfettoExporter::Impl::WriteExperimental(const Event& event) {
  if (!options_.alloc) return;
  const ExperimentalEvent details = event.experimental();
  std::vector<PerfettoAnnotation> annotations;
  for (const ExperimentalArg& arg : details.args) {
    annotations.push_back({.name = Intern(arg.name), .number = arg.value});
  }
  tracks_.AddInstant(event.time(), TrackOf(event.goroutine()),
                     {.name = Intern(details.name),
                      .category = PerfettoCategory::kAlloc,
                      .annotations = annotations});
}

PerfettoTrack PerfettoExporter::Impl::TrackOf(ViewGoroutine& goroutine) {
  if (!goroutine.is_declared && view_.is_in_window()) {
    goroutine.is_declared = true;
    // Otherwise scheduling events name it, at less cost.
    const bool names = goroutine.is_old || !writes_scheduling_;
    goroutine.is_named |= names && goroutine.name != StringId::kEmpty;
    tracks_.DeclareGoroutine(goroutine.id,
                             names ? interner_.String(goroutine.name) : absl::string_view());
  }
  return PerfettoTrack::Of(goroutine.id);
}

PerfettoTrack PerfettoExporter::Impl::TrackOf(GoId id) {
  ViewGoroutine* const goroutine = view_.Find(id);
  return goroutine == nullptr ? PerfettoTrack::Gc() : TrackOf(*goroutine);
}

PerfettoTrack PerfettoExporter::Impl::TrackOf(ViewTrack& track) {
  if (track.goroutine != nullptr) return TrackOf(*track.goroutine);
  return track.scope.kind == ResourceKind::kProc ? PerfettoTrack::Of(ProcId{track.scope.id})
                                                 : PerfettoTrack::Gc();
}

void PerfettoExporter::Impl::AddProc(ProcId id) {
  if (!selection_.Selects(EventKind::kRangeBegin)) return;
  tracks_.DeclareTrack(PerfettoTrack::Of(id), absl::StrCat("P", id.value),
                       PerfettoTrack::Process());
}

void PerfettoExporter::Impl::BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time,
                                        const Event*) {
  const PerfettoAnnotation task = {.name = task_name_, .number = slice.task.value};
  const bool has_task = slice.task != TaskId::kNone && slice.task != kBackgroundTask;
  tracks_.BeginSlice(time, TrackOf(track),
                     {.name = slice.name,
                      .category = CategoryOf(slice.key.kind),
                      .stack = slice.stack,
                      .annotations = {&task, has_task ? size_t{1} : 0}});
}

void PerfettoExporter::Impl::EndSlice(ViewTrack& track, const ViewSlice&,
                                      absl::Span<ViewSlice* const>, const ViewEnd& end) {
  std::vector<PerfettoAnnotation> annotations;
  for (const ViewEnd::Attribute& attribute : end.attributes) {
    annotations.push_back({.name = attribute.name, .number = attribute.value});
  }
  tracks_.EndSlice(end.time, TrackOf(track), {.annotations = annotations});
}

void PerfettoExporter::Impl::AddThread(const ThreadInterval& interval, int64_t begin, int64_t end) {
  const PerfettoTrack track = PerfettoTrack::Of(interval.thread);
  if (declared_threads_.insert(interval.thread).second) {
    tracks_.DeclareTrack(track, absl::StrCat("M", interval.thread.value), PerfettoTrack::Process());
  }
  std::vector<PerfettoAnnotation> annotations;
  if (interval.goroutine != GoId::kNone) {
    annotations.push_back(
        {.name = goroutine_, .number = static_cast<uint64_t>(interval.goroutine.value)});
  }
  if (interval.proc != ProcId::kNone) {
    annotations.push_back(
        {.name = proc_name_, .number = static_cast<uint64_t>(interval.proc.value)});
  }
  StringId name = interval.state == ThreadState::kSyscall ? syscall_ : scheduling_name_;
  if (interval.state == ThreadState::kRunning) {
    const ViewGoroutine* const goroutine = view_.Find(interval.goroutine);
    name = goroutine == nullptr ? goroutine_ : NameOf(*goroutine);
  }
  tracks_.BeginSlice(
      begin, track,
      {.name = name, .category = PerfettoCategory::kThread, .annotations = annotations});
  tracks_.EndSlice(end, track);
}

absl::Status PerfettoExporter::Impl::Finish() {
  view_.Finish();
  if (!view_.is_in_window()) BeginFile(view_.end());
  // Shows until when the last states lasted.
  const int64_t end = view_.end();
  for (const ViewGoroutine* const goroutine : view_.Goroutines()) {
    const bool has_state =
        goroutine->state != GoState::kRunning ||
        (goroutine->proc != ProcId::kNone && selection_.Selects(goroutine->proc));
    if (Schedules(*goroutine) && goroutine->is_selected && has_state && goroutine->since < end) {
      scheduling_.SetLastState(end, goroutine->id, NameOf(*goroutine), goroutine->proc,
                               goroutine->state);
    }
    const bool has_name = goroutine->name != StringId::kEmpty;
    if (goroutine->is_declared && !goroutine->is_named && has_name) {
      tracks_.DeclareGoroutine(goroutine->id, interner_.String(goroutine->name));
    }
  }
  scheduling_.Flush();
  packets_.Flush();
  if (tracks_.has_renamed_goroutines() && options_.on_note) {
    options_.on_note(
        "goroutines whose ids need more than 31 bits have other tids, since those of Linux have no "
        "more");
  }
  return out_.status();
}

PerfettoExporter::PerfettoExporter(ByteSink* out, PerfettoOptions options)
    : impl_(std::make_unique<Impl>(out, std::move(options))) {}
PerfettoExporter::~PerfettoExporter() = default;

void PerfettoExporter::Add(absl::Span<const Event> events) { impl_->Add(events); }
bool PerfettoExporter::WantsMore() const { return impl_->WantsMore(); }

absl::Status PerfettoExporter::Finish() { return impl_->Finish(); }

}  // namespace gotrace
