// A region begins and ends inside intervals of its goroutine, which are known only later, when they
// end. So each begin and end becomes a mark of the goroutine, which waits for the interval that
// contains it; then the goroutine's times up to the mark are known. A region's times are the growth
// of the goroutine's times from its begin to its end: see NestedTimes. Ranges of the runtime are
// known immediately.
//
// In a later part of a trace, a goroutine's times count from the beginning of the part, and marks
// before its first interval wait for the interval that crosses into the part. So until the parts
// are merged, a region that began earlier has all times of its goroutine in this part.
#include "gotrace/task_stats.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/named_times.h"
#include "analysis/core/nested_times.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/interval_times.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/tasks/region_tracker.h"
#include "analysis/tasks/task_table.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace {

using internal::AddStateTime;
using internal::AddTime;
using internal::Between;
using internal::NestedTimes;
using internal::PartialGoroutines;
using internal::RangeTracker;
using internal::RegionRecord;
using internal::RegionTracker;
using internal::RuntimeRange;
using internal::SubtractTime;

namespace {

// A region's begin or end, at which the goroutine's times are not known yet.
struct Mark {
  int64_t time = 0;
  size_t region = 0;  // In Data::regions.
  bool is_end = false;
};

// A complete region.
struct KnownRegion {
  RegionSpan span;
  uint64_t number = 0;       // In order of the first event of each region.
  bool is_outermost = true;  // Of its task, on its goroutine.
};

struct RegionEntry : KnownRegion {
  bool is_joined = false;  // Whether it is the rest of a region in the previous part.
};

// A region whose goroutine's times at its begin are known.
struct BegunRegion {
  size_t region = 0;        // In Data::regions.
  ExecutionTimes at_begin;  // Without names.
};

// A part of a state in which the world was stopped.
struct StopPart {
  int64_t begin = 0;
  int64_t end = 0;
  StringId reason = StringId::kEmpty;
};

// The relevant members of a GoInterval.
struct StateSpan {
  GoState state = GoState::kUndetermined;
  StringId reason = StringId::kEmpty;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t proc_until = 0;

  // The stops in it, in order of time, and the first one that has not ended at the last time that
  // AddStateSpan() was called with; and the sums of those from that one on, so that regions that
  // begin or end in a long run take no longer if it has many stops.
  std::vector<StopPart> stops;
  size_t next_stop = 0;
  NamedTimes rest_of_stops;
};

// Leaves out the stops that have ended at `time`, which is not earlier than in the last call,
// except in a damaged trace.
void SkipStops(int64_t time, StateSpan* state_span) {
  size_t& next = state_span->next_stop;
  for (; next < state_span->stops.size() && state_span->stops[next].end <= time; ++next) {
    const StopPart& stop = state_span->stops[next];
    state_span->rest_of_stops.Add(stop.reason, Between(stop.end, stop.begin));
  }
}

NestedTimes::Differences Listed(const NamedTimes& times) { return {times.begin(), times.size()}; }

// The times by name of a goroutine. Each function does the same for both, with the members of
// ExecutionTimes that have their names.
struct NestedStates {
  NestedTimes blocked;
  NestedTimes stopped;

  void Begin(const ExecutionTimes& differences) {
    blocked.Begin(Listed(differences.blocked));
    stopped.Begin(Listed(differences.stopped));
  }
  void End(const ExecutionTimes& differences, ExecutionTimes* times) {
    times->blocked = blocked.End(Listed(differences.blocked));
    times->stopped = stopped.End(Listed(differences.stopped));
  }
  void All(const ExecutionTimes& differences, ExecutionTimes* times) {
    times->blocked = blocked.All(Listed(differences.blocked));
    times->stopped = stopped.All(Listed(differences.stopped));
  }
  void Append(NestedStates next) {
    blocked.Append(std::move(next.blocked));
    stopped.Append(std::move(next.stopped));
  }
  void MapIds(const InternerMap& ids) {
    blocked.MapIds(ids);
    stopped.MapIds(ids);
  }
};

struct Data {
  int64_t creation = 0;
  std::optional<int64_t> end;  // If it has ended.
  StateSpan last;              // The last interval.
  ExecutionTimes times;        // Up to the end of `last`, without names.
  NestedStates named;          // Likewise. Its spans belong to `begun_regions`.
  NestedTimes ranges;          // Only ended ranges. Its spans belong to `open_regions`.

  std::vector<RegionEntry> regions;    // In the order of their numbers.
  RegionTracker<size_t> open_regions;  // With places in `regions`.

