// Cycles and stops are made of events. The intervals of goroutines say how much of the run of a
// mark worker is in the window, and those of Ps which P stopped last.
#include "gotrace/gc_stats.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/time_sums.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace {
namespace {

constexpr size_t kNoCycle = std::numeric_limits<size_t>::max();
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// Who asked for the cycle, from the stack of its begin.
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

// The time of a GcCycle for mark workers with a label, or nullptr for other labels.
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

class GcStats::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window) : interner_(*interner), window_(window) {}

  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);
  void AddProc(const ProcInterval& interval);
  void Finish(int64_t end);

  absl::Span<const GcCycle> cycles() const { return cycles_; }
  absl::Span<const WorldStop> stops() const { return stops_; }

 private:
  // A range that is in progress, and the cycle that it counts for.
  struct Open {
    int64_t begin = 0;
    size_t cycle = kNoCycle;
  };

  // From the label of a mark worker until it stops.
  struct WorkerRun {
    int64_t GcCycle::*kind = nullptr;
    size_t cycle = kNoCycle;
    int64_t begin = 0;
    int64_t end = kForever;  // kForever while it runs.
  };

  void BeginCycle(const Event& event);
  void EndCycle(int64_t time);
  void BeginStop(const Event& event);
  void EndStop(int64_t time);
  void EndAssist(GoId goroutine, int64_t time);
  void EndSweep(const Event& event);
  void AddLabel(const Event& event);
  void AddTransition(const Event& event);
  void FindLastProc(const std::vector<ProcInterval>& stopped, WorldStop* stop) const;

  Interner& interner_;
  const EventFilter::Times window_;

  std::optional<int64_t> sync_time_;  // Of the last kSync event, or else of the first event.
  std::vector<GcCycle> cycles_;
  size_t open_cycle_ = kNoCycle;
  size_t last_cycle_ = kNoCycle;  // The last that ended.

  std::vector<WorldStop> stops_;
  bool is_stopped_ = false;       // By the last of `stops_`.
  size_t stop_cycle_ = kNoCycle;  // The cycle that this stop is for.
  // For each stop, when other Ps ran that stopped in it.
  std::vector<std::vector<ProcInterval>> stopped_procs_;

  absl::flat_hash_map<GoId, Open> assists_;
  std::vector<absl::flat_hash_map<GoId, SpanSum>> assists_by_goroutine_;  // For each cycle.
  absl::flat_hash_map<int64_t, int64_t> sweeps_;                          // By P, since when.
  absl::flat_hash_map<GoId, std::vector<WorkerRun>> workers_;
  std::optional<uint64_t> heap_;
  std::optional<uint64_t> goal_;
};

