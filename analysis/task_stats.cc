// A region begins and ends while its goroutine is in a state, and the interval of that state is
// known only later, when it ends. So each begin and end is a mark of the goroutine, which waits for
// the interval that it lies in; then the goroutine's times up to the mark are known. A region's own
// times are the difference of those at its end and at its begin.
//
// In a part of a trace that follows another, a goroutine's times count from the beginning of that
// part, and marks before its first interval wait for the interval that crosses into the part.
#include "gotrace/task_stats.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/goroutine_ranges.h"
#include "analysis/named_times.h"
#include "analysis/partial_goroutines.h"
#include "analysis/task_table.h"
#include "analysis/time_sums.h"
#include "gotrace/event_kind.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::GoroutineRanges;
using internal::PartialGoroutines;
using internal::SubtractTime;

namespace {

// A region's begin or end, of which the goroutine's times are not known yet.
struct Mark {
  int64_t time = 0;
  size_t region = 0;  // In Data::regions.
  bool is_end = false;
};

// A region of which everything is known.
struct KnownRegion {
  RegionLife life;
  uint64_t number = 0;       // In order of what the trace first has of each region.
  bool is_outermost = true;  // Of its task, on its goroutine.
};

struct RegionEntry : KnownRegion {
  ExecutionTimes at_begin;  // The goroutine's times when it began, and when it ended.
  ExecutionTimes at_end;
  bool is_joined = false;  // It is the rest of one that is in the part before.
};

// What counts of a GoInterval.
struct Stay {
  GoState state = GoState::kUndetermined;
  StringId reason = StringId::kEmpty;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t proc_until = 0;
};

struct Data {
  int64_t creation = 0;
  std::optional<int64_t> end;  // If it has ended.
  Stay last;                   // The last interval.
  ExecutionTimes times;        // Up to the end of it, without `ranges`.
  NamedTimes ranges;           // That ended.

  std::vector<RegionEntry> regions;   // In the order of their numbers.
  std::vector<size_t> open_regions;   // From the outermost on.
  std::vector<size_t> older_regions;  // That began before this part, in order of their ends.

