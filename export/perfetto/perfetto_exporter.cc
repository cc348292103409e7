// Every event updates the state of its goroutine, and the open slices of its track. From the
// beginning of the time window on, the changes are also written. States and slices that are current
// then are written with the beginning of the window as their own.
#include "gotrace/perfetto_exporter.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "export/counters.h"
#include "export/perfetto/packet_writer.h"
#include "export/perfetto/scheduling_writer.h"
#include "export/perfetto/track_event_writer.h"
#include "export/thread_slices.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "parser/event/event_writer.h"
#include "parser/event/trace_clock.h"
#include "util/dense_table.h"
#include "util/open_stack.h"

namespace gotrace {
namespace {

using internal::PerfettoAnnotation;
using internal::PerfettoCategory;
using internal::PerfettoDetails;
using internal::PerfettoTrack;
using internal::TraceClock;
using internal::perfetto::CounterUnit;

// An open slice of a track.
struct Slice {
  PerfettoCategory category = PerfettoCategory::kNone;
  StringId name = StringId::kEmpty;
  StackId stack = StackId::kNone;
  TaskId task = {};
  bool is_selected = false;  // Whether the filter selects it, whatever the time.
  bool is_written = false;
};

// The key by which the end of a slice finds it. A goroutine has only one wait or syscall at a time.
struct SliceTraits {
  using Key = std::pair<PerfettoCategory, StringId>;
  static Key KeyOf(const Slice& slice) {
    const bool is_state =
        slice.category == PerfettoCategory::kWait || slice.category == PerfettoCategory::kSyscall;
    return {slice.category, is_state ? StringId::kEmpty : slice.name};
  }
  static bool Has(const Slice& slice, const Key& key) { return KeyOf(slice) == key; }
};

// A track's open slices, outermost first.
using Slices = internal::OpenStack<Slice, SliceTraits>;

struct Goroutine {
  GoId id;
  GoState state = GoState::kUndetermined;
  int64_t since = 0;  // The begin of the state, or of the window.
  StringId name = StringId::kEmpty;
  ProcId proc;  // kRunning: the P, if known.
  bool is_declared = false;
  bool is_named = false;     // Whether its name was written.
  bool is_old = false;       // Whether it existed before the events that were read.
  bool is_selected = false;  // Whether the filter selects the event that began the state.
  Slices slices;
};

struct OpenTask {
  TaskId parent;
  StringId type = StringId::kEmpty;
  StackId stack = StackId::kNone;
  bool is_selected = false;
  bool is_written = false;
};

// The tracks of counters: those of metrics come first, and two numbers are not used.
constexpr size_t kFirstStateCounter = std::size(internal::kMetricCounters) + 2;

bool IsStatus(const Event& event) {
  return event.type() == EventType::kGoStatus || event.type() == EventType::kGoStatusStack;
}

}  // namespace

class PerfettoExporter::Impl final : private IntervalConsumer {
 public:
  Impl(ByteSink* out, PerfettoOptions options)
      : options_(std::move(options)),
        out_(*out),
        packets_(out, options_.compress, options_.pid),
        tracks_(&packets_, &interner_),
        scheduling_(&packets_, &tracks_, &interner_, options_.scheduling),
        state_counters_([this](int64_t time, size_t counter, uint64_t value) {
          if (!writes_states_) return;
          tracks_.SetCounter(time, PerfettoTrack::Counter(kFirstStateCounter + counter), value);
        }) {
    EventFilter::Times& times = options_.filter.times;
    if (times.HasFirst()) times.from = TraceClock::Add(times.from, options_.time_offset);
    if (times.to != EventFilter::Times().to) {
      times.to = TraceClock::Add(times.to, options_.time_offset);
    }
    if (options_.threads) {
      threads_ = std::make_unique<StateTracker>(&interner_, static_cast<IntervalConsumer*>(this));
    }
  }

  void Add(absl::Span<const Event> events);
  bool WantsMore() const { return out_.ok(); }
  absl::Status Finish();

 private:
  StringId Intern(absl::string_view text) { return interner_.InternString(text); }

  void AddShifted(const Event& event);
  void Take(const Event& event);
  // Processes an event that comes after the window, in its last generation. A status may state what
  // a goroutine did during the window.
  void TakeAfterWindow(const Event& event);
  void TakeSync(const Event& event);
  void TakeGoTransition(const Event& event);
  // Records the P that the thread has after a transition.
  void NoteProcOfThread(const Event& event);
  void TakeMetric(const Event& event);
  void TakeRange(const Event& event);
  void TakeRegion(const Event& event);
  void TakeTask(const Event& event);
  void TakeLog(const Event& event);
  void TakeLabel(const Event& event);
  void TakeExperimental(const Event& event);

