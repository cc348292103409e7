// A region begins and ends while its goroutine is in a state, and the interval of that state is
// known only later, when it ends. So each begin and end is a mark of the goroutine, which waits for
// the interval that it lies in; then the goroutine's times up to the mark are known.
#include "gotrace/task_stats.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/task_table.h"
#include "analysis/time_sums.h"
#include "gotrace/event_kind.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::SubtractTime;
namespace {

// A region's begin or end, of which the goroutine's times are not known yet.
struct Mark {
  int64_t time = 0;
  size_t region = 0;
  bool is_end = false;
};

struct Goroutine {
  int64_t creation = 0;
  bool is_seen = false;  // Whether there was an interval.
  ExecutionTimes times;  // Up to the end of the last interval, without `ranges`.

  NamedTimes ranges;                 // That ended.
  NamedTimes open_ranges;            // When they began.
  std::vector<size_t> open_regions;  // From the outermost on.
  std::vector<Mark> marks;           // In order of time.
};

struct RegionEntry {
  RegionLife life;
  ExecutionTimes before;     // The goroutine's times when it began.
  bool is_outermost = true;  // Of its task, on its goroutine.
  bool is_selected = true;
};

void AddInterval(const GoInterval& interval, int64_t until, ExecutionTimes* times) {
  const int64_t end = std::min(interval.end, until);
  if (end <= interval.begin) return;
  const int64_t duration = Between(interval.begin, end);
  switch (interval.state) {
    case GoState::kRunning:
      AddTime(duration, &times->running);
      break;
    case GoState::kRunnable:
      AddTime(duration, &times->runnable);
      break;
    case GoState::kWaiting:
      AddNamedTime(interval.reason, duration, &times->blocked);
      break;
    case GoState::kSyscall: {
      const int64_t with_proc = Between(interval.begin, std::min(interval.proc_until, end));
      AddTime(with_proc, &times->syscall);
      AddTime(Between(with_proc, duration), &times->syscall_blocked);
      break;
    }
    default:
      break;
  }
}

void Subtract(const NamedTimes& before, NamedTimes* times) {
  for (const NamedTime& time : before) AddNamedTime(time.name, Between(time.time, 0), times);
  const auto is_zero = [](const NamedTime& time) { return time.time == 0; };
  times->erase(std::remove_if(times->begin(), times->end(), is_zero), times->end());
}

void Subtract(const ExecutionTimes& before, ExecutionTimes* times) {
  SubtractTime(before.running, &times->running);
  SubtractTime(before.runnable, &times->runnable);
  SubtractTime(before.syscall, &times->syscall);
  SubtractTime(before.syscall_blocked, &times->syscall_blocked);
  Subtract(before.blocked, &times->blocked);
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

  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);
  void Finish(int64_t end);

  std::vector<RegionLife> regions;
  std::vector<TaskLife> tasks;

 private:
  void AddRange(const Event& event);
  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);

  // Adds the region of a begin, or of an end that has none. Returns its index.
  size_t AddRegion(const Event& event);

  // Gives the marks up to the end of the interval their times.
  void ResolveMarks(const GoInterval& interval, Goroutine* goroutine);

  // Sets the times of a region that ends at `end`, when the goroutine's times are `times`.
  void SetTimes(ExecutionTimes times, int64_t end, const Goroutine& goroutine,
                RegionEntry* region) const;

  // Sets the times of a region that is still open when its goroutine ends, or the trace.
  void Close(size_t region, int64_t end, Goroutine* goroutine);

  // Takes the ranges of the goroutine at the region's begin, or at its end.
  void MarkRanges(const Goroutine& goroutine, int64_t now, bool is_end, RegionEntry* region) const;

  Interner& interner_;
  const EventFilter filter_;
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
  absl::flat_hash_map<std::pair<ProcId, StringId>, GoId> proc_ranges_;
  std::vector<RegionEntry> regions_;
  internal::TaskTable tasks_;
  int64_t generation_begin_ = 0;
};

