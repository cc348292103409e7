#include "export/program_view.h"

#include <utility>

#include "parser/event/event_access.h"
#include "parser/event/event_writer.h"
#include "parser/event/trace_clock.h"

namespace gotrace::internal {
namespace {

bool IsStatus(const Event& event) {
  return RuleOf(event.type()).subject == Subject::kStatedGoroutine;
}

// Whether slices are open other than that of the state of a goroutine.
bool HasMoreThanState(OpenSlices& slices) {
  if (slices.empty()) return false;
  const ViewSlice::Kind first = slices.begin()->key.kind;
  const bool is_state = first == ViewSlice::Kind::kWait || first == ViewSlice::Kind::kSyscall;
  return slices.size() > (is_state ? 1u : 0u);
}

}  // namespace

ProgramView::ProgramView(Options options, Interner* interner, Delegate* delegate)
    : options_(std::move(options)),
      interner_(*interner),
      delegate_(*delegate),
      state_counters_([this](int64_t time, size_t counter, uint64_t value) {
        delegate_.SetStateCounter(time, counter, value);
      }) {
  EventFilter::Times& times = options_.filter.times;
  if (times.HasFirst()) times.from = TraceClock::Add(times.from, options_.time_offset);
  if (times.to != EventFilter::Times().to) {
    times.to = TraceClock::Add(times.to, options_.time_offset);
  }
  if (options_.intervals != Intervals::kNone) {
    tracker_ = std::make_unique<StateTracker>(interner, static_cast<IntervalConsumer*>(this));
  }
}

void ProgramView::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (options_.time_offset == 0) {
      AddEvent(event);
    } else {
      Event shifted = event;
      EventWriter(&shifted).Time(TraceClock::Add(event.time(), options_.time_offset));
      AddEvent(shifted);
    }
  }
}

void ProgramView::AddEvent(const Event& event) {
  const absl::Span<const Event> one = absl::MakeConstSpan(&event, 1);
  if (options_.intervals == Intervals::kBeforeEvent) tracker_->Add(one);
  if (!std::exchange(has_events_, true)) {
    options_.filter = options_.filter.WithAbsoluteTimes(options_.start.value_or(event.time()));
    from_ = std::max(event.time(), options_.filter.times.from);
    last_time_ = event.time();
  }
  // Later events may be in the window again, since times may go back in a damaged trace.
  const bool is_past = event.time() > to();
  if (event.kind() == EventKind::kSync && !is_past) {
    generation_begin_ = event.time();
    state_counters_.BeginGeneration();
  }
  if (!is_in_window_ && event.time() >= from_) {
    is_in_window_ = true;
    for (ViewGoroutine* const goroutine : goroutines_.Sorted()) goroutine->since = from_;
    state_counters_.Begin(from_);
    delegate_.BeginWindow(from_);
  }
  if (is_past) {
    was_past_ = true;
    is_over_ |= event.kind() == EventKind::kSync;
    if (!is_over_) TakeAfterWindow(event);
  } else {
    is_over_ = false;
    last_time_ = std::max(last_time_, event.time());
    Take(event);
  }
  if (options_.intervals == Intervals::kAfterEvent) tracker_->Add(one);
}

void ProgramView::Take(const Event& event) {
  switch (event.kind()) {
    case EventKind::kStateTransition:
      return TakeTransition(event);
    case EventKind::kMetric:
      TakeMetric(event);
      break;
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
    case EventKind::kSync:
    case EventKind::kLog:
    case EventKind::kLabel:
    case EventKind::kStackSample:
    case EventKind::kExperimental:
      break;
    case EventKind::kNone:
      return;
  }
  if (is_in_window_) delegate_.TakeEvent(event);
}

void ProgramView::TakeAfterWindow(const Event& event) {
  const bool is_of_proc = event.kind() == EventKind::kStateTransition &&
                          event.transition_resource().kind == ResourceKind::kProc;
  if (is_of_proc) {
    TakeProcTransition(event, /*is_late=*/true);
  } else if (IsStatus(event)) {
    const GoId id{event.transition_resource().id};
    const GoState state = static_cast<GoState>(event.transition_to());
    if (state != GoState::kUndetermined && FindKnown(id) == nullptr) AddOld(id, state, event);
  } else if (event.kind() == EventKind::kRangeActive) {
    TakeRange(event);
  }
  delegate_.TakeLateEvent(event);
}

