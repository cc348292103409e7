// Cycles and stops are made from events. The intervals of goroutines show how much of a mark
// worker's run is in the window, and the intervals of Ps show which P stopped last.
//
// A later part of a trace may begin in the middle of a cycle or of a stop. Their data is collected
// in placeholder entries, which Merge() adds to the real ones. Intervals that cross into the next
// part are kept until its cycles and stops are known.
#include "gotrace/gc_stats.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/profile/profile_samples.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace {

using internal::RangeTracker;
using internal::RuntimeRange;

namespace {

constexpr size_t kNoCycle = std::numeric_limits<size_t>::max();
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int64_t kEver = std::numeric_limits<int64_t>::min();

// More Ps than any machine has. In a damaged trace a stop of the world may last long.
constexpr size_t kMaxStopped = 1 << 12;

// Returns the trigger of the cycle, from the stack of its begin.
GcTrigger TriggerOf(const Stack& stack) {
  for (size_t i = 0; i < stack.size(); ++i) {
    const absl::string_view func = stack.frame(i).func;
    if (func == "runtime.GC") return GcTrigger::kProgram;
    if (func == "runtime.forcegchelper") return GcTrigger::kTime;
    if (absl::StartsWith(func, "runtime.mallocgc") || func == "runtime.newUserArenaChunk") {
      return GcTrigger::kHeap;
    }
  }
  return GcTrigger::kUnknown;
}

void AddSpan(int64_t begin, int64_t end, SpanSum* sum) {
  ++sum->count;
  internal::AddTime(std::max<int64_t>(internal::Between(begin, end), 0), &sum->time);
}

void Add(const SpanSum& more, SpanSum* sum) {
  sum->count += more.count;
  internal::AddTime(more.time, &sum->time);
}

// Returns the member of GcCycle for mark workers with this label, or nullptr for other labels.
int64_t GcCycle::*WorkerTime(absl::string_view label) {
  if (label == "GC (dedicated)") return &GcCycle::dedicated;
  if (label == "GC (fractional)") return &GcCycle::fractional;
  if (label == "GC (idle)") return &GcCycle::idle;
  return nullptr;
}

}  // namespace

absl::string_view GcTriggerName(GcTrigger trigger) {
  constexpr absl::string_view kNames[] = {"unknown", "heap", "time", "program"};
  return kNames[static_cast<size_t>(trigger)];
}

int64_t WorldStop::stopping() const {
  return last_proc == ProcId::kNone ? 0 : internal::Between(begin, last_proc_stop);
}
int64_t WorldStop::stopped() const {
  return internal::Between(last_proc == ProcId::kNone ? begin : last_proc_stop, restart);
}
int64_t WorldStop::restarting() const { return internal::Between(restart, end); }

