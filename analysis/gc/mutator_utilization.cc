// The utilization is made from the spans of time in which each P works for the GC. Sweeps, stops of
// the world and the runs of mark workers come from events. The times when a goroutine ran during a
// mark assist, and its P, come from its intervals, which also cover the time before its first
// event.
//
// For comparison, Go's own algorithm goes from event to event and counts for each P the reasons why
// it works for the GC.
#include "gotrace/mutator_utilization.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/assist_parts.h"
#include "analysis/intervals/range_tracker.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace {
namespace {

using Options = MutatorUtilization::Options;
using Series = UtilizationSeries;
using internal::RangeTracker;
using internal::RuntimeRange;

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// More Ps than any machine has. A trace that states more is damaged.
constexpr uint64_t kMaxProcs = 1 << 12;

// The maximum length of a series, 146 years, so that its times can be subtracted.
constexpr uint64_t kMaxDuration = uint64_t{1} << 62;

bool IsGcStop(const Event& event) { return absl::StrContains(event.range_parts().reason, "GC"); }

// Returns whether the label belongs to a mark worker that takes a P from the program.
bool IsWorker(absl::string_view label, const Options& options) {
  if (!options.background || !absl::StartsWith(label, "GC ") || label == "GC (idle)") return false;
  return !options.per_proc || label != "GC (dedicated)";
}

bool IsExecuting(uint8_t state) {
  return state == static_cast<uint8_t>(GoState::kRunning) ||
         state == static_cast<uint8_t>(GoState::kSyscall);
}

// Returns the utilization while `busy` of `procs` Ps work for the GC.
double UtilizationOf(size_t busy, size_t procs) {
  return 1 - static_cast<double>(busy) / static_cast<double>(procs);
}

// Collects the spans of time that the program cannot use, and makes series from them.
class BusySpans {
 public:
  explicit BusySpans(const Options& options) : options_(options) {}

  // Leaves out times outside of `window`. Must be called before MakeSeries().
  void CutTo(EventFilter::Times window) { options_.window = options_.window.And(window); }

  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);

  // Appends what `next` has, which took the part of the trace that follows.
  void Merge(BusySpans& next);

  std::vector<Series> MakeSeries(int64_t end);

 private:
  // A running mark worker.
  struct Worker {
    int64_t proc = -1;
    int64_t begin = 0;
  };

  // The begin or end of a span of time. `proc` is a P, or one of:
  static constexpr int64_t kWorld = -1;       // The world is stopped.
  static constexpr int64_t kGomaxprocs = -2;  // GOMAXPROCS is `change`.
  struct Edge {
    int64_t time = 0;
    int64_t proc = 0;
    int64_t change = 0;  // 1 or -1.

    // The order does not depend on how edges were found.
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  // Adds a span in which a P works for the GC.
  void AddSpan(int64_t proc, int64_t begin, int64_t end) {
    if (static_cast<uint64_t>(proc) < kMaxProcs) AddEdges(proc, begin, end);
  }

  void AddEdges(int64_t proc, int64_t begin, int64_t end) {
    if (begin >= end) return;
    edges_.push_back({begin, proc, 1});
    edges_.push_back({end, proc, -1});
  }

  void AddRange(const RuntimeRange& range);
  void EndWorker(GoId goroutine, int64_t time);