void ProgramView::Finish() {
  if (tracker_ != nullptr) tracker_->Finish().IgnoreError();
  if (is_in_window_) state_counters_.Finish(end());
}

// Goroutines and Ps.

void ProgramView::TakeTransition(const Event& event) {
  state_counters_.Advance(event.time());
  const ResourceId resource = event.transition_resource();
  if (resource.kind != ResourceKind::kGoroutine) {
    return TakeProcTransition(event, /*is_late=*/false);
  }
  const GoState from = static_cast<GoState>(event.transition_from());
  const GoState to = static_cast<GoState>(event.transition_to());
  if (to == GoState::kUndetermined) return;
  const bool is_status = IsStatus(event);
  ViewGoroutine* goroutine = FindKnown(GoId{resource.id});
  if (from == GoState::kNotExist && !is_status) {
    if (goroutine != nullptr) End(*goroutine, event);
    return Create(event);
  }
  if (goroutine == nullptr) {
    goroutine = &AddOld(GoId{resource.id}, is_status ? to : from, event);
    if (is_status) return;
  }
  Learn(*goroutine, event.transition_stack());
  if (to == GoState::kNotExist) return End(*goroutine, event);
  if (!is_status || goroutine->state != to) Change(*goroutine, to, event);
}

void ProgramView::TakeProcTransition(const Event& event, bool is_late) {
  const ProcId id{event.transition_resource().id};
  const ProcState state = static_cast<ProcState>(event.transition_to());
  if (state == ProcState::kRunning) {
    proc_of_thread_[event.thread()] = id;
  } else if (const auto had = proc_of_thread_.find(event.thread());
             had != proc_of_thread_.end() && had->second == id) {
    proc_of_thread_.erase(had);
  }
  if (is_late && event.type() != EventType::kProcStatus) return;
  const auto [it, is_new] = proc_states_.try_emplace(id, ProcState::kUndetermined);
  if (is_late && !is_new) return;
  state_counters_.Count(it->second, state, is_new && event.type() == EventType::kProcStatus);
  it->second = state;
}

ViewGoroutine& ProgramView::Get(GoId id) {
  if (ViewGoroutine* const goroutine = goroutines_.Find(id)) return *goroutine;
  ViewGoroutine& goroutine = *goroutines_.Insert(id);
  goroutine.track.scope = {ResourceKind::kGoroutine, id.value};
  goroutine.track.goroutine = &goroutine;
  return goroutine;
}

ViewGoroutine& ProgramView::AddOld(GoId id, GoState state, const Event& event) {
  ViewGoroutine& goroutine = Get(id);
  goroutine.is_old = true;
  Learn(goroutine, event.transition_stack());
  state_counters_.Count(GoState::kUndetermined, state, IsStatus(event));
  SetState(goroutine, state, since_status(), event);
  if (state == GoState::kRunning) {
    const auto it = proc_of_thread_.find(event.thread());
    if (it != proc_of_thread_.end()) goroutine.proc = it->second;
  }
  delegate_.AddGoroutine(goroutine, event);
  return goroutine;
}

void ProgramView::Create(const Event& event) {
  ViewGoroutine& goroutine = Get(GoId{event.transition_resource().id});
  const GoState state = static_cast<GoState>(event.transition_to());
  Learn(goroutine, event.transition_stack());
  state_counters_.Count(GoState::kNotExist, state, /*is_late=*/false);
  SetState(goroutine, state, event.time(), event);
  delegate_.CreateGoroutine(goroutine, event);
}

void ProgramView::Change(ViewGoroutine& goroutine, GoState state, const Event& event) {
  const StringId reason = interner_.InternString(event, EventAccess::ReasonId(event));
  delegate_.ChangeState(goroutine, state, reason, event);
  state_counters_.Count(goroutine.state, state, /*is_late=*/false);
  goroutine.proc = state == GoState::kRunning ? event.proc() : ProcId::kNone;
  SetState(goroutine, state, event.time(), event);
}

