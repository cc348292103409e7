// Events are added to a StateTracker one by one. So when it passes on an interval, the current
// event is the one that ends it, and has the next state. When a region begins or ends, all
// intervals up to then are known, and the goroutine has been running since the last one.
#include "analysis/tables/state_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "analysis/core/time_sums.h"
#include "analysis/gc/proc_limits.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/tables/row_values.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {
namespace {

int64_t FlagsOf(const Interval& interval) {
  return (interval.begin_clipped ? kBeginMissing : 0) + (interval.end_clipped ? kEndMissing : 0);
}

// Sets the columns that all tables of intervals have.
template <class Row>
void FillInterval(const Interval& interval, Row* row) {
  row->end_ns = interval.end;
  row->dur_ns = static_cast<int64_t>(interval.duration());
  row->flags = FlagsOf(interval);
}

template <class Enum>
StringId NameOf(const std::vector<StringId>& names, Enum value) {
  return names[static_cast<size_t>(value)];
}

}  // namespace

void StateTimes::Add(GoState state, int64_t time, int64_t stopped) {
  switch (state) {
    case GoState::kRunning:
      AddTime(stopped, &stopped_running);
      return AddTime(time, &running);
    case GoState::kRunnable:
      AddTime(stopped, &stopped_runnable);
      return AddTime(time, &runnable);
    case GoState::kWaiting:
      return AddTime(time, &waiting);
    case GoState::kSyscall:
      return AddTime(time, &syscall);
    default:
      return;
  }
}

void StateTimes::Add(const StateTimes& other) {
  AddTime(other.running, &running);
  AddTime(other.runnable, &runnable);
  AddTime(other.waiting, &waiting);
  AddTime(other.syscall, &syscall);
  AddTime(other.stopped_running, &stopped_running);
  AddTime(other.stopped_runnable, &stopped_runnable);
}

StateTimes StateTimes::Since(const StateTimes& before) const {
  return {Between(before.running, running),
          Between(before.runnable, runnable),
          Between(before.waiting, waiting),
          Between(before.syscall, syscall),
          Between(before.stopped_running, stopped_running),
          Between(before.stopped_runnable, stopped_runnable)};
}

StateRows::StateRows(Interner* interner, StackRows* stacks, TableOutput* output)
    : interner_(*interner),
      stacks_(*stacks),
      output_(*output),
      has_tasks_(output->Has(TableId::kTasks) || output->Has(TableId::kTaskHist)),
      has_regions_(has_tasks_ || output->Has(TableId::kRegions) ||
                   output->Has(TableId::kRegionHist)),
      has_goroutines_(has_regions_ || output->Has(TableId::kGoroutines)),
      is_needed_(has_goroutines_ || output->Has(TableId::kGStates) ||
                 output->Has(TableId::kPStates) || output->Has(TableId::kMStates) ||
                 output->Has(TableId::kStateHist)),
      tracker_(interner, this),
      states_(interner, ""),
      tasks_(interner) {
  const auto add_names = [&](auto end, auto name_of, std::vector<StringId>* names) {
    for (int i = 0; i < end; ++i) {
      names->push_back(interner_.InternString(name_of(i)));
    }
  };
  add_names(
      6, [](int i) { return GoStateName(static_cast<GoState>(i)); }, &go_states_);
  add_names(
      4, [](int i) { return ProcStateName(static_cast<ProcState>(i)); }, &proc_states_);
  add_names(
      4, [](int i) { return ThreadStateName(static_cast<ThreadState>(i)); }, &thread_states_);
  add_names(
      8, [](int i) { return CauseKindName(static_cast<CauseKind>(i)); }, &causes_);
}