class GcStats::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window) : interner_(*interner), window_(window) {}

  void Begin(int64_t /*trace_start*/, EventFilter::Times window) { window_ = window_.And(window); }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const GcCycle> cycles() const { return results_; }
  absl::Span<const WorldStop> stops() const { return stop_results_; }
  absl::Span<const AssistsInPlace> assist_places() const { return place_results_; }

 private:
  struct Cycle : GcCycle {
    absl::flat_hash_map<GoId, SpanSum> assists_of;
  };

  // The end of a run of a goroutine.
  struct Run {
    int64_t end = 0;
    ProcId proc = ProcId::kNone;
    GoId goroutine = GoId::kNone;
    StackId stack = StackId::kNone;
  };

  // When a P began to run, or stopped.
  struct ProcChange {
    int64_t time = 0;
    ProcId proc = ProcId::kNone;
    bool starts = false;
  };

  struct Stop : WorldStop {
    size_t cycle = kNoCycle;        // The cycle that it is for.
    std::vector<ProcChange> procs;  // In it, in order.
    std::vector<Run> runs;          // The runs of goroutines that ended in it.
  };

  // A run of a mark worker, from its label until it stops.
  struct WorkerRun {
    int64_t GcCycle::*kind = nullptr;
    size_t cycle = kNoCycle;
    int64_t begin = 0;       // Later than the last interval.
    int64_t end = kForever;  // kForever while it runs.
  };

  // Cycles that are older than this part: the last that ended, and one that may be active.
  static constexpr size_t kEnded = 0;
  static constexpr size_t kActive = 1;

  static std::vector<Cycle> OlderCycles() {
    std::vector<Cycle> cycles(2);
    for (Cycle& cycle : cycles) {
      cycle.begin = kEver;
      cycle.end_clipped = true;
    }
    return cycles;
  }
  static std::vector<Stop> OlderStop() {
    std::vector<Stop> stops(1);
    stops[0].begin = stops[0].end = kEver;
    stops[0].end_clipped = true;
    return stops;
  }

  bool IsReal(size_t cycle) const { return cycle != kNoCycle && cycle > kActive; }

  void Add(const Event& event);
  void BeginCycle(const Event& event);
  void EndCycle(int64_t time);
  void BeginStop(const Event& event);
  void EndStop(int64_t time);
  void AddAssist(const RuntimeRange& assist);
  void AddSweep(const RuntimeRange& sweep);
  void AddLabel(const Event& event);
  void AddTransition(const Event& event);

  // When the cycle ended; kForever if it has not.
  int64_t EndOf(size_t cycle) const;

  // Each merges a part of the data of `next`. `places` has the indices here of its cycles.
  std::vector<size_t> MergeCycles(Impl& next, const InternerMap& ids);
  void MergeStops(Impl& next, const InternerMap& ids, const std::vector<size_t>& places);
  void MergeWorkers(const Impl& next, const std::vector<size_t>& places);
  static void Join(const Cycle& rest, Cycle* cycle);

  void AddToStop(const Event& event);
  static void FindParts(Stop* stop);

  Interner& interner_;
  EventFilter::Times window_;

  int64_t last_event_ = kEver;

  std::vector<Cycle> cycles_ = OlderCycles();
  size_t open_cycle_ = kActive;
  std::vector<size_t> ended_ = {kEnded};  // In order of their ends.
  size_t continued_ = kNoCycle;  // What kActive turned out to be, when the trace stated it.

  std::vector<Stop> stops_ = OlderStop();
  bool is_stopped_ = true;  // By the last of `stops_`.

  RangeTracker ranges_{&interner_,
                       RangeTracker::Crossing::kWhole,
                       {EventType::kGCMarkAssistBegin, EventType::kGCSweepBegin},
                       [this](const RuntimeRange& range) {
                         range.type == EventType::kGCSweepBegin ? AddSweep(range)
                                                                : AddAssist(range);
                       }};
  absl::flat_hash_map<GoId, std::vector<WorkerRun>> workers_;
  // The runs before the first interval of the goroutine.
  std::vector<std::pair<GoId, WorkerRun>> early_runs_;
  std::optional<uint64_t> heap_;
  std::optional<uint64_t> goal_;

  std::vector<GoInterval> crossing_;  // Of goroutines that run.

  std::vector<GcCycle> results_;
  absl::flat_hash_map<StackId, SpanSum> places_;  // Of assists.
  std::vector<WorldStop> stop_results_;
  std::vector<AssistsInPlace> place_results_;
};

int64_t GcStats::Impl::EndOf(size_t cycle) const {
  if (cycle == kActive && continued_ != kNoCycle) cycle = continued_;
  return cycles_[cycle].end_clipped ? kForever : cycles_[cycle].end;
}

void GcStats::Impl::BeginCycle(const Event& event) {
  // The event of a generation in which the cycle is still active.
  const bool is_active = event.kind() == EventKind::kRangeActive;
  if (is_active && IsReal(open_cycle_)) return;
  if (open_cycle_ == kActive) {
    if (is_active) {
      continued_ = cycles_.size();
    } else {
      // There was none.
      cycles_[kActive].end = event.time();
      cycles_[kActive].end_clipped = false;
    }
  }
  open_cycle_ = cycles_.size();
  GcCycle& cycle = cycles_.emplace_back();
  cycle.begin = is_active ? ranges_.generation_begin() : event.time();
  cycle.begin_clipped = is_active;
  cycle.end_clipped = true;
  cycle.end = cycle.begin;
  if (!is_active) {
    cycle.trigger = TriggerOf(event.stack());
    cycle.goroutine = event.goroutine();
    cycle.stack = interner_.InternStack(event.stack());
    cycle.heap_begin = heap_;
  }
  cycle.goal = goal_;
}