void ProgramView::End(ViewGoroutine& goroutine, const Event& event) {
  delegate_.EndGoroutine(goroutine, event);
  // Nothing can end what is still open when the goroutine does.
  EndSlices(goroutine.track, event.time());
  state_counters_.Count(goroutine.state, GoState::kNotExist, /*is_late=*/false);
  goroutines_.Erase(&goroutine);
}

void ProgramView::SetState(ViewGoroutine& goroutine, GoState state, int64_t time,
                           const Event& event) {
  goroutine.state = state;
  goroutine.since = time;
  goroutine.is_selected = Selects(event);
}

void ProgramView::Learn(ViewGoroutine& goroutine, const Stack& stack) {
  if (goroutine.name != StringId::kEmpty || stack.none()) return;
  goroutine.name = interner_.RootFunctionId(interner_.InternStack(stack));
}

void ProgramView::AddThread(const ThreadInterval& interval) {
  if (!is_in_window_ || interval.state == ThreadState::kIdle ||
      !selection_.Selects(EventKind::kStateTransition) || !selection_.Selects(interval.thread) ||
      !selection_.Selects(interval.goroutine) || !selection_.Selects(interval.proc)) {
    return;
  }
  const int64_t begin = std::max(interval.begin, from_);
  const int64_t end = std::min(interval.end, to());
  if (begin < end) delegate_.AddThread(interval, begin, end);
}

// Slices and tasks.

ViewTrack& ProgramView::TrackOf(const ResourceId& scope) {
  if (scope.kind == ResourceKind::kGoroutine && scope.id != GoId::kNone.value) {
    ViewGoroutine& goroutine = Get(GoId{scope.id});
    // Without a status, it is older than the events.
    goroutine.is_old |= goroutine.state == GoState::kUndetermined;
    return goroutine.track;
  }
  if (scope.kind != ResourceKind::kProc) return program_;
  const ProcId id{scope.id};
  const auto [it, is_new] = procs_.try_emplace(id);
  it->second.scope = scope;
  if (is_new && is_in_window_) delegate_.AddProc(id);
  return it->second;
}

bool ProgramView::SelectsSlicesOf(const ResourceId& scope) const {
  switch (scope.kind) {
    case ResourceKind::kGoroutine:
      return selection_.Selects(GoId{scope.id});
    case ResourceKind::kProc:
      return selection_.Selects(ProcId{scope.id});
    case ResourceKind::kThread:
    case ResourceKind::kNone:
      return true;
  }
  return true;
}

void ProgramView::TakeRange(const Event& event) {
  const RangeParts parts = event.range_parts();
  const StringId name = interner_.InternRange(parts);
  ViewTrack& track = TrackOf(parts.scope);
  const ViewSlice::Key key = {.kind = ViewSlice::Kind::kRange, .name = name};
  const OpenSlices::Iterator open = track.slices.FindLast(key);
  if (event.kind() == EventKind::kRangeEnd) {
    std::vector<ViewEnd::Attribute> attributes;
    for (const RangeAttribute& attribute : event.range_attributes()) {
      attributes.push_back({interner_.InternString(attribute.name), attribute.value});
    }
    if (open == track.slices.end()) return;
    return EndSlice(track, open, {event.time(), event.stack(), attributes});
  }
  int64_t time = event.time();
  if (event.kind() == EventKind::kRangeActive) {
    // Each generation states again what is active. What is stated after the window cannot enclose
    // what is open, except for the state of the goroutine, which is stated with it.
    const bool is_late = event.time() > to();
    if (open != track.slices.end() || (is_late && HasMoreThanState(track.slices))) return;
    time = since_status();
  }
  BeginSlice(track, {.key = key, .name = name, .stack = StackOf(event.stack())}, time, event);
}

ViewSlice ProgramView::RegionOf(const Event& event) {
  const Region region = event.region();
  const StringId name = interner_.InternString(region.type);
  const ViewTask* const task = region.task == kBackgroundTask ? nullptr : Find(region.task);
  return {.key = delegate_.KeyOf(region, name),
          .name = name,
          .task = region.task,
          .task_type = task == nullptr ? StringId::kEmpty : task->type};
}