  void BeginFile(int64_t time);
  void BeginWindow(int64_t time);

  // Adds a goroutine that existed before `event`, which states or implies that it is in `state`.
  Goroutine& AddOld(GoId id, GoState state, const Event& event);
  Goroutine& Create(const Event& event);
  void ChangeState(const Event& event, Goroutine& goroutine);
  void End(const Event& event, Goroutine& goroutine);
  // Sets the state of the goroutine, into which `event` puts it at `time`.
  void SetState(const Event& event, Goroutine& goroutine, GoState state, int64_t time);
  // Returns the slice of a goroutine that waits, for `reason` if known, or is in a syscall.
  Slice SliceOf(GoState state, StringId reason, const Stack& stack);

  // Writes the state and the open slices of a goroutine as they are at `time`.
  void WriteCurrent(Goroutine& goroutine, int64_t time);

  // Writes why a goroutine waits, if known.
  void SetReason(int64_t time, const Goroutine& goroutine);

  // If the name of the goroutine is not known yet, sets it to the outermost function of `stack`,
  // which must be its own.
  void Learn(Goroutine& goroutine, const Stack& stack);
  StringId NameOf(const Goroutine& goroutine) const {
    return goroutine.name == StringId::kEmpty ? goroutine_ : goroutine.name;
  }

  bool WritesStates(const Goroutine& goroutine) const {
    return is_in_window_ && writes_states_ && selection_.Selects(goroutine.id);
  }
  bool WritesScheduling() const {
    return writes_states_ && options_.scheduling != PerfettoScheduling::kOff;
  }
  // Returns whether `event` passes the filter, whatever its time.
  bool SelectsEvent(const Event& event) const {
    return selects_all_ || selection_.Matches(event, /*start=*/0);
  }
  // Returns whether `event`, which must not be after the window, passes the filter and is inside
  // the window.
  bool Wants(const Event& event) const { return is_in_window_ && SelectsEvent(event); }

  // Returns the track of a goroutine, which is declared if necessary.
  PerfettoTrack TrackOf(Goroutine& goroutine);
  PerfettoTrack TrackOf(GoId id);
  void DeclareProc(ProcId id);
  // Returns the track of the goroutine of `event`, or of the program if there is none.
  PerfettoTrack TrackOfContext(const Event& event);

  StackId StackOf(const Stack& stack) {
    return options_.stacks ? interner_.InternStack(stack) : StackId::kNone;
  }

  // Adds a slice of a goroutine that begins with `event`, and writes it if `event` is to be
  // written.
  void PushSlice(int64_t time, Goroutine& goroutine, Slice slice, const Event& event);
  // The same for other tracks.
  void PushSlice(int64_t time, PerfettoTrack track, Slice slice, const Event& event,
                 Slices* slices);
  // Writes the open slices that the filter selects.
  void WriteSlices(int64_t time, PerfettoTrack track, Slices* slices);
  void WriteSlice(int64_t time, PerfettoTrack track, const Slice& slice);
  // Ends the latest slice with the key, if there is one, and the slices inside it.
  void PopSlice(int64_t time, PerfettoTrack track, const SliceTraits::Key& key,
                const PerfettoDetails& details, Slices* slices);
  // Ends all slices but the first `count`, the outermost of them with `details`.
  void PopSlices(int64_t time, PerfettoTrack track, size_t count, const PerfettoDetails& details,
                 Slices* slices);

  void WriteTask(int64_t time, TaskId id, OpenTask& task);

  // IntervalConsumer, for the tracks of threads.
  void AddThread(const ThreadInterval& interval) override;
  void Merge(IntervalConsumer&&, const InternerMap&) override {}

  PerfettoOptions options_;
  ByteSink& out_;
  Interner interner_;
  internal::PacketWriter packets_;
  internal::TrackEventWriter tracks_;
  internal::SchedulingWriter scheduling_;
  internal::StateCounters state_counters_;
  std::unique_ptr<StateTracker> threads_;
  const EventFilter selection_ = options_.filter.WithoutTimes();
  const bool selects_all_ = selection_.MatchesAll();
  const bool writes_states_ = selection_.Selects(EventKind::kStateTransition);

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