void TaskStats::Impl::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kSync:
      generation_begin_ = event.time();
      break;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      AddRange(event);
      break;
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
      break;
  }
}

void TaskStats::Impl::AddRange(const Event& event) {
  const RangeParts range = event.range_parts();
  GoId id;
  const StringId name = interner_.InternRange(range);
  const bool is_end = event.kind() == EventKind::kRangeEnd;
  if (range.scope.kind == ResourceKind::kGoroutine) {
    id = GoId{range.scope.id};
  } else if (range.scope.kind == ResourceKind::kProc) {
    // It is the time of the goroutine that the P runs when it begins.
    const std::pair key(ProcId{range.scope.id}, name);
    const auto open = proc_ranges_.find(key);
    id = is_end && open != proc_ranges_.end() ? open->second : event.goroutine();
    if (is_end) {
      proc_ranges_.erase(key);
    } else if (open == proc_ranges_.end()) {
      proc_ranges_.emplace(key, id);
    }
  }
  if (id == GoId::kNone) return;
  Goroutine& goroutine = goroutines_[id];
  const auto open = absl::c_find_if(goroutine.open_ranges,
                                    [&](const NamedTime& known) { return known.name == name; });
  if (is_end) {
    if (open == goroutine.open_ranges.end()) return;
    AddNamedTime(name, Between(open->time, event.time()), &goroutine.ranges);
    goroutine.open_ranges.erase(open);
  } else if (event.kind() == EventKind::kRangeBegin) {
    if (open != goroutine.open_ranges.end()) goroutine.open_ranges.erase(open);
    goroutine.open_ranges.push_back({name, event.time()});
  } else if (open == goroutine.open_ranges.end()) {
    goroutine.open_ranges.push_back({name, generation_begin_});
  }
}

void TaskStats::Impl::MarkRanges(const Goroutine& goroutine, int64_t now, bool is_end,
                                 RegionEntry* region) const {
  NamedTimes ranges = goroutine.ranges;
  for (const NamedTime& open : goroutine.open_ranges) {
    AddNamedTime(open.name, Between(open.time, now), &ranges);
  }
  if (is_end) {
    Subtract(region->before.ranges, &ranges);
    region->life.times.ranges = std::move(ranges);
  } else {
    region->before.ranges = std::move(ranges);
  }
}

size_t TaskStats::Impl::AddRegion(const Event& event) {
  const Region region = event.region();
  tasks_.AddRegion(region.task);
  tasks_.AddGoroutine(region.task, event.goroutine());
  RegionEntry& entry = regions_.emplace_back();
  entry.life.goroutine = event.goroutine();
  entry.life.task = region.task;
  entry.life.type = interner_.InternString(region.type);
  entry.is_selected = filter_.Selects(event.goroutine());
  return regions_.size() - 1;
}

void TaskStats::Impl::BeginRegion(const Event& event) {
  Goroutine& goroutine = goroutines_[event.goroutine()];
  const size_t index = AddRegion(event);
  RegionEntry& entry = regions_[index];
  entry.life.begin = event.time();
  entry.is_outermost = absl::c_none_of(goroutine.open_regions, [&](size_t open) {
    return regions_[open].life.task == entry.life.task;
  });
  MarkRanges(goroutine, event.time(), /*is_end=*/false, &entry);
  goroutine.open_regions.push_back(index);
  goroutine.marks.push_back({event.time(), index, /*is_end=*/false});
}

void TaskStats::Impl::EndRegion(const Event& event) {
  Goroutine& goroutine = goroutines_[event.goroutine()];
  size_t index;
  if (goroutine.open_regions.empty()) {
    index = AddRegion(event);  // It began before the trace.
  } else {
    index = goroutine.open_regions.back();
    goroutine.open_regions.pop_back();
  }
  RegionEntry& entry = regions_[index];
  entry.life.end = event.time();
  MarkRanges(goroutine, event.time(), /*is_end=*/true, &entry);
  goroutine.marks.push_back({event.time(), index, /*is_end=*/true});
}

