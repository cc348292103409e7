// Go's own algorithm, which goes from event to event and counts for each P the reasons why it works
// for the GC.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/gc/utilization_rules.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/mutator_utilization.h"
#include "gotrace/states.h"

namespace gotrace {
namespace {

using Options = MutatorUtilization::Options;
using Series = UtilizationSeries;
using internal::IsGcStop;
using internal::IsWorker;
using internal::kMaxUtilizationDuration;
using internal::kMaxUtilizationProcs;
using internal::UtilizationOf;

bool IsExecuting(uint8_t state) {
  return state == static_cast<uint8_t>(GoState::kRunning) ||
         state == static_cast<uint8_t>(GoState::kSyscall);
}

// Computes the same as MutatorUtilizationV2() of internal/trace.
class GoUtilization {
 public:
  explicit GoUtilization(const Options& options) : options_(options) {}

  void Add(const Event& event);

  // Returns the series, or nothing if Go fails for the trace.
  std::optional<std::vector<Series>> Finish();

 private:
  struct Proc {
    int64_t work = 0;   // More than 0 while it works for the GC.
    size_t series = 0;  // In `series_`.
  };
  struct Procs {
    int64_t time = 0;
    size_t count = 0;
  };

  void SetProcs(uint64_t count, int64_t time);
  void AddRange(const Event& event);
  void LowerAll();
  void AddTransition(const Event& event);
  void AddWork(ProcId proc, int64_t change);
  void AppendChanges(int64_t time);
  void Append(int64_t time, double utilization, Series* series);