  bool has_begun_ = false;
  bool is_in_window_ = false;
  bool is_past_ = false;          // Whether the window has ended.
  bool is_over_ = false;          // Whether the window's last generation has ended.
  std::optional<int64_t> begin_;  // The time of the first event.
  int64_t generation_begin_ = 0;
  int64_t last_time_ = 0;
  uint64_t next_flow_ = 1;

  internal::DenseTable<Goroutine> goroutines_{internal::kSlotsForGoroutines};
  std::map<ProcId, Slices> proc_slices_;
  absl::flat_hash_map<ThreadId, ProcId> proc_of_thread_;
  std::map<TaskId, OpenTask> tasks_;
  absl::flat_hash_set<ThreadId> declared_threads_;
  Slices gc_slices_;

  std::array<std::optional<uint64_t>, std::size(internal::kMetricCounters)>
      metrics_;  // The last values.
};

void PerfettoExporter::Impl::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (options_.time_offset == 0) {
      AddShifted(event);
    } else {
      Event shifted = event;
      internal::EventWriter(&shifted).Time(TraceClock::Add(event.time(), options_.time_offset));
      AddShifted(shifted);
    }
  }
}

void PerfettoExporter::Impl::AddShifted(const Event& event) {
  // Comes first, while goroutines that end still have names.
  if (threads_ != nullptr) threads_->Add(absl::MakeConstSpan(&event, 1));
  if (!begin_.has_value()) {
    begin_ = event.time();
    options_.filter = options_.filter.WithAbsoluteTimes(*begin_);
  }
  // Later events may be in it again, since times may go back in a damaged trace.
  is_past_ = event.time() > options_.filter.times.to;
  if (event.kind() == EventKind::kSync && !is_past_) {
    generation_begin_ = event.time();
    state_counters_.BeginGeneration();
  }
  if (!is_in_window_ && event.time() >= options_.filter.times.from) {
    BeginWindow(std::max(*begin_, options_.filter.times.from));
  }
  if (is_past_) {
    is_over_ |= event.kind() == EventKind::kSync;
    if (!is_over_) TakeAfterWindow(event);
  } else {
    is_over_ = false;
    Take(event);
  }
}

void PerfettoExporter::Impl::Take(const Event& event) {
  const int64_t time = event.time();
  last_time_ = std::max(last_time_, time);
  switch (event.kind()) {
    case EventKind::kSync:
      return TakeSync(event);
    case EventKind::kStateTransition:
      state_counters_.Add(event);
      event.transition_resource().kind == ResourceKind::kGoroutine ? TakeGoTransition(event)
                                                                   : NoteProcOfThread(event);
      return;
    case EventKind::kMetric:
      return TakeMetric(event);
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return TakeRange(event);
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      return TakeRegion(event);
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      return TakeTask(event);
    case EventKind::kLog:
      return TakeLog(event);
    case EventKind::kLabel:
      return TakeLabel(event);
    case EventKind::kStackSample:
      if (Wants(event)) {
        tracks_.AddCpuSample(time, event.proc(), event.goroutine(), event.thread(),
                             interner_.InternStack(event.stack()));
      }
      return;
    case EventKind::kExperimental:
      return TakeExperimental(event);
    case EventKind::kNone:
      return;
  }
}

void PerfettoExporter::Impl::TakeAfterWindow(const Event& event) {
  if (event.kind() != EventKind::kStateTransition) return;
  state_counters_.AddLate(event);
  if (event.type() == EventType::kProcStatus) return NoteProcOfThread(event);
  if (!IsStatus(event)) return;
  const GoId id{event.transition_resource().id};
  const GoState state = static_cast<GoState>(event.transition_to());
  if (state == GoState::kUndetermined || goroutines_.Find(id) != nullptr) return;
  AddOld(id, state, event);
}

void PerfettoExporter::Impl::BeginFile(int64_t time) {
  has_begun_ = true;
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
  is_in_window_ = true;
  for (Goroutine* const goroutine : goroutines_.Sorted()) {
    goroutine->since = time;
    WriteCurrent(*goroutine, time);
  }
  for (auto& [id, slices] : proc_slices_) {
    DeclareProc(id);
    WriteSlices(time, PerfettoTrack::Of(id), &slices);
  }
  WriteSlices(time, PerfettoTrack::Gc(), &gc_slices_);
  for (auto& [id, task] : tasks_) {
    if (task.is_selected) WriteTask(time, id, task);
  }
  state_counters_.Begin(time);
  for (size_t i = 0; i < metrics_.size(); ++i) {
    if (metrics_[i].has_value() && selection_.Selects(EventKind::kMetric)) {
      tracks_.SetCounter(time, PerfettoTrack::Counter(i), *metrics_[i]);
    }
  }
}