void TaskStats::Impl::ResolveMarks(const GoInterval& interval, Goroutine* goroutine) {
  size_t resolved = 0;
  for (; resolved < goroutine->marks.size(); ++resolved) {
    const Mark& mark = goroutine->marks[resolved];
    if (mark.time > interval.end) break;
    RegionEntry& region = regions_[mark.region];
    ExecutionTimes times = goroutine->times;
    AddInterval(interval, mark.time, &times);
    if (mark.is_end) {
      SetTimes(std::move(times), mark.time, *goroutine, &region);
    } else {
      times.ranges = std::move(region.before.ranges);
      region.before = std::move(times);
    }
  }
  goroutine->marks.erase(goroutine->marks.begin(),
                         goroutine->marks.begin() + static_cast<ptrdiff_t>(resolved));
}

void TaskStats::Impl::SetTimes(ExecutionTimes times, int64_t end, const Goroutine& goroutine,
                               RegionEntry* region) const {
  times.ranges = std::move(region->life.times.ranges);
  Subtract(region->before, &times);
  const int64_t begin = region->life.begin.value_or(goroutine.creation);
  times.total = Between(std::max(begin, filter_.times.from), std::min(end, filter_.times.to));
  region->life.times = std::move(times);
}

void TaskStats::Impl::AddGoroutine(const GoInterval& interval) {
  Goroutine& goroutine = goroutines_[interval.goroutine];
  if (!goroutine.is_seen) {
    goroutine.is_seen = true;
    goroutine.creation = interval.begin;
  }
  ResolveMarks(interval, &goroutine);
  AddInterval(interval, interval.end, &goroutine.times);
  if (!interval.ends_life) return;
  for (const size_t region : goroutine.open_regions) {
    regions_[region].life.end = interval.end;
    Close(region, interval.end, &goroutine);
  }
  goroutines_.erase(interval.goroutine);
}

void TaskStats::Impl::Close(size_t region, int64_t end, Goroutine* goroutine) {
  MarkRanges(*goroutine, end, /*is_end=*/true, &regions_[region]);
  SetTimes(goroutine->times, end, *goroutine, &regions_[region]);
}

void TaskStats::Impl::Finish(int64_t end) {
  for (auto& [id, goroutine] : goroutines_) {
    GoInterval none;
    none.begin = none.end = std::numeric_limits<int64_t>::max();
    ResolveMarks(none, &goroutine);
    for (const size_t region : goroutine.open_regions) Close(region, end, &goroutine);
  }
  const auto has_part = [&](const std::optional<int64_t>& begin,
                            const std::optional<int64_t>& end) {
    return begin.value_or(filter_.times.to) <= filter_.times.to &&
           end.value_or(filter_.times.from) >= filter_.times.from;
  };
  for (RegionEntry& region : regions_) {
    if (!region.is_selected || !has_part(region.life.begin, region.life.end)) continue;
    if (region.is_outermost) tasks_.Mention(region.life.task).times.Add(region.life.times);
    regions.push_back(std::move(region.life));
  }
  absl::c_stable_sort(regions, [](const RegionLife& a, const RegionLife& b) {
    return a.end.has_value() && (!b.end.has_value() || *a.end < *b.end);
  });
  for (TaskLife& task : tasks_.Take()) {
    // What belongs to no task belongs to the background task.
    if (task.task == kBackgroundTask || !has_part(task.begin, task.end)) continue;
    tasks.push_back(std::move(task));
  }
}

TaskStats::TaskStats(Interner* interner, EventFilter filter)
    : impl_(std::make_unique<Impl>(interner, std::move(filter))) {}
TaskStats::~TaskStats() = default;

void TaskStats::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}
void TaskStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void TaskStats::Merge(IntervalConsumer&& /*next*/, const InternerMap& /*ids*/) {}
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
