// The state intervals of a goroutine add up to its ExecutionTimes; ranges come from events.
#include "gotrace/goroutine_stats.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/named_times.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/interval_times.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/event_type.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::PartialGoroutines;
using internal::RangeTracker;
using internal::RuntimeRange;
using internal::StartFunction;
using internal::SubtractTime;

struct NamedTimes::Index {
  absl::flat_hash_map<StringId, size_t> places;  // In `times_`.
};

NamedTimes::NamedTimes() = default;
NamedTimes::NamedTimes(std::vector<NamedTime> times) : times_(std::move(times)) {}
NamedTimes::NamedTimes(const NamedTimes& other) : times_(other.times_) {}
NamedTimes& NamedTimes::operator=(const NamedTimes& other) { return *this = NamedTimes(other); }
NamedTimes::NamedTimes(NamedTimes&&) noexcept = default;
NamedTimes& NamedTimes::operator=(NamedTimes&&) noexcept = default;
NamedTimes::~NamedTimes() = default;

size_t NamedTimes::Find(StringId name) {
  // Programs have few names, for which a linear search is faster.
  constexpr size_t kMaxSearched = 16;
  if (times_.size() <= kMaxSearched) {
    const auto is_it = [&](const NamedTime& time) { return time.name == name; };
    return static_cast<size_t>(absl::c_find_if(times_, is_it) - times_.begin());
  }
  if (index_ == nullptr) {
    index_ = std::make_unique<Index>();
    for (size_t i = 0; i < times_.size(); ++i) index_->places.emplace(times_[i].name, i);
  }
  // The caller is about to add the name there.
  return index_->places.try_emplace(name, times_.size()).first->second;
}

void NamedTimes::Add(StringId name, int64_t time) {
  const size_t place = Find(name);
  if (place == times_.size()) times_.push_back({name, 0});
  AddTime(time, &times_[place].time);
}

int64_t ExecutionTimes::BlockedTotal() const {
  int64_t sum = 0;
  for (const NamedTime& reason : blocked) AddTime(reason.time, &sum);
  return sum;
}

int64_t ExecutionTimes::StoppedTotal() const {
  int64_t sum = stopped_running;
  AddTime(stopped_runnable, &sum);
  return sum;
}

int64_t ExecutionTimes::RunningWithStops() const {
  int64_t sum = running;
  AddTime(stopped_running, &sum);
  return sum;
}

int64_t ExecutionTimes::RunnableWithStops() const {
  int64_t sum = runnable;
  AddTime(stopped_runnable, &sum);
  return sum;
}

int64_t ExecutionTimes::Unknown() const {
  int64_t unknown = total;
  for (const int64_t known :
       {RunningWithStops(), RunnableWithStops(), syscall, syscall_blocked, BlockedTotal()}) {
    SubtractTime(known, &unknown);
  }
  return std::max<int64_t>(unknown, 0);
}

void ExecutionTimes::Add(const ExecutionTimes& other) {
  AddTime(other.total, &total);
  AddTime(other.running, &running);
  AddTime(other.runnable, &runnable);
  AddTime(other.syscall, &syscall);
  AddTime(other.syscall_blocked, &syscall_blocked);
  AddTime(other.stopped_running, &stopped_running);
  AddTime(other.stopped_runnable, &stopped_runnable);
  for (const NamedTime& reason : other.blocked) blocked.Add(reason.name, reason.time);
  for (const NamedTime& reason : other.stopped) stopped.Add(reason.name, reason.time);
  for (const NamedTime& range : other.ranges) ranges.Add(range.name, range.time);
}

void GoroutineGroup::Add(const ExecutionTimes& one) {
  ++count;
  times.Add(one);
  total.Add(static_cast<uint64_t>(one.total));
  running.Add(static_cast<uint64_t>(one.running));
  runnable.Add(static_cast<uint64_t>(one.runnable));
  blocked.Add(static_cast<uint64_t>(one.BlockedTotal()));
  syscall.Add(static_cast<uint64_t>(one.syscall) + static_cast<uint64_t>(one.syscall_blocked));
}