  // The open regions according to the marks for which the times are known. Regions with an early
  // mark are not begun but older.
  std::vector<BegunRegion> begun_regions;
  std::vector<size_t> ended_older_regions;

  // Marks before the first interval, and marks after the last one, in order of time.
  std::vector<Mark> early_marks;
  std::vector<Mark> marks;
};

// Adds the time of `state_span` from `begin` on to `times`, and to the members `blocked` and
// `stopped` of `named`.
template <class Named>
void AddStateSpan(StateSpan& state_span, int64_t begin, ExecutionTimes* times, Named* named) {
  begin = std::max(begin, state_span.begin);
  if (begin >= state_span.end) return;
  const int64_t duration = Between(begin, state_span.end);
  SkipStops(begin, &state_span);
  int64_t stopped = 0;
  const bool has_stops = state_span.next_stop < state_span.stops.size();
  for (const NamedTime& rest : state_span.rest_of_stops) {
    if (!has_stops) break;
    const StopPart& next = state_span.stops[state_span.next_stop];
    int64_t time = rest.time;
    if (next.reason == rest.name) {
      SubtractTime(std::max<int64_t>(Between(next.begin, begin), 0), &time);
    }
    if (time == 0) continue;
    AddTime(time, &stopped);
    named->stopped.Add(rest.name, time);
  }
  if (state_span.state == GoState::kWaiting) named->blocked.Add(state_span.reason, duration);
  const int64_t with_proc = Between(begin, std::max(state_span.proc_until, begin));
  AddStateTime(state_span.state, duration, stopped, with_proc, times);
}

void Subtract(const ExecutionTimes& before, ExecutionTimes* times) {
  SubtractTime(before.running, &times->running);
  SubtractTime(before.runnable, &times->runnable);
  SubtractTime(before.syscall, &times->syscall);
  SubtractTime(before.syscall_blocked, &times->syscall_blocked);
  SubtractTime(before.stopped_running, &times->stopped_running);
  SubtractTime(before.stopped_runnable, &times->stopped_runnable);
  internal::SubtractTimes(before.blocked, &times->blocked);
  internal::SubtractTimes(before.stopped, &times->stopped);
}

// Begins a region at which the goroutine's times, except ranges, are the sum of `data` and `more`.
void BeginStates(size_t region, const ExecutionTimes& more, Data* data) {
  data->named.Begin(more);
  data->begun_regions.push_back({region, data->times});
  ExecutionTimes& at_begin = data->begun_regions.back().at_begin;
  at_begin.Add(more);
  at_begin.blocked = {};
  at_begin.stopped = {};
}

// Ends a region at these times.
void EndStates(size_t region, const ExecutionTimes& more, Data* data) {
  ExecutionTimes times = data->times;
  times.Add(more);
  if (!data->begun_regions.empty() && data->begun_regions.back().region == region) {
    Subtract(data->begun_regions.back().at_begin, &times);
    data->begun_regions.pop_back();
    data->named.End(more, &times);
  } else {
    data->ended_older_regions.push_back(region);
    data->named.All(more, &times);
  }
  ExecutionTimes& all = data->regions[region].span.times;
  times.ranges = std::move(all.ranges);
  all = std::move(times);
}

// Begins or ends the region of a mark. Requires that the times of `data` reach up to `data->last`.
void Resolve(const Mark& mark, Data* data) {
  ExecutionTimes later;
  AddStateSpan(data->last, mark.time, &later, &later);
  ExecutionTimes difference;
  Subtract(later, &difference);
  (mark.is_end ? EndStates : BeginStates)(mark.region, difference, data);
}

// Resolves the marks up to the end of the last interval.
void ResolveKnown(Data* data) {
  size_t resolved = 0;
  for (; resolved < data->marks.size(); ++resolved) {
    if (data->marks[resolved].time > data->last.end) break;
    Resolve(data->marks[resolved], data);
  }
  data->marks.erase(data->marks.begin(), data->marks.begin() + static_cast<ptrdiff_t>(resolved));
}

void MapIds(const InternerMap& ids, ExecutionTimes* times) {
  times->blocked = internal::WithIds(ids, times->blocked);
  times->stopped = internal::WithIds(ids, times->stopped);
  times->ranges = internal::WithIds(ids, times->ranges);
}

void MapIds(const InternerMap& ids, uint64_t first_number, KnownRegion* region) {
  region->number += first_number;
  region->span.type = ids(region->span.type);
  MapIds(ids, &region->span.times);
}

void MapIds(const InternerMap& ids, uint64_t first_number, Data* data) {
  data->last.reason = ids(data->last.reason);
  for (StopPart& stop : data->last.stops) stop.reason = ids(stop.reason);
  data->last.rest_of_stops = internal::WithIds(ids, data->last.rest_of_stops);
  data->named.MapIds(ids);
  data->ranges.MapIds(ids);
  data->open_regions.MapIds(ids);
  for (RegionEntry& region : data->regions) MapIds(ids, first_number, &region);
}

// Adds the rest of a goroutine, from the following part of the trace.
void Continue(PartialGoroutines<Data>::Entry& rest, PartialGoroutines<Data>::Entry& entry) {
  Data& data = entry.data;
  Data& more = rest.data;

  // The times in older regions count from the beginning of the rest.
  std::vector<ExecutionTimes> times_in_older;
  for (const size_t older : more.ended_older_regions) {
    ExecutionTimes& times = more.regions[older].span.times;
    times_in_older.push_back(std::exchange(times, {}));
    times.ranges = std::exchange(times_in_older.back().ranges, {});
  }
  std::vector<size_t> places;  // The new indices of the regions of the rest.
  for (RegionEntry& region : more.regions) {
    places.push_back(data.regions.size());
    RegionEntry& added = data.regions.emplace_back(std::move(region));
    if (added.is_joined) continue;
    if (added.span.begin.has_value()) {
      added.is_outermost = added.is_outermost && !data.open_regions.IsIn(added.span.task);
      continue;
    }
    NamedTimes& ranges = added.span.times.ranges;
    if (data.open_regions.open().empty()) {
      ranges = data.ranges.All(Listed(ranges));
      continue;
    }
    added.is_joined = true;
    places.back() = data.open_regions.EndInnermost(added.span.end).data;
    RegionSpan& begun = data.regions[places.back()].span;
    begun.end = added.span.end;
    begun.times.ranges = data.ranges.End(Listed(ranges));
  }
  data.open_regions.Append(std::move(more.open_regions),
                           [&](size_t region) { return places[region]; });
  data.ranges.Append(std::move(more.ranges));

  const auto append = [&](const std::vector<Mark>& marks) {
    for (Mark mark : marks) {
      mark.region = places[mark.region];
      data.marks.push_back(mark);
    }
  };
  if (!rest.is_seen) {
    append(more.marks);
    if (entry.is_seen) ResolveKnown(&data);
  } else {
    append(more.early_marks);
    std::vector<Mark> marks = std::exchange(data.marks, {});
    if (entry.is_seen) {
      for (const Mark& mark : marks) Resolve(mark, &data);
    } else {
      data.early_marks = std::move(marks);
      data.creation = more.creation;
    }
    for (size_t i = 0; i < times_in_older.size(); ++i) {
      EndStates(places[more.ended_older_regions[i]], times_in_older[i], &data);
    }
    for (BegunRegion& begun : more.begun_regions) {
      begun.region = places[begun.region];
      begun.at_begin.Add(data.times);
      data.begun_regions.push_back(std::move(begun));
    }
    data.times.Add(more.times);
    data.named.Append(std::move(more.named));
    data.last = std::move(more.last);
    append(more.marks);
  }
  if (more.end.has_value()) data.end = more.end;
}

template <class Span>
std::vector<SpanGroup> Group(absl::Span<const Span> spans, const Interner& interner) {
  absl::flat_hash_map<StringId, SpanGroup> by_type;
  for (const Span& span : spans) {
    SpanGroup& group = by_type[span.type];
    group.type = span.type;
    ++group.count;
    group.times.Add(span.times);
    group.no_begin += span.begin.has_value() ? 0 : 1;
    group.no_end += span.end.has_value() ? 0 : 1;
    if (span.begin.has_value() && span.end.has_value()) {
      group.duration.Add(static_cast<uint64_t>(Between(*span.begin, *span.end)));
    } else {
      ++group.open;
    }
  }
  std::vector<SpanGroup> groups;
  for (auto& [type, group] : by_type) groups.push_back(std::move(group));
  absl::c_sort(groups, [&](const SpanGroup& a, const SpanGroup& b) {
    return interner.String(a.type) < interner.String(b.type);
  });
  return groups;
}

}  // namespace