void GcStats::Impl::EndCycle(int64_t time) {
  if (open_cycle_ == kNoCycle) return;
  GcCycle& cycle = cycles_[open_cycle_];
  cycle.end = time;
  cycle.end_clipped = false;
  cycle.heap_end = heap_;
  ended_.push_back(std::exchange(open_cycle_, kNoCycle));
}

void GcStats::Impl::BeginStop(const Event& event) {
  is_stopped_ = true;
  Stop& stop = stops_.emplace_back();
  const absl::string_view reason = event.range_parts().reason;
  stop.begin = stop.end = event.time();
  stop.end_clipped = true;
  stop.reason = interner_.InternString(reason);
  stop.goroutine = event.goroutine();
  stop.stack = interner_.InternStack(event.stack());
  stop.proc = event.proc();
  stop.cycle = absl::StrContains(reason, "GC") ? open_cycle_ : kNoCycle;
}

void GcStats::Impl::EndStop(int64_t time) {
  if (!std::exchange(is_stopped_, false)) return;
  Stop& stop = stops_.back();
  stop.end = time;
  stop.end_clipped = false;
  if (stop.cycle == kNoCycle) return;
  GcCycle& cycle = cycles_[stop.cycle];
  AddSpan(stop.begin, time, &cycle.pauses);
  cycle.longest_pause = std::max(cycle.longest_pause, internal::Between(stop.begin, time));
}

void GcStats::Impl::AddAssist(const RuntimeRange& assist) {
  const auto after =
      std::upper_bound(cycles_.begin() + kActive, cycles_.end(), assist.begin,
                       [](int64_t time, const Cycle& cycle) { return time < cycle.begin; });
  const auto index = static_cast<size_t>(after - cycles_.begin()) - 1;
  if (index < kActive || assist.begin >= EndOf(index)) return;
  Cycle& cycle = cycles_[index];
  AddSpan(assist.begin, assist.end, &cycle.assists);
  AddSpan(assist.begin, assist.end, &cycle.assists_of[assist.goroutine]);
  const int64_t begin = std::max(assist.begin, window_.from);
  const int64_t end = std::min(assist.end, window_.to);
  if (begin <= end) AddSpan(begin, end, &places_[assist.stack]);
}

// A sweep is for the last cycle that ended before it.
void GcStats::Impl::AddSweep(const RuntimeRange& sweep) {
  if (sweep.end_clipped) return;
  const auto after =
      std::upper_bound(ended_.begin() + 1, ended_.end(), sweep.end,
                       [&](int64_t time, size_t cycle) { return time < cycles_[cycle].end; });
  GcCycle& cycle = cycles_[*std::prev(after)];
  AddSpan(sweep.begin, sweep.end, &cycle.sweeps);
  cycle.swept_bytes += sweep.swept_bytes;
  cycle.reclaimed_bytes += sweep.reclaimed_bytes;
}

void GcStats::Impl::AddLabel(const Event& event) {
  int64_t GcCycle::*const kind = WorkerTime(event.label().label);
  if (kind == nullptr || open_cycle_ == kNoCycle) return;
  workers_[event.goroutine()].push_back(
      {.kind = kind, .cycle = open_cycle_, .begin = event.time()});
}

void GcStats::Impl::AddTransition(const Event& event) {
  if (workers_.empty() || event.transition_from() == event.transition_to()) return;
  const ResourceId resource = event.transition_resource();
  if (resource.kind != ResourceKind::kGoroutine) return;
  const auto found = workers_.find(GoId{resource.id});
  if (found == workers_.end()) return;
  WorkerRun& run = found->second.back();
  if (run.end == kForever) run.end = event.time();
}

void GcStats::Impl::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) Add(event);
  last_event_ = std::max(last_event_, events.back().time());
}