void PerfettoExporter::Impl::TakeSync(const Event& event) {
  if (!is_in_window_) return;
  if (Sync sync = event.sync(); sync.clock_snapshot.has_value()) {
    sync.clock_snapshot->trace_time =
        TraceClock::Add(sync.clock_snapshot->trace_time, options_.time_offset);
    tracks_.AddClockSnapshot(*sync.clock_snapshot);
  }
}

Goroutine& PerfettoExporter::Impl::AddOld(GoId id, GoState state, const Event& event) {
  Goroutine& goroutine = *goroutines_.Insert(id);
  goroutine.is_old = true;
  Learn(goroutine, event.transition_stack());
  SetState(event, goroutine, state, std::max(generation_begin_, options_.filter.times.from));
  if (state == GoState::kRunning) {
    const auto it = proc_of_thread_.find(event.thread());
    if (it != proc_of_thread_.end()) goroutine.proc = it->second;
  } else if (state == GoState::kWaiting || state == GoState::kSyscall) {
    goroutine.slices.Push(SliceOf(state, StringId::kEmpty, event.transition_stack())).is_selected =
        goroutine.is_selected;
  }
  if (is_in_window_) WriteCurrent(goroutine, goroutine.since);
  return goroutine;
}

void PerfettoExporter::Impl::WriteCurrent(Goroutine& goroutine, int64_t time) {
  if (!selection_.Selects(goroutine.id)) return;
  if (WritesScheduling() && goroutine.is_selected) {
    // Declares it, so that Perfetto knows its process.
    TrackOf(goroutine);
    if (goroutine.state != GoState::kRunning) {
      scheduling_.SetInitialState(time, goroutine.id, NameOf(goroutine), goroutine.state);
      if (goroutine.state == GoState::kWaiting) SetReason(time, goroutine);
    } else if (goroutine.proc != ProcId::kNone && selection_.Selects(goroutine.proc)) {
      scheduling_.SetInitiallyRunning(time, goroutine.id, NameOf(goroutine), goroutine.proc);
    }
  }
  const bool has_slices = std::any_of(goroutine.slices.begin(), goroutine.slices.end(),
                                      [](const Slice& slice) { return slice.is_selected; });
  if (has_slices) WriteSlices(time, TrackOf(goroutine), &goroutine.slices);
}

void PerfettoExporter::Impl::SetReason(int64_t time, const Goroutine& goroutine) {
  const auto outermost = std::make_reverse_iterator(goroutine.slices.begin());
  const auto wait =
      std::find_if(std::make_reverse_iterator(goroutine.slices.end()), outermost,
                   [](const Slice& slice) { return slice.category == PerfettoCategory::kWait; });
  if (wait == outermost || wait->name == waiting_) return;
  scheduling_.SetReason(time, goroutine.id, wait->name, wait->name == network_);
}

void PerfettoExporter::Impl::WriteSlices(int64_t time, PerfettoTrack track, Slices* slices) {
  for (Slice& slice : *slices) {
    if (!slice.is_selected) continue;
    slice.is_written = true;
    WriteSlice(time, track, slice);
  }
}

void PerfettoExporter::Impl::SetState(const Event& event, Goroutine& goroutine, GoState state,
                                      int64_t time) {
  goroutine.state = state;
  goroutine.since = time;
  goroutine.is_selected = SelectsEvent(event);
}

Slice PerfettoExporter::Impl::SliceOf(GoState state, StringId reason, const Stack& stack) {
  if (state == GoState::kSyscall) {
    return {.category = PerfettoCategory::kSyscall, .name = syscall_, .stack = StackOf(stack)};
  }
  return {.category = PerfettoCategory::kWait,
          .name = reason == StringId::kEmpty ? waiting_ : reason,
          .stack = StackOf(stack)};
}

