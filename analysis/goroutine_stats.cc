// The state intervals of a goroutine add up to its ExecutionTimes; ranges come from events.
#include "gotrace/goroutine_stats.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/goroutine_ranges.h"
#include "analysis/partial_goroutines.h"
#include "analysis/time_sums.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::GoroutineRanges;
using internal::PartialGoroutines;
using internal::SubtractTime;

void AddNamedTime(StringId name, int64_t time, NamedTimes* times) {
  for (NamedTime& known : *times) {
    if (known.name == name) {
      AddTime(time, &known.time);
      return;
    }
  }
  times->push_back({name, time});
}

int64_t ExecutionTimes::BlockedTotal() const {
  int64_t sum = 0;
  for (const NamedTime& reason : blocked) AddTime(reason.time, &sum);
  return sum;
}

int64_t ExecutionTimes::Unknown() const {
  int64_t unknown = total;
  for (const int64_t known : {running, runnable, syscall, syscall_blocked, BlockedTotal()}) {
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
  for (const NamedTime& reason : other.blocked) AddNamedTime(reason.name, reason.time, &blocked);
  for (const NamedTime& range : other.ranges) AddNamedTime(range.name, range.time, &ranges);
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
  for (NamedTime& reason : times->blocked) reason.name = ids(reason.name);
  for (NamedTime& range : times->ranges) range.name = ids(range.name);
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

  absl::Span<const GoroutineLife> lives() const { return lives_; }
  absl::Span<const GoroutineGroup> groups() const { return groups_; }

 private:
  struct Data {
    GoroutineLife life;
    int64_t last = 0;  // The end of the last interval.
  };
  using Goroutines = PartialGoroutines<Data>;

  void AddRange(GoId goroutine, StringId name, int64_t begin, int64_t end);

  // Adds a life that is complete.
  void Keep(const Goroutines::Entry& entry);

  // Adds the rest of a life, from the part of the trace that follows.
  static void Continue(Goroutines::Entry& rest, Goroutines::Entry& entry);

  Interner& interner_;
  Options options_;

  Goroutines goroutines_{[this](Goroutines::Entry& entry) { Keep(entry); }, Continue};

  GoroutineRanges ranges_{&interner_,
                          [this](GoId goroutine, StringId name, int64_t begin, int64_t end) {
                            AddRange(goroutine, name, begin, end);
                          }};

  std::vector<GoroutineLife> lives_;
  absl::flat_hash_map<StringId, GoroutineGroup> groups_by_name_;
  std::vector<GoroutineGroup> groups_;
};

void GoroutineStats::Impl::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) ranges_.Add(event);
  goroutines_.SeeEvents(events);
}

void GoroutineStats::Impl::AddRange(GoId goroutine, StringId name, int64_t begin, int64_t end) {
  begin = std::max(begin, options_.filter.times.from);
  end = std::min(end, options_.filter.times.to);
  if (!options_.filter.Selects(goroutine) || begin >= end) return;
  AddNamedTime(name, Between(begin, end), &goroutines_.Of(goroutine).data.life.times.ranges);
}

void GoroutineStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  GoroutineLife& life = entry.data.life;
  int64_t& last = entry.data.last;
  if (life.goroutine == GoId::kNone) {
    life.goroutine = interval.goroutine;
    life.creation = last = interval.begin;
    life.is_older = entry.is_older;
  }
  if (life.name == StringId::kEmpty) life.name = interner_.RootFunctionId(interval.stack);
  last = std::max(last, interval.end);
  const int64_t duration = static_cast<int64_t>(interval.duration());
  ExecutionTimes& times = life.times;
  switch (interval.state) {
    case GoState::kRunning:
      AddTime(duration, &times.running);
      if (!life.start.has_value()) life.start = interval.begin;
      break;
    case GoState::kRunnable:
      AddTime(duration, &times.runnable);
      break;
    case GoState::kWaiting:
      if (duration > 0) AddNamedTime(interval.reason, duration, &times.blocked);
      break;
    case GoState::kSyscall:
      AddTime(Between(interval.begin, interval.proc_until), &times.syscall);
      AddTime(Between(interval.proc_until, interval.end), &times.syscall_blocked);
      break;
    default:
      break;
  }
  if (interval.ends_life) life.end = interval.end;
  goroutines_.End(interval, entry);
}

void GoroutineStats::Impl::Keep(const Goroutines::Entry& entry) {
  if (!entry.is_seen) return;
  const GoroutineLife& life = entry.data.life;
  GoroutineGroup& group = groups_by_name_[life.name];
  group.name = life.name;
  ExecutionTimes times = life.times;
  times.total = Between(life.creation, entry.data.last);
  group.Add(times);
  if (!options_.keep_each) return;
  lives_.push_back(life);
  lives_.back().times = std::move(times);
}

void GoroutineStats::Impl::Continue(Goroutines::Entry& rest, Goroutines::Entry& entry) {
  // What was not seen has only ranges.
  if (!entry.is_seen) std::swap(rest.data, entry.data);
  GoroutineLife& life = entry.data.life;
  const GoroutineLife& more = rest.data.life;
  life.times.Add(more.times);
  if (!entry.is_seen || !rest.is_seen) return;
  if (life.name == StringId::kEmpty) life.name = more.name;
  if (!life.start.has_value()) life.start = more.start;
  life.end = more.end;
  entry.data.last = rest.data.last;
}

void GoroutineStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  ranges_.Merge(next.ranges_, ids);
  goroutines_.Merge(next.goroutines_, [&](Data* data) {
    data->life.name = ids(data->life.name);
    MapIds(ids, &data->life.times);
  });
  for (GoroutineLife& life : next.lives_) {
    life.name = ids(life.name);
    MapIds(ids, &life.times);
    lives_.push_back(std::move(life));
  }
  for (auto& [name, group] : next.groups_by_name_) {
    group.name = ids(name);
    MapIds(ids, &group.times);
    GoroutineGroup& into = groups_by_name_[group.name];
    into.name = group.name;
    into.Merge(group);
  }
}

void GoroutineStats::Impl::Finish(int64_t end) {
  ranges_.Finish(end);
  goroutines_.Finish();
  absl::c_sort(lives_, [](const GoroutineLife& a, const GoroutineLife& b) {
    return a.creation != b.creation ? a.creation < b.creation : a.goroutine < b.goroutine;
  });
  for (auto& [name, group] : groups_by_name_) groups_.push_back(std::move(group));
  const auto by_text = [this](StringId a, StringId b) {
    return interner_.String(a) < interner_.String(b);
  };
  const auto sort_times = [&](NamedTimes* times) {
    absl::c_sort(*times,
                 [&](const NamedTime& a, const NamedTime& b) { return by_text(a.name, b.name); });
  };
  for (GoroutineGroup& group : groups_) {
    sort_times(&group.times.blocked);
    sort_times(&group.times.ranges);
  }
  for (GoroutineLife& life : lives_) sort_times(&life.times.ranges);
  absl::c_sort(groups_, [&](const GoroutineGroup& a, const GoroutineGroup& b) {
    return by_text(a.name, b.name);
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
void GoroutineStats::Merge(IntervalConsumer&& next, const InternerMap& ids) {
  impl_->Merge(*static_cast<GoroutineStats&>(next).impl_, ids);
}
void GoroutineStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const GoroutineLife> GoroutineStats::lives() const { return impl_->lives(); }
absl::Span<const GoroutineGroup> GoroutineStats::groups() const { return impl_->groups(); }

}  // namespace gotrace