void StateRows::Add(const Event& event) {
  if (!begin_.has_value()) begin_ = event.time();
  event_ = &event;
  if (output_.Has(TableId::kStateHist)) states_.AddEvents(absl::MakeConstSpan(&event, 1));
  tracker_.Add(absl::MakeConstSpan(&event, 1));
  if (output_.Has(TableId::kPStates)) {
    if (event.type() == EventType::kProcsChange && event.kind() == EventKind::kMetric) {
      SetProcLimit(event.metric().value, event.time());
    }
    TrackIdleProc(event);
  }
  if (!has_regions_) return;
  TrackStop(event);
  switch (event.kind()) {
    case EventKind::kRegionBegin:
      return BeginRegion(event);
    case EventKind::kRegionEnd:
      return EndRegion(event);
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      if (has_tasks_) tasks_.AddTask(event);
      return;
    case EventKind::kLog:
      if (has_tasks_) tasks_.AddLog(event);
      return;
    default:
      return;
  }
}

// As the StateTracker does.
void StateRows::TrackStop(const Event& event) {
  const bool begins = event.type() == EventType::kSTWBegin;
  if (!begins && event.type() != EventType::kSTWEnd && event.kind() != EventKind::kSync) return;
  if (stopper_ != GoId::kNone) {
    Goroutine& goroutine = Of(stopper_);
    const int64_t time = Between(std::max(stop_begin_, goroutine.since), event.time());
    AddTime(std::max<int64_t>(time, 0), &goroutine.stopped);
  }
  stopper_ = begins ? event.goroutine() : GoId::kNone;
  stop_begin_ = event.time();
}

StateRows::Goroutine& StateRows::Of(GoId id) {
  Goroutine* goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) {
    goroutine = goroutines_.Insert(id);
    goroutine->since = *begin_;
  }
  return *goroutine;
}

void StateRows::AddGoroutine(const GoInterval& interval) {
  if (output_.Has(TableId::kGStates)) AddGStatesRow(interval);
  if (output_.Has(TableId::kStateHist)) CountState(interval);
  if (!has_goroutines_) return;

  if (interval.starts_life) EndUnseen(interval.goroutine);
  Goroutine& goroutine = Of(interval.goroutine);
  GoroutinesRow& row = goroutine.row;
  if (!goroutine.is_seen) {
    goroutine.is_seen = true;
    if (interval.starts_life) {
      row.begin_ns = interval.begin;
      row.creator_g = IdOrNull(interval.begun_by.goroutine);
      row.creator_stack_id = stacks_.IdOf(interval.begun_by.stack);
    }
  }
  if (!row.name.has_value()) row.name = NameOrNull(interner_.RootFunctionId(interval.stack));
  const int64_t duration = static_cast<int64_t>(interval.duration());
  goroutine.times.Add(interval.state, duration, interval.StoppedSince(interval.begin));
  goroutine.since = interval.end;
  goroutine.stopped = 0;
  ++row.transitions;
  if (interval.state == GoState::kRunnable) {
    row.max_runnable_ns = std::max(row.max_runnable_ns, duration);
  }
  row.last_state = NameOf(go_states_, interval.state);
  row.last_reason = NameOrNull(interval.reason);
  goroutine.last_stack = interval.stack;
  row.last_state_ns = duration;
  if (!interval.ends_life) return;
  row.end_ns = interval.end;
  CloseRegions(interval.end, /*flags=*/0, &goroutine);
  AddGoroutinesRow(goroutine);
  goroutines_.Erase(&goroutine);
}

void StateRows::EndUnseen(GoId id) {
  Goroutine* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || !goroutine->is_seen) return;
  CloseRegions(goroutine->since, kEndMissing, goroutine);
  AddGoroutinesRow(*goroutine);
  goroutines_.Erase(goroutine);
}