  const Options options_;
  bool has_failed_ = false;
  bool has_changed_ = false;  // Whether the utilization may not be that of the last points.
  uint64_t sync_ = 0;
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  int64_t stops_ = 0;
  std::vector<Proc> procs_;
  std::vector<Procs> history_;
  size_t zeros_ = 0;  // The number of points at the beginning of the only series that are 0.
  absl::flat_hash_map<GoId, uint8_t> states_;
  absl::flat_hash_set<GoId> workers_;
  absl::flat_hash_set<GoId> assists_;
  std::vector<Series> series_;
};

void GoUtilization::Append(int64_t time, double utilization, Series* series) {
  if (!series->empty()) {
    UtilizationPoint& last = series->back();
    if (last.utilization == utilization) return;
    if (last.time == time) {
      last.utilization = std::min(last.utilization, utilization);
      return;
    }
  }
  series->push_back({time, utilization});
}

void GoUtilization::AddWork(ProcId proc, int64_t change) {
  const auto index = static_cast<uint64_t>(proc.value);
  if (index >= procs_.size()) {
    has_failed_ = true;  // Go uses an index that is out of range.
    return;
  }
  procs_[index].work += change;
  has_changed_ = true;
}

void GoUtilization::SetProcs(uint64_t count, int64_t time) {
  if (count > kMaxUtilizationProcs) {
    has_failed_ = true;
    return;
  }
  for (size_t i = count; i < procs_.size() && options_.per_proc; ++i) {
    Append(time, 0, &series_[procs_[i].series]);
  }
  while (procs_.size() > count) procs_.pop_back();
  while (procs_.size() < count) {
    if (options_.per_proc || series_.empty()) series_.push_back({{time, 1}});
    procs_.push_back({.series = options_.per_proc ? series_.size() - 1 : 0});
  }
  if (history_.empty() || history_.back().count != count) history_.push_back({time, count});
  has_changed_ = true;
}

// Lowers all existing points by the share of one P.
void GoUtilization::LowerAll() {
  Series& points = series_[0];
  size_t procs = 0;
  for (size_t i = zeros_; i < points.size(); ++i) {
    while (procs + 1 < history_.size() && history_[procs + 1].time < points[i].time) ++procs;
    const double one = 1 / static_cast<double>(history_[procs].count);
    points[i].utilization = std::max(points[i].utilization - one, 0.0);
    if (i == zeros_ && points[i].utilization == 0) ++zeros_;
  }
}

void GoUtilization::AddRange(const Event& event) {
  const bool is_stop =
      options_.stw && (event.type() == EventType::kSTWBegin || event.type() == EventType::kSTWEnd);
  const bool is_sweep = options_.sweep && (event.type() == EventType::kGCSweepBegin ||
                                           event.type() == EventType::kGCSweepActive ||
                                           event.type() == EventType::kGCSweepEnd);
  const bool is_assist = options_.assist && (event.type() == EventType::kGCMarkAssistBegin ||
                                             event.type() == EventType::kGCMarkAssistActive ||
                                             event.type() == EventType::kGCMarkAssistEnd);
  if (event.kind() == EventKind::kRangeActive) {
    if (sync_ > 1) return;
    const bool lowers = is_sweep || (is_assist && IsExecuting(states_[event.goroutine()]));
    if (lowers && !options_.per_proc) LowerAll();
  }
  const int64_t change = event.kind() == EventKind::kRangeEnd ? -1 : 1;
  if (is_stop && IsGcStop(event)) {
    stops_ += change;
    has_changed_ = true;
  } else if (is_sweep) {
    AddWork(event.proc(), change);
  } else if (is_assist) {
    AddWork(event.proc(), change);
    const GoId goroutine{event.range_parts().scope.id};
    if (change > 0) {
      assists_.insert(goroutine);
    } else {
      assists_.erase(goroutine);
    }
  }
}

void GoUtilization::AddTransition(const Event& event) {
  const ResourceId resource = event.transition_resource();
  if (resource.kind != ResourceKind::kGoroutine) return;
  const GoId goroutine{resource.id};
  const bool was_executing = IsExecuting(event.transition_from());
  const bool is_executing = IsExecuting(event.transition_to());
  if (was_executing != is_executing &&
      (assists_.contains(goroutine) || workers_.contains(goroutine))) {
    AddWork(event.proc(), is_executing ? 1 : -1);
  }
  // States are only needed in the first generation.
  if (sync_ <= 1) states_[goroutine] = event.transition_to();
}

void GoUtilization::AppendChanges(int64_t time) {
  if (!options_.per_proc) {
    const auto busy = absl::c_count_if(procs_, [](const Proc& proc) { return proc.work > 0; });
    const size_t busy_or_stopped = stops_ > 0 ? procs_.size() : static_cast<size_t>(busy);
    Append(time, UtilizationOf(busy_or_stopped, procs_.size()), &series_[0]);
    return;
  }
  for (const Proc& proc : procs_) {
    Append(time, stops_ > 0 || proc.work > 0 ? 0 : 1, &series_[proc.series]);
  }
}

void GoUtilization::Add(const Event& event) {
  if (has_failed_) return;
  // Times go backwards only in a damaged trace.
  const int64_t time = std::max(last_time_, event.time());
  last_time_ = time;
  if (event.kind() == EventKind::kSync) sync_ = event.arg(0);
  if (event.type() == EventType::kProcsChange) SetProcs(event.metric().value, time);
  if (procs_.empty()) return;
  switch (event.kind()) {
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      AddRange(event);
      break;
    case EventKind::kStateTransition:
      AddTransition(event);
      break;
    case EventKind::kLabel:
      if (IsWorker(event.label().label, options_)) {
        workers_.insert(event.goroutine());
        AddWork(event.proc(), 1);
      }
      break;
    default:
      break;
  }
  if (std::exchange(has_changed_, false) && !has_failed_) AppendChanges(time);
}

std::optional<std::vector<Series>> GoUtilization::Finish() {
  if (has_failed_) return std::nullopt;
  for (const Proc& proc : procs_) Append(last_time_, 0, &series_[proc.series]);
  for (const Series& series : series_) {
    const uint64_t duration =
        static_cast<uint64_t>(series.back().time) - static_cast<uint64_t>(series.front().time);
    // Go fails if a series has no duration.
    if (duration == 0 || duration > kMaxUtilizationDuration) return std::nullopt;
  }
  return std::move(series_);
}

}  // namespace

struct GoCompatibleUtilization::Impl {
  MutatorUtilization right;
  GoUtilization go;
  std::optional<std::vector<Series>> series;  // None if Go fails.
};

GoCompatibleUtilization::GoCompatibleUtilization(MutatorUtilization::Options options)
    : impl_(new Impl{MutatorUtilization(options), GoUtilization(options), std::nullopt}) {}
GoCompatibleUtilization::~GoCompatibleUtilization() = default;
void GoCompatibleUtilization::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->right.Begin(trace_start, window);
}
void GoCompatibleUtilization::AddEvents(absl::Span<const Event> events) {
  impl_->right.AddEvents(events);
  for (const Event& event : events) impl_->go.Add(event);
}
void GoCompatibleUtilization::AddGoroutine(const GoInterval& interval) {
  impl_->right.AddGoroutine(interval);
}
void GoCompatibleUtilization::Finish(int64_t end) {
  impl_->right.Finish(end);
  impl_->series = impl_->go.Finish();
}
absl::Span<const UtilizationSeries> GoCompatibleUtilization::series() const {
  if (impl_->series.has_value()) return *impl_->series;
  return impl_->right.series();
}

}  // namespace gotrace