  Options options_;
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
  RangeTracker ranges_{nullptr,
                       RangeTracker::Crossing::kWhole,
                       {EventType::kSTWBegin, EventType::kGCSweepBegin},
                       [this](const RuntimeRange& range) { AddRange(range); }};
  absl::flat_hash_map<GoId, Worker> workers_;
  internal::AssistParts assists_{[this](const GoInterval& interval, int64_t begin, int64_t end) {
    if (interval.state == GoState::kRunning || interval.state == GoState::kSyscall) {
      AddSpan(interval.proc.value, begin, std::min(end, interval.proc_until));
    }
  }};
  std::vector<Edge> edges_;
};

void BusySpans::AddRange(const RuntimeRange& range) {
  if (range.type == EventType::kSTWBegin) {
    if (options_.stw) AddEdges(kWorld, range.begin, range.end);
  } else if (options_.sweep) {
    AddSpan(range.scope.id, range.begin, range.end);
  }
}

void BusySpans::EndWorker(GoId goroutine, int64_t time) {
  const auto found = workers_.find(goroutine);
  if (found == workers_.end()) return;
  AddSpan(found->second.proc, found->second.begin, time);
  workers_.erase(found);
}

void BusySpans::Add(const Event& event) {
  const int64_t time = event.time();
  last_event_ = std::max(last_event_, time);
  if (options_.assist) assists_.Add(event);
  if (event.type() != EventType::kSTWBegin || IsGcStop(event)) ranges_.Add(event);
  switch (event.type()) {
    case EventType::kProcsChange:
      if (const uint64_t procs = event.metric().value; procs > 0 && procs <= kMaxProcs) {
        edges_.push_back({time, kGomaxprocs, static_cast<int64_t>(procs)});
      }
      break;
    case EventType::kGoLabel:
      if (IsWorker(event.label().label, options_)) {
        workers_.insert_or_assign(event.goroutine(), Worker{event.proc().value, time});
      }
      break;
    default:
      if (workers_.empty() || event.kind() != EventKind::kStateTransition) break;
      if (event.transition_from() == event.transition_to()) break;  // A repeated status.
      if (const ResourceId resource = event.transition_resource();
          resource.kind == ResourceKind::kGoroutine) {
        EndWorker(GoId{resource.id}, time);
      }
      break;
  }
}

void BusySpans::AddGoroutine(const GoInterval& interval) {
  if (options_.assist) assists_.AddGoroutine(interval);
  // If it crosses into the next part, the event that ends the worker's run is there.
  if (interval.end > last_event_) EndWorker(interval.goroutine, interval.end);
}

void BusySpans::Merge(BusySpans& next) {
  edges_.insert(edges_.end(), next.edges_.begin(), next.edges_.end());
  ranges_.Merge(next.ranges_, InternerMap());
  for (const auto& [goroutine, worker] : next.workers_) {
    workers_.insert_or_assign(goroutine, worker);
  }

  assists_.Merge(next.assists_);
  last_event_ = std::max(last_event_, next.last_event_);
}

// Writes the series of one P, or of all.
class SeriesWriter {
 public:
  void Append(int64_t time, double utilization) {
    if (!points_.empty()) {
      UtilizationPoint& last = points_.back();
      if (last.utilization == utilization) return;
      if (last.time == time) {
        last.utilization = utilization;
        return;
      }
    }
    points_.push_back({time, utilization});
  }

  Series Finish(int64_t end) && {
    if (!points_.empty() && points_.back().time < end) points_.push_back({end, 0});
    return std::move(points_);
  }

 private:
  Series points_;
};

std::vector<Series> BusySpans::MakeSeries(int64_t end) {
  ranges_.Finish(end);
  for (const auto& [goroutine, worker] : workers_) AddSpan(worker.proc, worker.begin, end);
  absl::c_sort(edges_);

  const auto first = absl::c_find_if(edges_, [](const Edge& e) { return e.proc == kGomaxprocs; });
  if (first == edges_.end()) return {};
  const int64_t begin = std::max(first->time, options_.window.from);
  if (begin >= end) return {};
  if (static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) > kMaxDuration) {
    end = begin + static_cast<int64_t>(kMaxDuration);
  }