void StateRows::AddGStatesRow(const GoInterval& interval) {
  GStatesRow row;
  FillInterval(interval, &row);
  row.g = interval.goroutine.value;
  row.state = NameOf(go_states_, interval.state);
  row.reason = NameOrNull(interval.reason);
  row.stack_id = stacks_.IdOf(interval.stack);
  row.p = IdOrNull(interval.proc);
  row.m = IdOrNull(interval.thread);
  if (!interval.end_clipped && event_ != nullptr &&
      event_->transition_resource() ==
          ResourceId{ResourceKind::kGoroutine, interval.goroutine.value}) {
    row.next_state = NameOf(go_states_, event_->transition_to());
  }
  row.waker_g = IdOrNull(interval.ended_by.goroutine);
  row.waker_stack_id = stacks_.IdOf(interval.ended_by.stack);
  row.ended_by = NameOf(causes_, interval.ended_by.kind);
  int64_t longest = 0;
  interval.ForEachStop([&](int64_t begin, int64_t end, const StopSpan& stop) {
    const int64_t time = Between(begin, end);
    AddTime(time, &row.stopped_ns);
    if (time <= longest) return;
    longest = time;
    row.stop_reason = NameOrNull(stop.reason);
  });
  output_.Add(row);
}

void StateRows::SetProcLimit(uint64_t limit, int64_t time) {
  // The first value in the trace applies from its beginning.
  int64_t since = proc_limits_.empty() ? *begin_ : time;
  if (!proc_limits_.empty() && limit < proc_limits_.back().procs) {
    AddGoneProcs(limit, proc_limits_.back().procs, time);
  }
  while (!proc_limits_.empty() && proc_limits_.back().procs >= limit) {
    since = proc_limits_.back().since;
    proc_limits_.pop_back();
  }
  proc_limits_.push_back({since, limit});
}

void StateRows::AddGoneProcs(uint64_t first, uint64_t end, int64_t time) {
  const auto id_of = [](uint64_t number) {
    return ProcId{
        static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int64_t>::max()))};
  };
  for (uint64_t p = first; p < std::min(end, kMaxUnnamedProcs); ++p) procs_.try_emplace(id_of(p));
  for (auto it = procs_.lower_bound(id_of(first)); it != procs_.lower_bound(id_of(end)); ++it) {
    auto& [id, proc] = *it;
    if (proc.is_running || proc.cuts == kMaxProcCuts) continue;
    ++proc.cuts;
    const int64_t begin = std::max(proc.idle_since.value_or(*begin_), *ExistsSince(id));
    if (begin >= time) continue;
    PStatesRow row;
    row.p = id.value;
    row.state = NameOf(proc_states_, ProcState::kIdle);
    row.end_ns = time;
    row.dur_ns = Between(begin, time);
    row.flags = begin == *begin_ && !proc.idle_since.has_value() ? kBeginMissing : 0;
    output_.Add(row);
  }
}

std::optional<int64_t> StateRows::ExistsSince(ProcId proc) const {
  if (proc_limits_.empty()) return *begin_;  // It is not known.
  const auto limit =
      absl::c_upper_bound(proc_limits_, static_cast<uint64_t>(proc.value),
                          [](uint64_t id, const ProcLimit& one) { return id < one.procs; });
  if (limit == proc_limits_.end()) return std::nullopt;
  return limit->since;
}

void StateRows::TrackIdleProc(const Event& event) {
  if (event.kind() != EventKind::kStateTransition) return;
  const ResourceId resource = event.transition_resource();
  if (resource.kind != ResourceKind::kProc) return;
  ProcNow& proc = procs_[ProcId{resource.id}];
  const bool was_running = std::exchange(
      proc.is_running, event.transition_to() != static_cast<uint8_t>(ProcState::kIdle));
  // The first status of a P holds from the beginning.
  const bool is_status = event.transition_from() == static_cast<uint8_t>(ProcState::kUndetermined);
  const bool is_new = event.transition_from() == static_cast<uint8_t>(ProcState::kNotExist);
  if (!proc.is_running && !is_status && (was_running || is_new)) proc.idle_since = event.time();
}