  // In order of time: those that lie before the first interval, and those after the last one.
  std::vector<Mark> early_marks;
  std::vector<Mark> marks;
};

// Adds the time of the stay from `begin` on.
void AddStay(const Stay& stay, int64_t begin, ExecutionTimes* times) {
  begin = std::max(begin, stay.begin);
  if (begin >= stay.end) return;
  const int64_t duration = Between(begin, stay.end);
  switch (stay.state) {
    case GoState::kRunning:
      AddTime(duration, &times->running);
      break;
    case GoState::kRunnable:
      AddTime(duration, &times->runnable);
      break;
    case GoState::kWaiting:
      times->blocked.Add(stay.reason, duration);
      break;
    case GoState::kSyscall: {
      const int64_t with_proc = Between(begin, std::max(stay.proc_until, begin));
      AddTime(with_proc, &times->syscall);
      AddTime(Between(with_proc, duration), &times->syscall_blocked);
      break;
    }
    default:
      break;
  }
}

void Subtract(const ExecutionTimes& before, ExecutionTimes* times) {
  SubtractTime(before.running, &times->running);
  SubtractTime(before.runnable, &times->runnable);
  SubtractTime(before.syscall, &times->syscall);
  SubtractTime(before.syscall_blocked, &times->syscall_blocked);
  for (auto names : {&ExecutionTimes::blocked, &ExecutionTimes::ranges}) {
    internal::SubtractTimes(before.*names, &(times->*names));
    internal::DropZeros(&(times->*names));
  }
}

// Sets the goroutine's times at a begin or end, but for the ranges, which are known already.
void SetStates(ExecutionTimes states, ExecutionTimes* times) {
  states.ranges = std::move(times->ranges);
  *times = std::move(states);
}

ExecutionTimes* TimesOf(const Mark& mark, Data* data) {
  RegionEntry& region = data->regions[mark.region];
  return mark.is_end ? &region.at_end : &region.at_begin;
}

// Takes that the times of `data` are those up to `data->last`, and gives the mark its times.
void Resolve(const Mark& mark, Data* data) {
  ExecutionTimes times = data->times;
  ExecutionTimes later;
  AddStay(data->last, mark.time, &later);
  Subtract(later, &times);
  SetStates(std::move(times), TimesOf(mark, data));
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
  times->ranges = internal::WithIds(ids, times->ranges);
}

void MapIds(const InternerMap& ids, uint64_t first_number, KnownRegion* region) {
  region->number += first_number;
  region->life.type = ids(region->life.type);
  MapIds(ids, &region->life.times);
}

void MapIds(const InternerMap& ids, uint64_t first_number, Data* data) {
  data->last.reason = ids(data->last.reason);
  MapIds(ids, &data->times);
  data->ranges = internal::WithIds(ids, data->ranges);
  for (RegionEntry& region : data->regions) {
    MapIds(ids, first_number, static_cast<KnownRegion*>(&region));
    MapIds(ids, &region.at_begin);
    MapIds(ids, &region.at_end);
  }
}

ExecutionTimes Sum(ExecutionTimes a, const ExecutionTimes& b) {
  a.Add(b);
  return a;
}

// Of the regions of a goroutine. One that is older than the trace contains no other.
void FindOutermost(std::vector<RegionEntry>* regions) {
  if (regions->size() == 1) return;
  std::vector<const RegionLife*> open;
  absl::flat_hash_map<TaskId, uint64_t> open_of_task;
  for (RegionEntry& region : *regions) {
    if (region.is_joined || !region.life.begin.has_value()) continue;
    while (!open.empty() && open.back()->end.has_value() &&
           *open.back()->end <= *region.life.begin) {
      --open_of_task[open.back()->task];
      open.pop_back();
    }
    region.is_outermost = open_of_task[region.life.task]++ == 0;
    open.push_back(&region.life);
  }
}

// Adds the rest of a goroutine, from the part of the trace that follows.
void Continue(PartialGoroutines<Data>::Entry& rest, PartialGoroutines<Data>::Entry& entry) {
  Data& data = entry.data;
  Data& more = rest.data;

  // What is known of the regions of the rest counts from its beginning.
  ExecutionTimes before = data.times;
  before.ranges = data.ranges;
  std::vector<size_t> places;  // Where these regions are now.
  for (RegionEntry& region : more.regions) {
    if (region.life.begin.has_value()) region.at_begin = Sum(before, region.at_begin);
    region.at_end = Sum(before, region.at_end);
    places.push_back(data.regions.size());
    data.regions.push_back(std::move(region));
  }
  for (const size_t older : more.older_regions) {
    size_t& place = places[older];
    if (data.open_regions.empty()) {
      data.older_regions.push_back(place);
      continue;
    }
    RegionEntry& end = data.regions[place];
    end.is_joined = true;
    place = data.open_regions.back();
    data.open_regions.pop_back();
    data.regions[place].life.end = end.life.end;
    data.regions[place].at_end = std::move(end.at_end);
  }
  for (const size_t open : more.open_regions) data.open_regions.push_back(places[open]);

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
    data.last = more.last;
    append(more.marks);
  }
  data.times.Add(more.times);
  for (const NamedTime& range : more.ranges) data.ranges.Add(range.name, range.time);
  if (more.end.has_value()) data.end = more.end;
}

template <class Life>
std::vector<SpanGroup> Group(absl::Span<const Life> lives, const Interner& interner) {
  absl::flat_hash_map<StringId, SpanGroup> by_type;
  for (const Life& life : lives) {
    SpanGroup& group = by_type[life.type];
    group.type = life.type;
    ++group.count;
    group.times.Add(life.times);
    if (life.begin.has_value() && life.end.has_value()) {
      group.duration.Add(static_cast<uint64_t>(Between(*life.begin, *life.end)));
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

  std::vector<RegionLife> regions;
  std::vector<TaskLife> tasks;

 private:
  using Goroutines = PartialGoroutines<Data>;

  void Add(const Event& event);
  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);

  // Adds the region of a begin, or of an end that has none. Returns its index.
  size_t AddRegion(const Event& event, Data* data);

  // The ranges of a goroutine up to now.
  NamedTimes RangesAt(GoId id, int64_t now, const Data& data) const;

  // Takes the regions of a goroutine of which everything is known.
  void TakeRegions(Goroutines::Entry& entry);

  Interner& interner_;
  EventFilter filter_;
  uint64_t region_count_ = 0;
  std::vector<KnownRegion> known_regions_;
  std::optional<int64_t> end_;  // Of the trace, once it is known.
  Goroutines goroutines_{[this](Goroutines::Entry& entry) { TakeRegions(entry); }, Continue};
  GoroutineRanges ranges_{&interner_,
                          [this](GoId goroutine, StringId name, int64_t begin, int64_t end) {
                            goroutines_.Of(goroutine).data.ranges.Add(name, Between(begin, end));
                          }};
  internal::TaskTable tasks_;
};

void TaskStats::Impl::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) Add(event);
  goroutines_.SeeEvents(events);
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