class TaskStats::Impl {
 public:
  Impl(Interner* interner, EventFilter filter)
      : interner_(*interner), filter_(std::move(filter)), tasks_(interner) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    filter_ = filter_.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  std::vector<RegionSpan> regions;
  std::vector<TaskSpan> tasks;

 private:
  using Goroutines = PartialGoroutines<Data>;

  void Add(const Event& event);
  void AddRange(const RuntimeRange& range);
  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);

  // Adds a region that begins, or that ends without a begin. Returns its index.
  size_t AddRegion(const RegionRecord& region, Data* data);

  // Returns the time up to `now` of a range, as far as it is in the window.
  int64_t TimeOf(const RuntimeRange& range, int64_t now) const {
    const int64_t begin = std::max(range.begin, filter_.times.from);
    const int64_t end = std::min(now, filter_.times.to);
    return begin < end ? Between(begin, end) : 0;
  }

  // Returns the times up to `now` of the ranges that a goroutine is in.
  NamedTimes OpenRangesAt(GoId id, int64_t now) const;

  // Takes the regions of a complete goroutine.
  void TakeRegions(Goroutines::Entry& entry);

  Interner& interner_;
  EventFilter filter_;
  uint64_t region_count_ = 0;
  std::vector<KnownRegion> known_regions_;
  std::optional<int64_t> end_;  // Of the trace, once it is known.
  Goroutines goroutines_{[this](Goroutines::Entry& entry) { TakeRegions(entry); }, Continue};
  RangeTracker ranges_{
      &interner_,
      RangeTracker::Crossing::kPieces,
      {EventType::kSTWBegin, EventType::kGCSweepBegin, EventType::kGCMarkAssistBegin},
      [this](const RuntimeRange& range) { AddRange(range); },
      RangeTracker::Details::kNone};
  internal::TaskTable tasks_;
};