void GoroutineGroup::Merge(const GoroutineGroup& other) {
  count += other.count;
  times.Add(other.times);
  total.Merge(other.total);
  running.Merge(other.running);
  runnable.Merge(other.runnable);
  blocked.Merge(other.blocked);
  syscall.Merge(other.syscall);
}

namespace {

void MapIds(const InternerMap& ids, ExecutionTimes* times) {
  times->blocked = internal::WithIds(ids, times->blocked);
  times->stopped = internal::WithIds(ids, times->stopped);
  times->ranges = internal::WithIds(ids, times->ranges);
}

}  // namespace

class GoroutineStats::Impl {
 public:
  Impl(Interner* interner, Options options) : interner_(*interner), options_(std::move(options)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const GoroutineSpan> goroutines() const { return spans_; }
  absl::Span<const GoroutineGroup> groups() const { return groups_; }

 private:
  struct Data {
    GoroutineSpan span;   // Without its name.
    StartFunction start;  // That is the name.
    int64_t last = 0;     // The end of the last interval.
  };
  using Goroutines = PartialGoroutines<Data>;

  using Key = std::tuple<StringId, StringId, StringId, uint64_t>;

  void AddRange(const RuntimeRange& range);

  // Returns the group of a goroutine, and a group with such a key.
  GoroutineGroup& GroupOf(const GoroutineSpan& span);
  GoroutineGroup& GroupWith(const GoroutineGroup& key);

  // Adds a goroutine whose span is complete.
  void Keep(const Goroutines::Entry& entry);

  // Adds the rest of a goroutine's span, from the following part of the trace.
  static void Continue(Goroutines::Entry& rest, Goroutines::Entry& entry);

  Interner& interner_;
  Options options_;
  internal::StackPlaces places_{&interner_};
  internal::SelectedNames starts_{&interner_, options_.start, internal::SelectedNames::Of::kWhole};

  Goroutines goroutines_{[this](Goroutines::Entry& entry) { Keep(entry); }, Continue};

  RangeTracker ranges_{
      &interner_,
      RangeTracker::Crossing::kPieces,
      {EventType::kSTWBegin, EventType::kGCSweepBegin, EventType::kGCMarkAssistBegin},
      [this](const RuntimeRange& range) { AddRange(range); },
      RangeTracker::Details::kNone};

  std::vector<GoroutineSpan> spans_;
  absl::flat_hash_map<Key, GoroutineGroup> groups_by_key_;
  std::vector<GoroutineGroup> groups_;
};

void GoroutineStats::Impl::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) ranges_.Add(event);
  goroutines_.AddEvents(events);
}

void GoroutineStats::Impl::AddRange(const RuntimeRange& range) {
  const int64_t begin = std::max(range.begin, options_.filter.times.from);
  const int64_t end = std::min(range.end, options_.filter.times.to);
  const GoId goroutine = range.goroutine;
  if (goroutine == GoId::kNone || !options_.filter.Selects(goroutine) || begin >= end) return;
  goroutines_.Of(goroutine).data.span.times.ranges.Add(range.name, Between(begin, end));
}

void GoroutineStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  GoroutineSpan& span = entry.data.span;
  int64_t& last = entry.data.last;
  if (span.goroutine == GoId::kNone) {
    span.goroutine = interval.goroutine;
    span.creation = last = interval.begin;
    span.is_older = entry.is_older;
    if (interval.starts_life) span.created_at = interval.begun_by.stack;
  }
  entry.data.start.Learn(interner_, interval.stack);
  last = std::max(last, interval.end);
  internal::AddPart(interval, interval.begin, interval.end, &span.times);
  if (interval.state == GoState::kRunning && !span.start.has_value()) span.start = interval.begin;
  if (interval.ends_life) span.end = interval.end;
  goroutines_.End(interval, entry);
}

void GoroutineStats::Impl::Keep(const Goroutines::Entry& entry) {
  if (!entry.is_seen) return;
  GoroutineSpan span = entry.data.span;
  span.name = entry.data.start.FinalName(span.created_at, &interner_);
  if (!starts_.Has(span.name)) return;
  GoroutineGroup& group = GroupOf(span);
  ExecutionTimes times = span.times;
  times.total = Between(span.creation, entry.data.last);
  group.Add(times);
  if (!options_.keep_each) return;
  span.times = std::move(times);
  spans_.push_back(std::move(span));
}