void GcStats::Impl::Add(const Event& event) {
  const int64_t time = event.time();
  ranges_.Add(event);
  switch (event.type()) {
    case EventType::kGCBegin:
    case EventType::kGCActive:
      BeginCycle(event);
      break;
    case EventType::kGCEnd:
      EndCycle(time);
      break;
    case EventType::kSTWBegin:
      BeginStop(event);
      break;
    case EventType::kSTWEnd:
      EndStop(time);
      break;
    case EventType::kHeapAlloc:
      heap_ = event.metric().value;
      break;
    case EventType::kHeapGoal:
      goal_ = event.metric().value;
      if (!IsReal(open_cycle_) && !cycles_[ended_.back()].next_goal.has_value()) {
        cycles_[ended_.back()].next_goal = goal_;
      }
      break;
    case EventType::kGoLabel:
      AddLabel(event);
      break;
    default:
      if (event.kind() == EventKind::kStateTransition) {
        if (is_stopped_) AddToStop(event);
        AddTransition(event);
      }
      break;
  }
}

void GcStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (interval.end > last_event_) {
    if (interval.state == GoState::kRunning) crossing_.push_back(interval);
    return;
  }
  const auto found = workers_.find(interval.goroutine);
  if (found == workers_.end()) return;
  std::vector<WorkerRun>& runs = found->second;
  for (WorkerRun& run : runs) {
    if (run.begin < interval.begin) {
      WorkerRun& early = early_runs_.emplace_back(interval.goroutine, run).second;
      early.end = std::min(run.end, interval.begin);
    }
    GcCycle& cycle = cycles_[run.cycle];
    run.begin = std::max(run.begin, interval.begin);
    // The worker that ends the mark phase runs on: it works for the collector until it stops.
    const int64_t end = std::min(run.end, interval.end);
    if (interval.state == GoState::kRunning && run.begin < end) {
      internal::AddTime(internal::Between(run.begin, end), &(cycle.*run.kind));
    }
    run.begin = std::max(run.begin, interval.end);
  }
  // Later intervals are after this one.
  const auto is_past = [&](const WorkerRun& run) { return run.end <= interval.end; };
  runs.erase(std::remove_if(runs.begin(), runs.end(), is_past), runs.end());
  if (runs.empty()) workers_.erase(found);
}

// Notes what a stop needs of a transition during it. Not of intervals, which a window cuts.
void GcStats::Impl::AddToStop(const Event& event) {
  Stop& stop = stops_.back();
  const ResourceId resource = event.transition_resource();
  const uint8_t from = event.transition_from();
  if (from == event.transition_to()) return;
  if (resource.kind == ResourceKind::kProc) {
    const bool starts = from == static_cast<uint8_t>(ProcState::kIdle);
    const bool stops = from == static_cast<uint8_t>(ProcState::kRunning);
    if ((!starts && !stops) || stop.procs.size() >= kMaxStopped) return;
    stop.procs.push_back({event.time(), ProcId{static_cast<int64_t>(resource.id)}, starts});
  } else if (resource.kind == ResourceKind::kGoroutine) {
    const bool ends = from == static_cast<uint8_t>(GoState::kRunning);
    if (!ends || stop.runs.size() >= kMaxStopped) return;
    stop.runs.push_back({event.time(), event.proc(), GoId{resource.id},
                         interner_.InternStack(event.transition_stack())});
  }
}

// The Ps that ran when the stop began must stop, and so must Ps that began to run before all of
// these had stopped. Runs that begin later do so because the world was started again.
void GcStats::Impl::FindParts(Stop* stop) {
  // The runs of Ps, by when they began: before the stop, unless it has their begin.
  std::vector<std::pair<int64_t, const ProcChange*>> ended;
  absl::flat_hash_map<ProcId, int64_t> begins;
  for (const ProcChange& change : stop->procs) {
    if (change.starts) {
      begins[change.proc] = change.time;
    } else if (change.proc != stop->proc) {
      const auto begin = begins.find(change.proc);
      ended.emplace_back(begin == begins.end() ? kEver : begin->second, &change);
    }
  }
  absl::c_stable_sort(ended, [](const auto& a, const auto& b) { return a.first < b.first; });
  int64_t last = stop->begin;
  for (const auto& [begin, change] : ended) {
    if (begin > last || change->time <= last) continue;
    last = change->time;
    stop->last_proc = change->proc;
    stop->last_proc_stop = change->time;
  }
  stop->restart = stop->end;
  for (const ProcChange& change : stop->procs) {
    if (change.starts && change.time > last) stop->restart = std::min(stop->restart, change.time);
  }
  if (stop->last_proc == ProcId::kNone) return;
  for (const Run& run : stop->runs) {
    if (run.proc != stop->last_proc || run.end < stop->begin || run.end > last) continue;
    stop->last_goroutine = run.goroutine;
    stop->last_stack = run.stack;
  }
}