void StateRows::AddProc(const ProcInterval& interval) {
  PStatesRow row;
  FillInterval(interval, &row);
  if (interval.state == ProcState::kIdle) {
    const std::optional<int64_t> since = ExistsSince(interval.proc);
    if (!since.has_value() || *since >= interval.end) return;
    if (*since > interval.begin) {
      row.dur_ns = Between(*since, interval.end);
      row.flags &= ~kBeginMissing;
    }
  }
  row.p = interval.proc.value;
  row.state = NameOf(proc_states_, interval.state);
  row.m = IdOrNull(interval.thread);
  row.stolen = interval.stolen;
  output_.Add(row);
}

void StateRows::AddThread(const ThreadInterval& interval) {
  MStatesRow row;
  FillInterval(interval, &row);
  row.m = interval.thread.value;
  row.state = NameOf(thread_states_, interval.state);
  row.p = IdOrNull(interval.proc);
  row.g = IdOrNull(interval.goroutine);
  output_.Add(row);
}

void StateRows::AddGoroutinesRow(const Goroutine& goroutine) {
  GoroutinesRow row = goroutine.row;
  row.g = goroutine.id.value;
  const absl::string_view name = interner_.String(row.name.value_or(StringId::kEmpty));
  row.is_system = name != "runtime.main" && IsOfRuntime(name);
  row.last_stack_id = stacks_.IdOf(goroutine.last_stack);
  goroutine.times.FillRow(&row);
  output_.Add(row);
}

void StateRows::CountState(const GoInterval& interval) {
  auto& entry = states_.Begin(interval);
  HistogramTraits::Key key;
  key.state = interval.state;
  if (interval.state == GoState::kWaiting) key.reason = interval.reason;
  const uint64_t seen = interval.Seen().duration();
  key.bucket = Histogram::BucketOf(seen);
  states_.Add(key, seen, &entry);
  states_.End(interval, entry);
}

StateTimes StateRows::TimesNow(const Goroutine& goroutine, int64_t now) {
  StateTimes times = goroutine.times;
  times.Add(GoState::kRunning, Between(goroutine.since, now), goroutine.stopped);
  return times;
}

void StateRows::BeginRegion(const Event& event) {
  Goroutine& goroutine = Of(event.goroutine());
  Regions::Region& region = goroutine.regions.Begin(event, &interner_);
  region.data = {TimesNow(goroutine, event.time()), stacks_.IdOf(event.stack())};
  if (has_tasks_) tasks_.Mention(region.task);
}

void StateRows::EndRegion(const Event& event) {
  Goroutine& goroutine = Of(event.goroutine());
  const Regions::Region region = goroutine.regions.End(event, &interner_);
  if (has_tasks_) tasks_.Mention(region.task);
  AddRegionsRow(region, goroutine, TimesNow(goroutine, event.time()), /*flags=*/0,
                stacks_.IdOf(event.stack()));
}

void StateRows::CloseRegions(int64_t end, int64_t flags, Goroutine* goroutine) {
  goroutine->regions.EndAll(end, [&](Regions::Region region) {
    // Where events are missing, a region may begin later than the last known time of its goroutine.
    region.end = std::max(end, *region.begin);
    AddRegionsRow(region, *goroutine,
                  TimesNow(*goroutine, std::max(goroutine->since, *region.begin)), flags);
  });
}

void StateRows::AddRegionsRow(const Regions::Region& region, const Goroutine& goroutine,
                              const StateTimes& times, int64_t flags,
                              std::optional<int64_t> end_stack_id) {
  const StateTimes spent = times.Since(region.data.times);
  if (has_tasks_ && region.is_outermost_of_task) task_times_[region.task].Add(spent);
  RegionsRow row;
  row.end_ns = *region.end;
  row.dur_ns = Between(region.begin.value_or(goroutine.row.begin_ns.value_or(*begin_)), row.end_ns);
  row.task = TaskOrNull(region.task);
  row.type = region.type;
  row.g = IdOrNull(region.goroutine);
  row.depth = static_cast<int64_t>(region.depth);
  row.begin_stack_id = region.data.stack_id;
  row.end_stack_id = end_stack_id;
  row.flags = flags + (region.begin.has_value() ? 0 : kBeginMissing);
  spent.FillRow(&row);
  if (row.flags == 0 && output_.Has(TableId::kRegionHist)) {
    region_histogram_.Add(row.type, StringId::kEmpty, static_cast<uint64_t>(row.dur_ns));
  }
  output_.Add(row);
}