void PerfettoExporter::Impl::TakeGoTransition(const Event& event) {
  const GoId id{event.transition_resource().id};
  const GoState from = static_cast<GoState>(event.transition_from());
  const GoState to = static_cast<GoState>(event.transition_to());
  if (to == GoState::kUndetermined) return;
  Goroutine* goroutine = goroutines_.Find(id);
  if (from == GoState::kNotExist && !IsStatus(event)) {
    if (goroutine != nullptr) End(event, *goroutine);
    Create(event);
    return;
  }
  if (IsStatus(event)) {
    if (goroutine == nullptr) {
      AddOld(id, to, event);
    } else if (goroutine->state != to) {
      ChangeState(event, *goroutine);
    } else {
      Learn(*goroutine, event.transition_stack());
    }
    return;
  }
  if (goroutine == nullptr) goroutine = &AddOld(id, from, event);
  Learn(*goroutine, event.transition_stack());
  if (to == GoState::kNotExist) return End(event, *goroutine);
  ChangeState(event, *goroutine);
}

Goroutine& PerfettoExporter::Impl::Create(const Event& event) {
  Goroutine& goroutine = *goroutines_.Insert(GoId{event.transition_resource().id});
  const GoState state = static_cast<GoState>(event.transition_to());
  const int64_t time = event.time();
  Learn(goroutine, event.transition_stack());
  SetState(event, goroutine, state, time);
  const bool writes = Wants(event) && WritesStates(goroutine);
  const GoId creator = event.goroutine();
  if (writes && WritesScheduling()) {
    TrackOf(goroutine);
    if (state == GoState::kRunnable) {
      scheduling_.Wake(time, goroutine.id, NameOf(goroutine), creator, event.proc());
    } else {
      scheduling_.SetState(time, goroutine.id, NameOf(goroutine), state);
    }
  }
  if (writes && creator != GoId::kNone && selection_.Selects(creator)) {
    const uint64_t flow = next_flow_++;
    tracks_.AddInstant(time, TrackOf(creator),
                       {.name = create_,
                        .category = PerfettoCategory::kGoroutine,
                        .stack = StackOf(event.stack()),
                        .flow_out = flow});
    tracks_.AddInstant(time, TrackOf(goroutine), {.name = created_, .flow_in = flow});
  }
  if (state == GoState::kWaiting || state == GoState::kSyscall) {
    // Its stack is the place where it will start.
    PushSlice(time, goroutine, SliceOf(state, StringId::kEmpty, Stack()), event);
  }
  return goroutine;
}

void PerfettoExporter::Impl::ChangeState(const Event& event, Goroutine& goroutine) {
  const int64_t time = event.time();
  const GoState before = goroutine.state;
  const GoState state = static_cast<GoState>(event.transition_to());
  const bool writes = Wants(event) && WritesStates(goroutine);
  const bool schedules = writes && WritesScheduling();
  const StringId reason = event.type() == EventType::kGoStop || event.type() == EventType::kGoBlock
                              ? interner_.InternString(event.tables(), event.arg(0))
                              : StringId::kEmpty;
  const StringId name = NameOf(goroutine);
  if (before == GoState::kRunning) {
    if (goroutine.proc == ProcId::kNone && event.proc() != ProcId::kNone) {
      // Its P is known only now.
      goroutine.proc = event.proc();
      if (schedules) {
        scheduling_.SetInitiallyRunning(goroutine.since, goroutine.id, name, goroutine.proc);
      }
    }
    // This is also needed if only the beginning was selected.
    if (WritesStates(goroutine) && WritesScheduling() && goroutine.proc != ProcId::kNone) {
      scheduling_.Stop(time, goroutine.id, name, goroutine.proc, state);
    }
  } else if (before == GoState::kWaiting || before == GoState::kSyscall) {
    uint64_t flow = 0;
    const GoId waker = event.goroutine();
    if (writes && before == GoState::kWaiting && waker != GoId::kNone && waker != goroutine.id &&
        selection_.Selects(waker)) {
      flow = next_flow_++;
      tracks_.AddInstant(time, TrackOf(waker),
                         {.name = unblock_,
                          .category = PerfettoCategory::kGoroutine,
                          .stack = StackOf(event.stack()),
                          .flow_out = flow});
    }
    PopSlice(time, PerfettoTrack::Of(goroutine.id),
             {before == GoState::kWaiting ? PerfettoCategory::kWait : PerfettoCategory::kSyscall,
              StringId::kEmpty},
             {}, &goroutine.slices);
    // The arrow ends at an instant, since Perfetto lets arrows begin at the slice that began first.
    if (flow != 0) {
      tracks_.AddInstant(time, TrackOf(goroutine), {.name = unblocked_, .flow_in = flow});
    }
  }
  switch (state) {
    case GoState::kRunning:
      goroutine.proc = event.proc();
      goroutine.is_named |= schedules && goroutine.name != StringId::kEmpty;
      if (schedules && goroutine.proc != ProcId::kNone) {
        scheduling_.Start(time, goroutine.id, name, goroutine.proc);
      }
      break;
    case GoState::kRunnable:
      if (schedules && before != GoState::kRunning) {
        const GoId waker = before == GoState::kWaiting ? event.goroutine() : GoId::kNone;
        scheduling_.Wake(time, goroutine.id, name, waker, event.proc());
      }
      break;
    case GoState::kWaiting:
    case GoState::kSyscall: {
      const bool waits = state == GoState::kWaiting;
      if (schedules && waits) {
        scheduling_.SetReason(time, goroutine.id, reason, reason == network_);
      }
      if (schedules && before != GoState::kRunning) {
        scheduling_.SetState(time, goroutine.id, name, state);
      }
      PushSlice(time, goroutine, SliceOf(state, reason, event.transition_stack()), event);
      break;
    }
    default:
      break;
  }
  if (state != GoState::kRunning) goroutine.proc = ProcId::kNone;
  SetState(event, goroutine, state, time);
}