void GcStats::Impl::Join(const Cycle& rest, Cycle* cycle) {
  gotrace::Add(rest.pauses, &cycle->pauses);
  cycle->longest_pause = std::max(cycle->longest_pause, rest.longest_pause);
  gotrace::Add(rest.assists, &cycle->assists);
  for (const auto& [goroutine, assists] : rest.assists_of) {
    gotrace::Add(assists, &cycle->assists_of[goroutine]);
  }
  internal::AddTime(rest.dedicated, &cycle->dedicated);
  internal::AddTime(rest.fractional, &cycle->fractional);
  internal::AddTime(rest.idle, &cycle->idle);
  gotrace::Add(rest.sweeps, &cycle->sweeps);
  cycle->swept_bytes += rest.swept_bytes;
  cycle->reclaimed_bytes += rest.reclaimed_bytes;
  if (!rest.end_clipped) {
    cycle->end = rest.end;
    cycle->end_clipped = false;
    cycle->heap_end = rest.heap_end;
  }
  if (!cycle->next_goal.has_value()) cycle->next_goal = rest.next_goal;
}

std::vector<size_t> GcStats::Impl::MergeCycles(Impl& next, const InternerMap& ids) {
  std::vector<size_t> places = {ended_.back(), open_cycle_};
  if (IsReal(open_cycle_)) next.cycles_[kEnded].next_goal.reset();
  for (size_t i = 0; i < next.cycles_.size(); ++i) {
    Cycle& cycle = next.cycles_[i];
    cycle.stack = ids(cycle.stack);
    // Values that the part does not state are unchanged.
    if (!cycle.end_clipped && !cycle.heap_end.has_value()) cycle.heap_end = heap_;
    if (i > kActive) {
      if (!cycle.begin_clipped && !cycle.heap_begin.has_value()) cycle.heap_begin = heap_;
      if (!cycle.goal.has_value()) cycle.goal = goal_;
      if (i != next.continued_) {
        places.push_back(cycles_.size());
      } else if (IsReal(open_cycle_)) {
        places.push_back(open_cycle_);
      } else {
        if (open_cycle_ == kActive) continued_ = cycles_.size();
        places.push_back(cycles_.size());
      }
    }
    if (places[i] == cycles_.size()) {
      cycles_.push_back(std::move(cycle));
    } else if (places[i] != kNoCycle) {
      Join(cycle, &cycles_[places[i]]);
    }
  }
  if (next.open_cycle_ != kActive) {
    open_cycle_ = next.open_cycle_ == kNoCycle ? kNoCycle : places[next.open_cycle_];
  }
  for (size_t i = 1; i < next.ended_.size(); ++i) {
    if (const size_t place = places[next.ended_[i]]; place != kNoCycle) ended_.push_back(place);
  }
  return places;
}

void GcStats::Impl::MergeStops(Impl& next, const InternerMap& ids,
                               const std::vector<size_t>& places) {
  const Stop& older = next.stops_[0];
  if (is_stopped_) {
    std::vector<ProcChange>& procs = stops_.back().procs;
    procs.insert(procs.end(), older.procs.begin(), older.procs.end());
    procs.resize(std::min(procs.size(), kMaxStopped));
    for (Run run : older.runs) {
      run.stack = ids(run.stack);
      stops_.back().runs.push_back(run);
    }
    if (!older.end_clipped) EndStop(older.end);
  }
  for (size_t i = 1; i < next.stops_.size(); ++i) {
    Stop& stop = stops_.emplace_back(std::move(next.stops_[i]));
    stop.reason = ids(stop.reason);
    stop.stack = ids(stop.stack);
    for (Run& run : stop.runs) run.stack = ids(run.stack);
    if (stop.cycle != kNoCycle) stop.cycle = places[stop.cycle];
    is_stopped_ = next.is_stopped_;
  }
}