  std::vector<Series> all;
  std::vector<SeriesWriter> writers;      // With per_proc, one for each existing P; otherwise one.
  std::vector<int64_t> works(kMaxProcs);  // By P: the number of reasons why it works for the GC.
  int64_t stops = 0;
  size_t procs = 0;
  // The series ends when its P no longer exists.
  const auto end_series = [&](size_t size, int64_t time) {
    for (size_t i = size; i < writers.size(); ++i) {
      Series series = std::move(writers[i]).Finish(time);
      if (series.size() > 1) all.push_back(std::move(series));
    }
  };
  const auto append = [&](size_t proc, int64_t time) {
    writers[proc].Append(time, stops > 0 || works[proc] > 0 ? 0 : 1);
  };
  std::vector<size_t> changed;  // The Ps whose work changes.
  for (auto edge = edges_.begin(); edge != edges_.end() && edge->time < end;) {
    bool has_all_changed = false;
    changed.clear();
    const int64_t time = std::max(edge->time, begin);
    for (; edge != edges_.end() && std::max(edge->time, begin) == time; ++edge) {
      if (edge->proc == kGomaxprocs) {
        procs = static_cast<size_t>(edge->change);
      } else if (edge->proc == kWorld) {
        stops += edge->change;
      } else {
        const auto proc = static_cast<size_t>(edge->proc);
        works[proc] += edge->change;
        changed.push_back(proc);
        continue;
      }
      has_all_changed = true;
    }
    if (!options_.per_proc) {
      writers.resize(1);
      const auto busy = std::count_if(works.begin(), works.begin() + static_cast<ptrdiff_t>(procs),
                                      [](int64_t work) { return work > 0; });
      writers[0].Append(time, stops > 0 ? 0 : UtilizationOf(static_cast<size_t>(busy), procs));
    } else if (has_all_changed) {
      end_series(procs, time);
      writers.resize(procs);
      for (size_t proc = 0; proc < procs; ++proc) append(proc, time);
    } else {
      for (const size_t proc : changed) {
        if (proc < procs) append(proc, time);
      }
    }
  }
  end_series(0, end);
  return all;
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
  if (count > kMaxProcs) {
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
    if (duration == 0 || duration > kMaxDuration) return std::nullopt;
  }
  return std::move(series_);
}

}  // namespace

class MutatorUtilization::Impl {
 public:
  explicit Impl(const Options& options) : busy_(options) {}

  void Begin(int64_t /*trace_start*/, EventFilter::Times window) { busy_.CutTo(window); }
  void AddEvents(absl::Span<const Event> events) {
    for (const Event& event : events) busy_.Add(event);
  }

  void AddGoroutine(const GoInterval& interval) { busy_.AddGoroutine(interval); }

  void Merge(Impl& next) { busy_.Merge(next.busy_); }

  void Finish(int64_t end) { series_ = busy_.MakeSeries(end); }

  absl::Span<const Series> series() const { return series_; }

 private:
  BusySpans busy_;
  std::vector<Series> series_;
};

MutatorUtilization::MutatorUtilization(Options options) : impl_(std::make_unique<Impl>(options)) {}
MutatorUtilization::~MutatorUtilization() = default;
void MutatorUtilization::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void MutatorUtilization::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void MutatorUtilization::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void MutatorUtilization::Finish(int64_t end) { impl_->Finish(end); }
void MutatorUtilization::Merge(MutatorUtilization&& next, const InternerMap& /*ids*/) {
  impl_->Merge(*next.impl_);
}
absl::Span<const UtilizationSeries> MutatorUtilization::series() const { return impl_->series(); }

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

namespace {

// A series with the integral of the utilization at each of its points.
class IntegratedSeries {
 public:
  explicit IntegratedSeries(const Series& points) : points_(points) {
    double sum = 0;
    const UtilizationPoint* previous = &points_.front();
    for (const UtilizationPoint& point : points_) {
      sum += previous->utilization * static_cast<double>(point.time - previous->time);
      sums_.push_back(sum);
      previous = &point;
    }
  }

  int64_t begin() const { return points_.front().time; }
  int64_t end() const { return points_.back().time; }