GoroutineGroup& GoroutineStats::Impl::GroupOf(const GoroutineSpan& span) {
  GoroutineGroup key;
  if (options_.by_creator) {
    const WaitPlace& place = places_.Of(span.created_at).place;
    key.creator = place.function;
    key.creator_file = place.file;
    key.creator_line = place.line;
  } else {
    key.name = span.name;
  }
  return GroupWith(key);
}

GoroutineGroup& GoroutineStats::Impl::GroupWith(const GoroutineGroup& key) {
  const auto [it, is_new] =
      groups_by_key_.try_emplace(Key(key.name, key.creator, key.creator_file, key.creator_line));
  GoroutineGroup& group = it->second;
  if (is_new) {
    group.name = key.name;
    group.creator = key.creator;
    group.creator_file = key.creator_file;
    group.creator_line = key.creator_line;
  }
  return group;
}

void GoroutineStats::Impl::Continue(Goroutines::Entry& rest, Goroutines::Entry& entry) {
  // A goroutine that was not seen has only ranges.
  if (!entry.is_seen) std::swap(rest.data, entry.data);
  GoroutineSpan& span = entry.data.span;
  const GoroutineSpan& more = rest.data.span;
  span.times.Add(more.times);
  if (!entry.is_seen || !rest.is_seen) return;
  entry.data.start.Learn(rest.data.start);
  if (!span.start.has_value()) span.start = more.start;
  span.end = more.end;
  entry.data.last = rest.data.last;
}

void GoroutineStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  ranges_.Merge(next.ranges_, ids);
  goroutines_.Merge(next.goroutines_, [&](Data* data) {
    data->start.MapIds(ids);
    data->span.created_at = ids(data->span.created_at);
    MapIds(ids, &data->span.times);
  });
  for (GoroutineSpan& span : next.spans_) {
    span.name = ids(span.name);
    span.created_at = ids(span.created_at);
    MapIds(ids, &span.times);
    spans_.push_back(std::move(span));
  }
  for (auto& [key, group] : next.groups_by_key_) {
    group.name = ids(group.name);
    group.creator = ids(group.creator);
    group.creator_file = ids(group.creator_file);
    MapIds(ids, &group.times);
    GroupWith(group).Merge(group);
  }
}

void GoroutineStats::Impl::Finish(int64_t end) {
  ranges_.Finish(end);
  goroutines_.Finish();
  absl::c_sort(spans_, [](const GoroutineSpan& a, const GoroutineSpan& b) {
    return a.creation != b.creation ? a.creation < b.creation : a.goroutine < b.goroutine;
  });
  for (auto& [key, group] : groups_by_key_) groups_.push_back(std::move(group));
  for (GoroutineGroup& group : groups_) {
    internal::SortByName(interner_, &group.times.blocked);
    internal::SortByName(interner_, &group.times.stopped);
    internal::SortByName(interner_, &group.times.ranges);
  }
  for (GoroutineSpan& span : spans_) internal::SortByName(interner_, &span.times.ranges);
  absl::c_sort(groups_, [&](const GoroutineGroup& a, const GoroutineGroup& b) {
    const auto key = [&](const GoroutineGroup& group) {
      return std::tuple(interner_.String(group.name), interner_.String(group.creator),
                        interner_.String(group.creator_file), group.creator_line);
    };
    return key(a) < key(b);
  });
}

GoroutineStats::GoroutineStats(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, std::move(options))) {}
GoroutineStats::~GoroutineStats() = default;

void GoroutineStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void GoroutineStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void GoroutineStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void GoroutineStats::Merge(GoroutineStats&& next, const InternerMap& ids) {
  impl_->Merge(*next.impl_, ids);
}
void GoroutineStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const GoroutineSpan> GoroutineStats::goroutines() const { return impl_->goroutines(); }
absl::Span<const GoroutineGroup> GoroutineStats::groups() const { return impl_->groups(); }

}  // namespace gotrace