void StateRows::AddTasksRows(int64_t end) {
  std::vector<TaskRecord> tasks = tasks_.Take();
  absl::c_stable_sort(tasks, [&](const TaskRecord& a, const TaskRecord& b) {
    return a.end.value_or(end) < b.end.value_or(end);
  });
  for (const TaskRecord& task : tasks) {
    // What belongs to no task belongs to the background task.
    if (task.task == kBackgroundTask) continue;
    TasksRow row;
    row.end_ns = task.end.value_or(end);
    row.dur_ns = Between(task.begin.value_or(*begin_), row.end_ns);
    row.task = task.task.value;
    row.parent = TaskOrNull(task.parent);
    row.type = NameOrNull(task.type);
    row.begin_g = IdOrNull(task.begin_goroutine);
    row.end_g = IdOrNull(task.end_goroutine);
    row.begin_stack_id = stacks_.IdOf(task.begin_stack);
    row.end_stack_id = stacks_.IdOf(task.end_stack);
    if (!task.begin.has_value()) row.flags |= kBeginMissing;
    if (!task.end.has_value()) row.flags |= kEndMissing;
    task_times_[task.task].FillRow(&row);
    if (row.flags == 0) {
      task_histogram_.Add(task.type, StringId::kEmpty, static_cast<uint64_t>(row.dur_ns));
    }
    output_.Add(row);
  }
}

void StateRows::Finish(int64_t end) {
  if (!is_needed_) return;
  event_ = nullptr;
  tracker_.Finish().IgnoreError();  // It returns OK.
  for (Goroutine* goroutine : goroutines_.Sorted()) {
    if (!begin_.has_value()) break;
    CloseRegions(std::max(end, goroutine->since), kEndMissing, goroutine);
    if (goroutine->is_seen) AddGoroutinesRow(*goroutine);
  }
  if (has_tasks_ && begin_.has_value()) AddTasksRows(end);
  AddHistograms();
}

void StateRows::AddHistograms() {
  states_.Finish();
  using Key = HistogramTraits::Key;
  std::vector<std::pair<Key, BucketSums>> states(states_.sums().begin(), states_.sums().end());
  absl::c_sort(states, [&](const auto& a, const auto& b) {
    const auto order = [&](const Key& key) {
      return std::tuple(GoStateName(key.state), interner_.String(key.reason),
                        interner_.String(key.start), key.bucket);
    };
    return order(a.first) < order(b.first);
  });
  for (const auto& [key, sums] : states) {
    StateHistRow row;
    row.state = NameOf(go_states_, key.state);
    row.reason = NameOrNull(key.reason);
    row.name = NameOrNull(key.start);
    sums.FillRow(key.bucket, &row);
    output_.Add(row);
  }
  task_histogram_.ForEachSorted(interner_,
                                [&](StringId type, StringId, int bucket, const BucketSums& sums) {
                                  TaskHistRow row;
                                  row.type = NameOrNull(type);
                                  sums.FillRow(bucket, &row);
                                  output_.Add(row);
                                });
  region_histogram_.ForEachSorted(interner_,
                                  [&](StringId type, StringId, int bucket, const BucketSums& sums) {
                                    RegionHistRow row;
                                    row.type = NameOrNull(type);
                                    sums.FillRow(bucket, &row);
                                    output_.Add(row);
                                  });
}

}  // namespace gotrace::internal