  // Returns the lowest window that begins between `first` and `last`, both included. All such
  // windows must be in the series. The mean utilization is linear in the time of the window, except
  // where one of its edges is at a point. So the minimum is at such a place.
  UtilizationWindow FindLowest(int64_t window, int64_t first, int64_t last) const {
    UtilizationWindow lowest = {first, 1};
    size_t left = FindPoint(first);
    size_t right = FindPoint(first + window);
    for (int64_t time = first;;) {
      const double mean =
          (IntegralAt(right, time + window) - IntegralAt(left, time)) / static_cast<double>(window);
      if (mean < lowest.utilization) lowest = {time, mean};
      if (time == last) return lowest;
      // Neither is the last point, since the window ends before the series does.
      const int64_t to_left = points_[left + 1].time - time;
      const int64_t to_right = points_[right + 1].time - window - time;
      time = std::min(time + std::min(to_left, to_right), last);
      if (points_[left + 1].time <= time) ++left;
      if (points_[right + 1].time <= time + window) ++right;
    }
  }

 private:
  // Returns the index of the last point that is not after `time`.
  size_t FindPoint(int64_t time) const {
    const auto after = std::upper_bound(
        points_.begin(), points_.end(), time,
        [](int64_t value, const UtilizationPoint& point) { return value < point.time; });
    return static_cast<size_t>(after - points_.begin()) - 1;
  }

  // Returns the integral up to `time`. `point` must be FindPoint(time).
  double IntegralAt(size_t point, int64_t time) const {
    return sums_[point] +
           points_[point].utilization * static_cast<double>(time - points_[point].time);
  }

  const Series points_;
  std::vector<double> sums_;
};

}  // namespace

class MmuCurve::Impl {
 public:
  explicit Impl(absl::Span<const UtilizationSeries> series) {
    for (const Series& one : series) {
      if (!one.empty() && one.front().time < one.back().time) series_.emplace_back(one);
    }
  }

  double Mmu(int64_t window) const {
    if (window <= 0) return 0;
    const std::optional<Found> found = FindLowest(window, kMin, kForever);
    return found.has_value() ? found->window.utilization : 1;
  }

  std::vector<UtilizationWindow> Worst(int64_t window, size_t count) const {
    std::vector<UtilizationWindow> worst;
    if (window <= 0) return worst;
    std::vector<Found> found;  // The lowest windows of the remaining times.
    const auto find = [&](int64_t begin, int64_t end) {
      if (std::optional<Found> one = FindLowest(window, begin, end)) found.push_back(*one);
    };
    find(kMin, kForever);
    while (worst.size() < count && !found.empty()) {
      const auto lowest = absl::c_min_element(found);
      const Found taken = *lowest;
      found.erase(lowest);
      worst.push_back(taken.window);
      find(taken.begin, taken.window.time);
      find(taken.window.time + taken.length, taken.end);
    }
    return worst;
  }

 private:
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

  // The lowest window between `begin` and `end`.
  struct Found {
    UtilizationWindow window;
    int64_t length = 0;  // Of the window.
    int64_t begin = 0;
    int64_t end = 0;

    friend bool operator<(const Found& a, const Found& b) {
      return std::pair(a.window.utilization, a.window.time) <
             std::pair(b.window.utilization, b.window.time);
    }
  };

  std::optional<Found> FindLowest(int64_t window, int64_t begin, int64_t end) const {
    std::optional<Found> lowest;
    for (const IntegratedSeries& series : series_) {
      const int64_t length = std::min(window, series.end() - series.begin());
      const int64_t first = std::max(begin, series.begin());
      const int64_t limit = std::min(end, series.end());
      if (first >= limit || limit - first < length) continue;
      const Found found = {series.FindLowest(length, first, limit - length), length, begin, end};
      if (!lowest.has_value() || found < *lowest) lowest = found;
    }
    return lowest;
  }

  std::vector<IntegratedSeries> series_;
};

MmuCurve::MmuCurve(absl::Span<const UtilizationSeries> series)
    : impl_(std::make_unique<const Impl>(series)) {}
MmuCurve::~MmuCurve() = default;
double MmuCurve::Mmu(int64_t window) const { return impl_->Mmu(window); }
std::vector<UtilizationWindow> MmuCurve::Worst(int64_t window, size_t count) const {
  return impl_->Worst(window, count);
}

}  // namespace gotrace