void TaskStats::Impl::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) Add(event);
  goroutines_.AddEvents(events);
}

void TaskStats::Impl::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kRegionBegin:
      BeginRegion(event);
      break;
    case EventKind::kRegionEnd:
      EndRegion(event);
      break;
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      tasks_.AddTask(event);
      break;
    case EventKind::kLog:
      tasks_.AddLog(event);
      break;
    default:
      ranges_.Add(event);
      break;
  }
}

void TaskStats::Impl::AddRange(const RuntimeRange& range) {
  if (range.goroutine == GoId::kNone) return;
  goroutines_.Of(range.goroutine).data.ranges.Add(range.name, TimeOf(range, range.end));
}

NamedTimes TaskStats::Impl::OpenRangesAt(GoId id, int64_t now) const {
  NamedTimes ranges;
  ranges_.ForEachOpen(
      id, [&](const RuntimeRange& range) { ranges.Add(range.name, TimeOf(range, now)); });
  return ranges;
}

size_t TaskStats::Impl::AddRegion(const RegionRecord& region, Data* data) {
  RegionEntry& entry = data->regions.emplace_back();
  entry.number = region_count_++;
  entry.span.goroutine = region.goroutine;
  entry.span.task = region.task;
  entry.span.type = region.type;
  entry.span.begin = region.begin;
  entry.is_outermost = region.is_outermost_of_task;
  return data->regions.size() - 1;
}

void TaskStats::Impl::BeginRegion(const Event& event) {
  const GoId id = event.goroutine();
  Data& data = goroutines_.Of(id).data;
  auto& region = data.open_regions.Begin(event, &interner_);
  region.data = AddRegion(region, &data);
  data.ranges.Begin(Listed(OpenRangesAt(id, event.time())));
  data.marks.push_back({event.time(), region.data, /*is_end=*/false});
}

void TaskStats::Impl::EndRegion(const Event& event) {
  const GoId id = event.goroutine();
  Data& data = goroutines_.Of(id).data;
  const auto ended = data.open_regions.End(event, &interner_);
  const bool is_older = !ended.begin.has_value();
  const size_t index = is_older ? AddRegion(ended, &data) : ended.data;
  const NamedTimes open_ranges = OpenRangesAt(id, event.time());
  RegionSpan& region = data.regions[index].span;
  region.end = ended.end;
  region.times.ranges =
      is_older ? data.ranges.All(Listed(open_ranges)) : data.ranges.End(Listed(open_ranges));
  data.marks.push_back({event.time(), index, /*is_end=*/true});
}

void TaskStats::Impl::AddGoroutine(const GoInterval& interval) {
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  Data& data = entry.data;
  if (data.last.state == GoState::kUndetermined) {
    // It is the first one.
    data.creation = interval.begin;
    const auto begin =
        absl::c_find_if(data.marks, [&](const Mark& mark) { return mark.time >= interval.begin; });
    data.early_marks.assign(data.marks.begin(), begin);
    data.marks.erase(data.marks.begin(), begin);
  }
  data.last = {interval.state,
               interval.reason,
               interval.begin,
               interval.end,
               interval.proc_until,
               {},
               0,
               {}};
  interval.ForEachStop([&](int64_t begin, int64_t end, const StopSpan& stop) {
    data.last.stops.push_back({begin, end, stop.reason});
    data.last.rest_of_stops.Add(stop.reason, Between(begin, end));
  });
  AddStateSpan(data.last, interval.begin, &data.times, &data.named);
  if (!data.marks.empty()) ResolveKnown(&data);
  if (interval.ends_life) data.end = interval.end;
  goroutines_.End(interval, entry);
}