void GcStats::Impl::BeginCycle(const Event& event) {
  // The event of a generation in which the cycle is still active.
  const bool is_active = event.kind() == EventKind::kRangeActive;
  if (is_active && open_cycle_ != kNoCycle) return;
  open_cycle_ = cycles_.size();
  GcCycle& cycle = cycles_.emplace_back();
  assists_by_goroutine_.emplace_back();
  cycle.number = cycles_.size();
  cycle.begin = is_active ? *sync_time_ : event.time();
  cycle.begin_clipped = is_active;
  cycle.end_clipped = true;
  cycle.end = cycle.begin;
  if (!is_active) {
    cycle.trigger = TriggerOf(event.stack());
    cycle.goroutine = event.goroutine();
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
  last_cycle_ = std::exchange(open_cycle_, kNoCycle);
}

void GcStats::Impl::BeginStop(const Event& event) {
  is_stopped_ = true;
  WorldStop& stop = stops_.emplace_back();
  stopped_procs_.emplace_back();
  const absl::string_view reason = event.range_parts().reason;
  stop.begin = stop.end = event.time();
  stop.end_clipped = true;
  stop.reason = interner_.InternString(reason);
  stop.goroutine = event.goroutine();
  stop.proc = event.proc();
  stop_cycle_ = absl::StrContains(reason, "GC") ? open_cycle_ : kNoCycle;
}

void GcStats::Impl::EndStop(int64_t time) {
  if (!std::exchange(is_stopped_, false)) return;
  WorldStop& stop = stops_.back();
  stop.end = time;
  stop.end_clipped = false;
  if (stop_cycle_ == kNoCycle) return;
  GcCycle& cycle = cycles_[stop_cycle_];
  AddSpan(stop.begin, time, &cycle.pauses);
  cycle.longest_pause = std::max(cycle.longest_pause, internal::Between(stop.begin, time));
}

void GcStats::Impl::EndAssist(GoId goroutine, int64_t time) {
  const auto found = assists_.find(goroutine);
  if (found == assists_.end()) return;
  const Open assist = found->second;
  assists_.erase(found);
  if (assist.cycle == kNoCycle) return;
  AddSpan(assist.begin, time, &cycles_[assist.cycle].assists);
  AddSpan(assist.begin, time, &assists_by_goroutine_[assist.cycle][goroutine]);
}

void GcStats::Impl::EndSweep(const Event& event) {
  const auto found = sweeps_.find(event.range_parts().scope.id);
  if (found == sweeps_.end()) return;
  const int64_t begin = found->second;
  sweeps_.erase(found);
  if (last_cycle_ == kNoCycle) return;
  GcCycle& cycle = cycles_[last_cycle_];
  AddSpan(begin, event.time(), &cycle.sweeps);
  cycle.swept_bytes += event.arg(0);
  cycle.reclaimed_bytes += event.arg(1);
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

void GcStats::Impl::Add(const Event& event) {
  const int64_t time = event.time();
  if (!sync_time_.has_value() || event.kind() == EventKind::kSync) sync_time_ = time;
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
    case EventType::kGCMarkAssistBegin:
      assists_[GoId{event.range_parts().scope.id}] = {time, open_cycle_};
      break;
    case EventType::kGCMarkAssistActive:
      assists_.try_emplace(GoId{event.range_parts().scope.id}, Open{*sync_time_, open_cycle_});
      break;
    case EventType::kGCMarkAssistEnd:
      EndAssist(GoId{event.range_parts().scope.id}, time);
      break;
    case EventType::kGCSweepBegin:
      sweeps_[event.range_parts().scope.id] = time;
      break;
    case EventType::kGCSweepActive:
      sweeps_.try_emplace(event.range_parts().scope.id, *sync_time_);
      break;
    case EventType::kGCSweepEnd:
      EndSweep(event);
      break;
    case EventType::kHeapAlloc:
      heap_ = event.metric().value;
      break;
    case EventType::kHeapGoal:
      goal_ = event.metric().value;
      if (open_cycle_ == kNoCycle && last_cycle_ != kNoCycle &&
          !cycles_[last_cycle_].next_goal.has_value()) {
        cycles_[last_cycle_].next_goal = goal_;
      }
      break;
    case EventType::kGoLabel:
      AddLabel(event);
      break;
    default:
      if (event.kind() == EventKind::kStateTransition) AddTransition(event);
      break;
  }
}

void GcStats::Impl::AddGoroutine(const GoInterval& interval) {
  const auto found = workers_.find(interval.goroutine);
  if (found == workers_.end()) return;
  std::vector<WorkerRun>& runs = found->second;
  for (const WorkerRun& run : runs) {
    GcCycle& cycle = cycles_[run.cycle];
    const int64_t begin = std::max(run.begin, interval.begin);
    // The cycle may end while the worker runs.
    const int64_t end =
        std::min({run.end, interval.end, run.cycle == open_cycle_ ? kForever : cycle.end});
    if (interval.state == GoState::kRunning && begin < end) {
      internal::AddTime(internal::Between(begin, end), &(cycle.*run.kind));
    }
  }
  // Later intervals are after this one.
  const auto is_past = [&](const WorkerRun& run) { return run.end <= interval.end; };
  runs.erase(std::remove_if(runs.begin(), runs.end(), is_past), runs.end());
  if (runs.empty()) workers_.erase(found);
}

void GcStats::Impl::AddProc(const ProcInterval& interval) {
  if (interval.state != ProcState::kRunning || interval.end_clipped) return;
  const auto after = absl::c_upper_bound(
      stops_, interval.end, [](int64_t time, const WorldStop& stop) { return time <= stop.begin; });
  if (after == stops_.begin()) return;
  const auto index = static_cast<size_t>(after - stops_.begin()) - 1;
  const WorldStop& stop = stops_[index];
  const bool is_open = is_stopped_ && index + 1 == stops_.size();
  if (interval.proc == stop.proc || (!is_open && interval.end > stop.end)) return;
  stopped_procs_[index].push_back(interval);
}

// Ps that ran when the stop began must stop, and so must those that began to run before all of
// these had. What begins later runs because the world has been started again.
void GcStats::Impl::FindLastProc(const std::vector<ProcInterval>& stopped, WorldStop* stop) const {
  std::vector<ProcInterval> sorted = stopped;
  absl::c_stable_sort(sorted, [](const auto& a, const auto& b) { return a.begin < b.begin; });
  int64_t last = stop->begin;
  for (const ProcInterval& interval : sorted) {
    if (interval.begin > last || interval.end <= last) continue;
    last = interval.end;
    stop->last_proc = interval.proc;
    stop->last_proc_stop = interval.end;
  }
}

void GcStats::Impl::Finish(int64_t end) {
  if (is_stopped_) {
    EndStop(end);
    stops_.back().end_clipped = true;
  }
  if (open_cycle_ != kNoCycle) {
    GcCycle& cycle = cycles_[open_cycle_];
    cycle.end = std::max(end, cycle.begin);
  }
  std::vector<GoId> open;
  for (const auto& [goroutine, assist] : assists_) open.push_back(goroutine);
  for (const GoId goroutine : open) EndAssist(goroutine, end);
  for (size_t i = 0; i < cycles_.size(); ++i) {
    std::vector<GoroutineAssists>& list = cycles_[i].assists_by_goroutine;
    for (const auto& [goroutine, assists] : assists_by_goroutine_[i]) {
      list.push_back({goroutine, assists});
    }
    absl::c_sort(list, [](const GoroutineAssists& a, const GoroutineAssists& b) {
      return std::pair(b.assists.time, a.goroutine) < std::pair(a.assists.time, b.goroutine);
    });
  }
  for (size_t i = 0; i < stops_.size(); ++i) FindLastProc(stopped_procs_[i], &stops_[i]);
  const auto is_outside = [&](const Interval& interval) {
    return interval.end < window_.from || interval.begin > window_.to;
  };
  cycles_.erase(std::remove_if(cycles_.begin(), cycles_.end(), is_outside), cycles_.end());
  stops_.erase(std::remove_if(stops_.begin(), stops_.end(), is_outside), stops_.end());
}

GcStats::GcStats(Interner* interner, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, window)) {}
GcStats::~GcStats() = default;
void GcStats::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}
void GcStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void GcStats::AddProc(const ProcInterval& interval) { impl_->AddProc(interval); }
void GcStats::Finish(int64_t end) { impl_->Finish(end); }
void GcStats::Merge(IntervalConsumer&& /*next*/, const InternerMap& /*ids*/) {}
absl::Span<const GcCycle> GcStats::cycles() const { return impl_->cycles(); }
absl::Span<const WorldStop> GcStats::stops() const { return impl_->stops(); }

}  // namespace gotrace
