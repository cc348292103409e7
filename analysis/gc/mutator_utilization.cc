// The utilization is made from the spans of time in which each P works for the GC. Sweeps, stops of
// the world and the runs of mark workers come from events. The times when a goroutine ran during a
// mark assist, and its P, come from its intervals, which also cover the time before its first
// event.
#include "gotrace/mutator_utilization.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/gc/utilization_rules.h"
#include "analysis/intervals/assist_parts.h"
#include "analysis/intervals/range_tracker.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace {
namespace {

using Options = MutatorUtilization::Options;
using Series = UtilizationSeries;
using internal::IsGcStop;
using internal::IsWorker;
using internal::kMaxUtilizationDuration;
using internal::kMaxUtilizationProcs;
using internal::RangeTracker;
using internal::RuntimeRange;
using internal::UtilizationOf;

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
    if (static_cast<uint64_t>(proc) < kMaxUtilizationProcs) AddEdges(proc, begin, end);
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
      if (const uint64_t procs = event.metric().value; procs > 0 && procs <= kMaxUtilizationProcs) {
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
  if (static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) > kMaxUtilizationDuration) {
    end = begin + static_cast<int64_t>(kMaxUtilizationDuration);
  }

  std::vector<Series> all;
  std::vector<SeriesWriter> writers;  // With per_proc, one for each existing P; otherwise one.
  std::vector<int64_t> works(
      kMaxUtilizationProcs);  // By P: the number of reasons why it works for the GC.
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

}  // namespace gotrace