void ProgramView::TakeRegion(const Event& event) {
  ViewTrack& track = TrackOf({ResourceKind::kGoroutine, event.goroutine().value});
  ViewSlice region = RegionOf(event);
  if (event.kind() == EventKind::kRegionBegin) {
    region.stack = StackOf(event.stack());
    return BeginSlice(track, region, event.time(), event);
  }
  const OpenSlices::Iterator open = track.slices.FindLast(region.key);
  if (open != track.slices.end()) return EndSlice(track, open, {event.time(), event.stack()});
  if (Wants(event)) delegate_.EndUnknownRegion(track, event);
}

void ProgramView::BeginSlice(ViewTrack& track, ViewSlice slice, int64_t time, const Event& event) {
  slice.is_selected = Selects(event) && SelectsSlicesOf(track.scope);
  ViewSlice& open = track.slices.Push(slice);
  if (slice.is_selected && is_in_window_) Show(track, open, time, &event);
}

void ProgramView::EndSlice(ViewTrack& track, const ViewSlice::Key& key, const ViewEnd& end) {
  const OpenSlices::Iterator open = track.slices.FindLast(key);
  if (open != track.slices.end()) EndSlice(track, open, end);
}

void ProgramView::EndSlices(ViewTrack& track, int64_t time) {
  OpenSlices& slices = track.slices;
  while (!slices.empty()) Remove(track, std::prev(slices.end()), {time});
}

void ProgramView::EndSlice(ViewTrack& track, OpenSlices::Iterator slice, const ViewEnd& end) {
  if (options_.ends_inside) {
    for (OpenSlices::Iterator last; (last = std::prev(track.slices.end())) != slice;) {
      Remove(track, last, {end.time, end.stack});
    }
  }
  Remove(track, slice, end);
}

void ProgramView::Remove(ViewTrack& track, OpenSlices::Iterator slice, const ViewEnd& end) {
  if (slice->depth != ViewSlice::kNotShown) {
    const std::vector<ViewSlice*> inside = track.slices.Hide(&*slice);
    delegate_.EndSlice(track, *slice, inside, end);
  }
  track.slices.Remove(slice);
}

void ProgramView::ShowSlices(ViewTrack& track, int64_t time) {
  for (ViewSlice& slice : track.slices) {
    const bool is_shown = slice.depth != ViewSlice::kNotShown;
    if (slice.is_selected && !is_shown) Show(track, slice, time, /*event=*/nullptr);
  }
}

void ProgramView::Show(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event) {
  slice.begin = time;
  track.slices.Show(&slice);
  delegate_.BeginSlice(track, slice, time, event);
}

void ProgramView::TakeTask(const Event& event) {
  const Task task = event.task();
  if (event.kind() == EventKind::kTaskBegin) {
    ViewTask& begun = tasks_[task.id];
    if (begun.is_shown) delegate_.ReplaceTask(begun, event);
    begun = {.id = task.id,
             .parent = task.parent,
             .type = interner_.InternString(task.type),
             .stack = StackOf(event.stack()),
             .goroutine = event.goroutine(),
             .is_selected = Selects(event)};
    if (begun.is_selected && is_in_window_) Show(begun, event.time(), &event);
    return;
  }
  const auto found = tasks_.find(task.id);
  if (found == tasks_.end()) {
    if (is_in_window_) delegate_.EndUnknownTask(event);
    return;
  }
  delegate_.EndTask(found->second, event);
  tasks_.erase(found);
}

void ProgramView::ShowTasks(int64_t time) {
  for (auto& [id, task] : tasks_) {
    if (task.is_selected) Show(task, time, /*event=*/nullptr);
  }
}

void ProgramView::Show(ViewTask& task, int64_t time, const Event* event) {
  task.begin = time;
  delegate_.BeginTask(task, time, event);
  task.is_shown = true;
}

// Counters.

void ProgramView::TakeMetric(const Event& event) {
  if (!options_.keeps_all_metrics && !Selects(event)) return;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    if (kMetricCounters[i].type != event.type()) continue;
    metrics_[i] = event.metric().value;
    if (Wants(event)) delegate_.SetMetric(event.time(), i, *metrics_[i]);
  }
}

void ProgramView::ShowMetrics(int64_t time) {
  for (size_t i = 0; i < metrics_.size(); ++i) {
    if (metrics_[i].has_value()) delegate_.SetMetric(time, i, *metrics_[i]);
  }
}

}  // namespace gotrace::internal