void PerfettoExporter::Impl::End(const Event& event, Goroutine& goroutine) {
  const int64_t time = event.time();
  if (Wants(event) && WritesStates(goroutine) && WritesScheduling()) {
    const ProcId proc = goroutine.proc == ProcId::kNone ? event.proc() : goroutine.proc;
    if (goroutine.state == GoState::kRunning && proc != ProcId::kNone) {
      if (goroutine.proc == ProcId::kNone) {
        scheduling_.SetInitiallyRunning(goroutine.since, goroutine.id, NameOf(goroutine), proc);
      }
      scheduling_.Stop(time, goroutine.id, NameOf(goroutine), proc, GoState::kNotExist);
    } else {
      scheduling_.SetState(time, goroutine.id, NameOf(goroutine), GoState::kNotExist);
    }
  }
  PopSlices(time, PerfettoTrack::Of(goroutine.id), 0, {}, &goroutine.slices);
  SetState(event, goroutine, GoState::kNotExist, time);
  goroutines_.Erase(&goroutine);
}

void PerfettoExporter::Impl::NoteProcOfThread(const Event& event) {
  if (event.transition_to() != static_cast<uint8_t>(ProcState::kRunning)) return;
  proc_of_thread_[event.thread()] = ProcId{event.transition_resource().id};
}

void PerfettoExporter::Impl::TakeMetric(const Event& event) {
  for (size_t i = 0; i < std::size(internal::kMetricCounters); ++i) {
    if (internal::kMetricCounters[i].type != event.type()) continue;
    metrics_[i] = event.metric().value;
    if (Wants(event)) tracks_.SetCounter(event.time(), PerfettoTrack::Counter(i), *metrics_[i]);
  }
}

void PerfettoExporter::Impl::TakeRange(const Event& event) {
  const RangeParts parts = event.range_parts();
  const StringId name = interner_.InternRange(parts);
  PerfettoTrack track = PerfettoTrack::Gc();
  Slices* slices = &gc_slices_;
  Goroutine* goroutine = nullptr;
  if (parts.scope.kind == ResourceKind::kGoroutine) {
    goroutine = goroutines_.Find(GoId{parts.scope.id});
    if (goroutine == nullptr) return;
    track = PerfettoTrack::Of(goroutine->id);
    slices = &goroutine->slices;
  } else if (parts.scope.kind == ResourceKind::kProc) {
    const ProcId proc{parts.scope.id};
    const auto [it, is_new] = proc_slices_.try_emplace(proc);
    if (is_new && is_in_window_) DeclareProc(proc);
    track = PerfettoTrack::Of(proc);
    slices = &it->second;
  }
  const Slice slice = {
      .category = PerfettoCategory::kRange, .name = name, .stack = StackOf(event.stack())};
  if (event.kind() == EventKind::kRangeEnd) {
    std::vector<PerfettoAnnotation> annotations;
    for (const RangeAttribute& attribute : event.range_attributes()) {
      annotations.push_back({.name = Intern(attribute.name), .number = attribute.value});
    }
    PopSlice(event.time(), track, {PerfettoCategory::kRange, name}, {.annotations = annotations},
             slices);
    return;
  }
  int64_t time = event.time();
  if (event.kind() == EventKind::kRangeActive) {
    if (slices->FindLast({PerfettoCategory::kRange, name}) != Slices::kNone) return;
    time = std::max(generation_begin_, options_.filter.times.from);
  }
  if (goroutine != nullptr) return PushSlice(time, *goroutine, slice, event);
  PushSlice(time, track, slice, event, slices);
}