void TaskStats::Impl::TakeRegions(Goroutines::Entry& entry) {
  Data& data = entry.data;
  if (data.regions.empty()) return;
  // At early marks the goroutine's times begin. At late ones they end.
  for (const Mark& mark : data.marks)
    (mark.is_end ? EndStates : BeginStates)(mark.region, {}, &data);
  // Open regions end with the goroutine, or with the trace.
  const int64_t end = data.end.value_or(end_.value_or(data.last.end));
  const NamedTimes open_ranges = OpenRangesAt(entry.id, end);
  data.open_regions.EndAll(data.end, [&](const auto& region) {
    RegionSpan& span = data.regions[region.data].span;
    span.end = region.end;
    span.times.ranges = data.ranges.End(Listed(open_ranges));
    EndStates(region.data, {}, &data);
  });
  for (RegionEntry& region : data.regions) {
    if (region.is_joined) continue;
    region.span.times.total =
        Between(std::max(region.span.begin.value_or(data.creation), filter_.times.from),
                std::min(region.span.end.value_or(end), filter_.times.to));
    known_regions_.push_back(std::move(region));
  }
}

void TaskStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  ranges_.Merge(next.ranges_, ids);
  goroutines_.Merge(next.goroutines_, [&](Data* data) { MapIds(ids, region_count_, data); });
  for (KnownRegion& region : next.known_regions_) {
    MapIds(ids, region_count_, &region);
    known_regions_.push_back(std::move(region));
  }
  region_count_ += next.region_count_;
  tasks_.Merge(next.tasks_, ids);
}

void TaskStats::Impl::Finish(int64_t end) {
  end_ = end;
  ranges_.Finish(end);
  goroutines_.Finish();
  std::vector<KnownRegion*> sorted;
  for (KnownRegion& region : known_regions_) sorted.push_back(&region);
  absl::c_sort(sorted,
               [](const KnownRegion* a, const KnownRegion* b) { return a->number < b->number; });
  const auto has_part = [&](const std::optional<int64_t>& begin,
                            const std::optional<int64_t>& end) {
    return begin.value_or(filter_.times.to) <= filter_.times.to &&
           end.value_or(filter_.times.from) >= filter_.times.from;
  };
  std::vector<KnownRegion*> selected;
  for (KnownRegion* const region : sorted) {
    RegionSpan& span = region->span;
    tasks_.AddRegion(span.task);
    tasks_.AddGoroutine(span.task, span.goroutine);
    if (!filter_.Selects(span.goroutine) || !has_part(span.begin, span.end)) continue;
    // Parts of the trace may have added them in another order.
    internal::SortByName(interner_, &span.times.ranges);
    internal::SortByName(interner_, &span.times.stopped);
    if (region->is_outermost) tasks_.Mention(span.task).times.Add(span.times);
    selected.push_back(region);
  }
  absl::c_stable_sort(selected, [](const KnownRegion* a, const KnownRegion* b) {
    const std::optional<int64_t>& end = a->span.end;
    return end.has_value() && (!b->span.end.has_value() || *end < *b->span.end);
  });
  regions.reserve(selected.size());
  for (KnownRegion* const region : selected) regions.push_back(std::move(region->span));
  known_regions_.clear();
  for (TaskSpan& task : tasks_.Take()) {
    // Everything without a task belongs to the background task.
    if (task.task == kBackgroundTask || !has_part(task.begin, task.end)) continue;
    tasks.push_back(std::move(task));
  }
}

TaskStats::TaskStats(Interner* interner, EventFilter filter)
    : impl_(std::make_unique<Impl>(interner, std::move(filter))) {}
TaskStats::~TaskStats() = default;

void TaskStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void TaskStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void TaskStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void TaskStats::Merge(TaskStats&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
void TaskStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const RegionSpan> TaskStats::regions() const { return impl_->regions; }
absl::Span<const TaskSpan> TaskStats::tasks() const { return impl_->tasks; }

std::vector<SpanGroup> GroupByType(absl::Span<const RegionSpan> regions, const Interner& interner) {
  return Group(regions, interner);
}
std::vector<SpanGroup> GroupByType(absl::Span<const TaskSpan> tasks, const Interner& interner) {
  return Group(tasks, interner);
}

}  // namespace gotrace