void GcStats::Impl::MergeWorkers(const Impl& next, const std::vector<size_t>& places) {
  // Workers that ran when this part ended stop with the interval.
  for (const GoInterval& interval : crossing_) {
    const auto found = workers_.find(interval.goroutine);
    if (found == workers_.end()) continue;
    for (WorkerRun& run : found->second) run.end = std::min(run.end, interval.end);
  }
  const auto append = [&](GoId goroutine, WorkerRun run) {
    run.cycle = places[run.cycle];
    if (run.cycle != kNoCycle) workers_[goroutine].push_back(run);
  };
  for (const auto& [goroutine, run] : next.early_runs_) append(goroutine, run);
  for (const auto& [goroutine, runs] : next.workers_) {
    for (const WorkerRun& run : runs) append(goroutine, run);
  }
}

void GcStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  const std::vector<size_t> places = MergeCycles(next, ids);
  ranges_.Merge(next.ranges_, ids);
  MergeStops(next, ids, places);
  for (const auto& [stack, assists] : next.places_) gotrace::Add(assists, &places_[ids(stack)]);
  MergeWorkers(next, places);
  if (next.heap_.has_value()) heap_ = next.heap_;
  if (next.goal_.has_value()) goal_ = next.goal_;
  last_event_ = std::max(last_event_, next.last_event_);
  for (const GoInterval& interval : std::exchange(crossing_, {})) AddGoroutine(interval);
}

void GcStats::Impl::Finish(int64_t end) {
  if (is_stopped_ && stops_.size() > 1) {
    EndStop(end);
    stops_.back().end_clipped = true;
  }
  ranges_.Finish(end);
  if (IsReal(open_cycle_)) {
    GcCycle& cycle = cycles_[open_cycle_];
    cycle.end = std::max(end, cycle.begin);
  }
  const auto is_inside = [&](const Interval& interval) {
    return interval.end >= window_.from && interval.begin <= window_.to;
  };
  for (size_t i = kActive + 1; i < cycles_.size(); ++i) {
    Cycle& cycle = cycles_[i];
    cycle.number = i - kActive;
    if (!is_inside(cycle)) continue;
    std::vector<GoroutineAssists>& list = cycle.assists_by_goroutine;
    for (const auto& [goroutine, assists] : cycle.assists_of) list.push_back({goroutine, assists});
    absl::c_sort(list, [](const GoroutineAssists& a, const GoroutineAssists& b) {
      return std::pair(b.assists.time, a.goroutine) < std::pair(a.assists.time, b.goroutine);
    });
    results_.push_back(std::move(cycle));
  }
  for (const auto& [stack, assists] : places_) place_results_.push_back({stack, assists});
  absl::c_sort(place_results_, [&](const AssistsInPlace& a, const AssistsInPlace& b) {
    if (a.assists.time != b.assists.time) return a.assists.time > b.assists.time;
    return internal::CompareStacks(interner_, a.stack, b.stack) < 0;
  });
  for (size_t i = 1; i < stops_.size(); ++i) {
    if (!is_inside(stops_[i])) continue;
    FindParts(&stops_[i]);
    stop_results_.push_back(std::move(stops_[i]));
  }
}

GcStats::GcStats(Interner* interner, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, window)) {}
GcStats::~GcStats() = default;
void GcStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void GcStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void GcStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void GcStats::Finish(int64_t end) { impl_->Finish(end); }
void GcStats::Merge(GcStats&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
absl::Span<const GcCycle> GcStats::cycles() const { return impl_->cycles(); }
absl::Span<const WorldStop> GcStats::stops() const { return impl_->stops(); }
absl::Span<const AssistsInPlace> GcStats::assist_places() const { return impl_->assist_places(); }

}  // namespace gotrace