NamedTimes TaskStats::Impl::RangesAt(GoId id, int64_t now, const Data& data) const {
  NamedTimes ranges = data.ranges;
  ranges_.ForEachOpen(id,
                      [&](StringId name, int64_t begin) { ranges.Add(name, Between(begin, now)); });
  return ranges;
}

size_t TaskStats::Impl::AddRegion(const Event& event, Data* data) {
  const Region region = event.region();
  RegionEntry& entry = data->regions.emplace_back();
  entry.number = region_count_++;
  entry.life.goroutine = event.goroutine();
  entry.life.task = region.task;
  entry.life.type = interner_.InternString(region.type);
  return data->regions.size() - 1;
}

void TaskStats::Impl::BeginRegion(const Event& event) {
  const GoId id = event.goroutine();
  Data& data = goroutines_.Of(id).data;
  const size_t index = AddRegion(event, &data);
  RegionEntry& region = data.regions[index];
  region.life.begin = event.time();
  region.at_begin.ranges = RangesAt(id, event.time(), data);
  data.open_regions.push_back(index);
  data.marks.push_back({event.time(), index, /*is_end=*/false});
}

void TaskStats::Impl::EndRegion(const Event& event) {
  const GoId id = event.goroutine();
  Data& data = goroutines_.Of(id).data;
  size_t index;
  if (data.open_regions.empty()) {
    index = AddRegion(event, &data);
    data.older_regions.push_back(index);
  } else {
    index = data.open_regions.back();
    data.open_regions.pop_back();
  }
  RegionEntry& region = data.regions[index];
  region.life.end = event.time();
  region.at_end.ranges = RangesAt(id, event.time(), data);
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
  data.last = {interval.state, interval.reason, interval.begin, interval.end, interval.proc_until};
  AddStay(data.last, interval.begin, &data.times);
  if (!data.marks.empty()) ResolveKnown(&data);
  if (interval.ends_life) data.end = interval.end;
  goroutines_.End(interval, entry);
}

void TaskStats::Impl::TakeRegions(Goroutines::Entry& entry) {
  Data& data = entry.data;
  if (data.regions.empty()) return;
  for (const Mark& mark : data.early_marks) SetStates({}, TimesOf(mark, &data));
  for (const Mark& mark : data.marks) SetStates(data.times, TimesOf(mark, &data));
  // What is open ends with the goroutine, or with the trace.
  const int64_t end = data.end.value_or(end_.value_or(data.last.end));
  for (const size_t open : data.open_regions) {
    RegionEntry& region = data.regions[open];
    region.life.end = data.end;
    region.at_end = data.times;
    region.at_end.ranges = RangesAt(entry.id, end, data);
  }
  FindOutermost(&data.regions);
  for (RegionEntry& region : data.regions) {
    if (region.is_joined) continue;
    ExecutionTimes& times = region.life.times;
    times = std::move(region.at_end);
    Subtract(region.at_begin, &times);
    times.total = Between(std::max(region.life.begin.value_or(data.creation), filter_.times.from),
                          std::min(region.life.end.value_or(end), filter_.times.to));
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
    RegionLife& life = region->life;
    tasks_.AddRegion(life.task);
    tasks_.AddGoroutine(life.task, life.goroutine);
    if (!filter_.Selects(life.goroutine) || !has_part(life.begin, life.end)) continue;
    // Parts of the trace may have met them in another order.
    internal::SortByName(interner_, &life.times.ranges);
    if (region->is_outermost) tasks_.Mention(life.task).times.Add(life.times);
    selected.push_back(region);
  }
  absl::c_stable_sort(selected, [](const KnownRegion* a, const KnownRegion* b) {
    const std::optional<int64_t>& end = a->life.end;
    return end.has_value() && (!b->life.end.has_value() || *end < *b->life.end);
  });
  regions.reserve(selected.size());
  for (KnownRegion* const region : selected) regions.push_back(std::move(region->life));
  known_regions_.clear();
  for (TaskLife& task : tasks_.Take()) {
    // What belongs to no task belongs to the background task.
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
void TaskStats::Merge(IntervalConsumer&& next, const InternerMap& ids) {
  impl_->Merge(*static_cast<TaskStats&>(next).impl_, ids);
}
void TaskStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const RegionLife> TaskStats::regions() const { return impl_->regions; }
absl::Span<const TaskLife> TaskStats::tasks() const { return impl_->tasks; }

std::vector<SpanGroup> GroupByType(absl::Span<const RegionLife> regions, const Interner& interner) {
  return Group(regions, interner);
}
std::vector<SpanGroup> GroupByType(absl::Span<const TaskLife> tasks, const Interner& interner) {
  return Group(tasks, interner);
}

}  // namespace gotrace