void PerfettoExporter::Impl::TakeRegion(const Event& event) {
  Goroutine* const goroutine = goroutines_.Find(event.goroutine());
  if (goroutine == nullptr) return;
  const Region region = event.region();
  const StringId name = Intern(region.type);
  if (event.kind() == EventKind::kRegionBegin) {
    const Slice slice = {.category = PerfettoCategory::kRegion,
                         .name = name,
                         .stack = StackOf(event.stack()),
                         .task = region.task};
    return PushSlice(event.time(), *goroutine, slice, event);
  }
  PopSlice(event.time(), PerfettoTrack::Of(goroutine->id), {PerfettoCategory::kRegion, name}, {},
           &goroutine->slices);
}

void PerfettoExporter::Impl::TakeTask(const Event& event) {
  const Task task = event.task();
  if (event.kind() == EventKind::kTaskBegin) {
    OpenTask& open = tasks_[task.id];
    open = {.parent = task.parent,
            .type = Intern(task.type),
            .stack = StackOf(event.stack()),
            .is_selected = SelectsEvent(event)};
    if (Wants(event)) WriteTask(event.time(), task.id, open);
    return;
  }
  const auto it = tasks_.find(task.id);
  if (it == tasks_.end()) return;
  if (it->second.is_written) tracks_.EndSlice(event.time(), PerfettoTrack::Of(task.id));
  tasks_.erase(it);
}

void PerfettoExporter::Impl::WriteTask(int64_t time, TaskId id, OpenTask& task) {
  const auto parent = tasks_.find(task.parent);
  const bool has_parent = parent != tasks_.end() && parent->second.is_written;
  tracks_.DeclareTrack(PerfettoTrack::Of(id), interner_.String(task.type),
                       has_parent ? PerfettoTrack::Of(task.parent) : PerfettoTrack::Tasks());
  std::vector<PerfettoAnnotation> annotations = {{.name = task_name_, .number = id.value}};
  if (task.parent != TaskId::kNone && task.parent != kBackgroundTask) {
    annotations.push_back({.name = parent_, .number = task.parent.value});
  }
  tracks_.BeginSlice(time, PerfettoTrack::Of(id),
                     {.name = task.type == StringId::kEmpty ? task_name_ : task.type,
                      .category = PerfettoCategory::kTask,
                      .stack = task.stack,
                      .annotations = annotations});
  task.is_written = true;
}

void PerfettoExporter::Impl::TakeLog(const Event& event) {
  if (!Wants(event)) return;
  const Log log = event.log();
  std::vector<PerfettoAnnotation> annotations = {{.name = message_, .text = log.message}};
  if (log.task != kBackgroundTask) {
    annotations.push_back({.name = task_name_, .number = log.task.value});
  }
  tracks_.AddInstant(event.time(), TrackOfContext(event),
                     {.name = log.category.empty() ? log_ : Intern(log.category),
                      .category = PerfettoCategory::kLog,
                      .stack = StackOf(event.stack()),
                      .annotations = annotations});
}

void PerfettoExporter::Impl::TakeLabel(const Event& event) {
  if (!Wants(event)) return;
  tracks_.AddInstant(event.time(), TrackOfContext(event),
                     {.name = Intern(event.label().label), .category = PerfettoCategory::kLabel});
}

void PerfettoExporter::Impl::TakeExperimental(const Event& event) {
  if (!options_.alloc || !Wants(event)) return;
  const ExperimentalEvent details = event.experimental();
  std::vector<PerfettoAnnotation> annotations;
  for (const ExperimentalArg& arg : details.args) {
    annotations.push_back({.name = Intern(arg.name), .number = arg.value});
  }
  tracks_.AddInstant(event.time(), TrackOfContext(event),
                     {.name = Intern(details.name),
                      .category = PerfettoCategory::kAlloc,
                      .annotations = annotations});
}

void PerfettoExporter::Impl::Learn(Goroutine& goroutine, const Stack& stack) {
  if (goroutine.name != StringId::kEmpty || stack.none()) return;
  goroutine.name = interner_.RootFunctionId(interner_.InternStack(stack));
}

PerfettoTrack PerfettoExporter::Impl::TrackOf(Goroutine& goroutine) {
  if (!goroutine.is_declared && is_in_window_) {
    goroutine.is_declared = true;
    // Otherwise scheduling events name it, at less cost.
    const bool names = goroutine.is_old || !WritesScheduling();
    goroutine.is_named |= names && goroutine.name != StringId::kEmpty;
    tracks_.DeclareGoroutine(goroutine.id,
                             names ? interner_.String(goroutine.name) : absl::string_view());
  }
  return PerfettoTrack::Of(goroutine.id);
}

PerfettoTrack PerfettoExporter::Impl::TrackOf(GoId id) {
  Goroutine* const goroutine = goroutines_.Find(id);
  return goroutine == nullptr ? PerfettoTrack::Gc() : TrackOf(*goroutine);
}

void PerfettoExporter::Impl::DeclareProc(ProcId id) {
  if (!selection_.Selects(EventKind::kRangeBegin)) return;
  tracks_.DeclareTrack(PerfettoTrack::Of(id), absl::StrCat("P", id.value),
                       PerfettoTrack::Process());
}

PerfettoTrack PerfettoExporter::Impl::TrackOfContext(const Event& event) {
  return TrackOf(event.goroutine());
}

void PerfettoExporter::Impl::PushSlice(int64_t time, Goroutine& goroutine, Slice slice,
                                       const Event& event) {
  slice.is_selected = SelectsEvent(event) && selection_.Selects(goroutine.id);
  slice.is_written = slice.is_selected && is_in_window_;
  if (slice.is_written) WriteSlice(time, TrackOf(goroutine), slice);
  goroutine.slices.Push(slice);
}

void PerfettoExporter::Impl::PushSlice(int64_t time, PerfettoTrack track, Slice slice,
                                       const Event& event, Slices* slices) {
  slice.is_selected = SelectsEvent(event);
  slice.is_written = slice.is_selected && is_in_window_;
  if (slice.is_written) WriteSlice(time, track, slice);
  slices->Push(slice);
}

void PerfettoExporter::Impl::WriteSlice(int64_t time, PerfettoTrack track, const Slice& slice) {
  const PerfettoAnnotation task = {.name = task_name_, .number = slice.task.value};
  const bool has_task = slice.task != TaskId::kNone && slice.task != kBackgroundTask;
  tracks_.BeginSlice(time, track,
                     {.name = slice.name,
                      .category = slice.category,
                      .stack = slice.stack,
                      .annotations = {&task, has_task ? size_t{1} : 0}});
}

void PerfettoExporter::Impl::PopSlice(int64_t time, PerfettoTrack track,
                                      const SliceTraits::Key& key, const PerfettoDetails& details,
                                      Slices* slices) {
  const size_t place = slices->FindLast(key);
  if (place != Slices::kNone) PopSlices(time, track, place, details, slices);
}

void PerfettoExporter::Impl::PopSlices(int64_t time, PerfettoTrack track, size_t count,
                                       const PerfettoDetails& details, Slices* slices) {
  while (slices->size() > count) {
    const bool is_last = slices->size() == count + 1;
    if (slices->back().is_written) {
      tracks_.EndSlice(time, track, is_last ? details : PerfettoDetails());
    }
    slices->Pop();
  }
}

void PerfettoExporter::Impl::AddThread(const ThreadInterval& interval) {
  if (!has_begun_) return;
  const auto part = internal::ShownPart(interval, selection_, options_.filter.times.from,
                                        options_.filter.times.to);
  if (!part.has_value()) return;
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
    const Goroutine* const goroutine = goroutines_.Find(interval.goroutine);
    name = goroutine == nullptr ? goroutine_ : NameOf(*goroutine);
  }
  tracks_.BeginSlice(
      part->first, track,
      {.name = name, .category = PerfettoCategory::kThread, .annotations = annotations});
  tracks_.EndSlice(part->second, track);
}

absl::Status PerfettoExporter::Impl::Finish() {
  if (threads_ != nullptr) threads_->Finish().IgnoreError();
  if (!has_begun_) BeginFile(last_time_);
  // Shows how long the last states lasted.
  const int64_t end = is_past_ ? options_.filter.times.to : last_time_;
  state_counters_.Finish(end);
  for (const Goroutine* const goroutine : goroutines_.Sorted()) {
    const bool has_state =
        goroutine->state != GoState::kRunning ||
        (goroutine->proc != ProcId::kNone && selection_.Selects(goroutine->proc));
    if (WritesStates(*goroutine) && WritesScheduling() && goroutine->is_selected && has_state &&
        goroutine->since < end) {
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
