#include "gotrace/latency_stats.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/core/window.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/start_function.h"
#include "analysis/intervals/sums_by_start.h"
#include "analysis/profile/profile_samples.h"
#include "gotrace/event_type.h"

namespace gotrace {

using internal::RangeTracker;
using internal::RuntimeRange;

namespace {

// A wait of one goroutine, or several of them.
struct Latencies {
  Histogram durations;
  uint64_t clipped = 0;
  int64_t stopped = 0;
};

// For SumsByStart.
struct LatencyTraits {
  using Key = LatencyKey;
  using Value = Latencies;

  static LatencyKey MapIds(const InternerMap& ids, const LatencyKey& key) {
    return {key.kind, ids(key.reason), ids(key.start), ids(key.stack), key.goroutine};
  }
  static void AddTo(const LatencyCase& one, Latencies* sum) {
    sum->durations.Add(one.duration());
    sum->clipped += one.begin_clipped || one.end_clipped ? 1 : 0;
    internal::AddTime(one.stopped, &sum->stopped);
  }
  static void AddTo(const Latencies& value, Latencies* sum) {
    sum->durations.Merge(value.durations);
    sum->clipped += value.clipped;
    internal::AddTime(value.stopped, &sum->stopped);
  }
};

// Returns whether `a` is worse. This is a total order of all cases of a trace, so that the cases
// that are kept do not depend on how it is read. Only in a damaged trace has a goroutine two that
// begin and end together.
bool IsWorse(const LatencyCase& a, const LatencyCase& b) {
  if (a.duration() != b.duration()) return a.duration() > b.duration();
  const auto rest = [](const LatencyCase& one) {
    const Cause& cause = one.ended_by;
    return std::tuple(one.begin, one.goroutine, one.key.start, one.key.stack, cause.kind,
                      cause.goroutine, cause.proc, cause.thread, cause.stack);
  };
  return rest(a) < rest(b);
}

// Returns the kind of an interval in a state, or kLatencyKindEnd if it does not count.
size_t KindOf(GoState state) {
  switch (state) {
    case GoState::kRunnable:
      return static_cast<size_t>(LatencyKind::kScheduling);
    case GoState::kWaiting:
      return static_cast<size_t>(LatencyKind::kBlocked);
    case GoState::kSyscall:
      return static_cast<size_t>(LatencyKind::kSyscall);
    default:
      return kLatencyKindEnd;
  }
}

}  // namespace

absl::string_view LatencyKindName(LatencyKind kind) {
  constexpr absl::string_view kNames[] = {"scheduling", "blocked", "syscall", "pause", "assist"};
  return kNames[static_cast<size_t>(kind)];
}

class LatencyStats::Impl {
 public:
  Impl(Interner* interner, Options options) : interner_(*interner), options_(std::move(options)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const LatencyGroup> groups() const { return groups_; }
  absl::Span<const LatencyCase> cases() const { return cases_; }

 private:
  using Sums = internal::SumsByStart<LatencyTraits>;
  // The worst cases of a kind and a reason, as a heap whose front is the least bad.
  using Worst = std::vector<LatencyCase>;

  // Adds a case of the goroutine `entry`, or of no goroutine if it is nullptr.
  void Add(const LatencyCase& one, Sums::Entry* entry);
  void AddRange(RuntimeRange range);
  void KeepIfWorst(const LatencyCase& one);

  Interner& interner_;
  Options options_;
  internal::SelectedStacks stacks_{&interner_, options_.filter.stacks};
  internal::SelectedNames reasons_{&interner_, options_.reason, internal::SelectedNames::Of::kPart};
  Sums sums_{&interner_, options_.start};
  RangeTracker ranges_{&interner_,
                       RangeTracker::Crossing::kWhole,
                       {EventType::kSTWBegin, EventType::kGCMarkAssistBegin},
                       [this](const RuntimeRange& range) { AddRange(range); }};
  absl::flat_hash_map<std::pair<LatencyKind, StringId>, Worst> worst_;

  std::vector<LatencyGroup> groups_;
  std::vector<LatencyCase> cases_;
};

void LatencyStats::Impl::AddEvents(absl::Span<const Event> events) {
  sums_.AddEvents(events);
  for (const Event& event : events) ranges_.Add(event);
}

void LatencyStats::Impl::AddRange(RuntimeRange range) {
  const bool is_assist = range.type == EventType::kGCMarkAssistBegin;
  LatencyCase one;
  one.key.kind = is_assist ? LatencyKind::kAssist : LatencyKind::kPause;
  if (!options_.kinds[static_cast<size_t>(one.key.kind)]) return;
  if (!options_.filter.Selects(range.goroutine)) return;
  const EventFilter::Times& window = options_.filter.times;
  if (!internal::Overlaps(window, range)) return;
  internal::CutBegin(window, &range);
  internal::CutEnd(window, &range);
  static_cast<Interval&>(one) = range;
  one.key.reason = range.reason;
  one.key.stack = range.stack;
  one.key.start = internal::StartOf(interner_, range.stack);
  one.goroutine = range.goroutine;
  Add(one, one.goroutine == GoId::kNone ? nullptr : &sums_.Of(one.goroutine));
}

void LatencyStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Sums::Entry& entry = sums_.Begin(interval);
  const size_t kind = KindOf(interval.state);
  if (kind < kLatencyKindEnd && options_.kinds[kind]) {
    LatencyCase one;
    static_cast<Interval&>(one) = interval.Seen();
    one.key.kind = static_cast<LatencyKind>(kind);
    if (one.key.kind == LatencyKind::kBlocked) one.key.reason = interval.reason;
    one.key.start = entry.data.start.name();
    one.key.stack = interval.stack;
    one.goroutine = interval.goroutine;
    one.ended_by = interval.ended_by;
    one.stopped = interval.StoppedSince(one.begin);
    Add(one, &entry);
  }
  sums_.End(interval, entry);
}

void LatencyStats::Impl::Add(const LatencyCase& one, Sums::Entry* entry) {
  const uint64_t duration = one.duration();
  if (duration < options_.min_duration || duration > options_.max_duration) return;
  if (!stacks_.Has(one.key.stack) || !reasons_.Has(one.key.reason)) return;
  if (options_.cases > 0) KeepIfWorst(one);
  LatencyKey key = one.key;
  if (!options_.by_stack) key.stack = StackId::kNone;
  if (options_.by_goroutine) key.goroutine = one.goroutine;
  key.start = StringId::kEmpty;
  if (entry == nullptr) return sums_.AddWithStart(one.key.start, key, one);
  sums_.Add(key, one, entry);
}

void LatencyStats::Impl::KeepIfWorst(const LatencyCase& one) {
  if (!sums_.IsSelected(one.key.start)) return;
  Worst& worst = worst_[{one.key.kind, one.key.reason}];
  if (worst.size() == options_.cases) {
    if (!IsWorse(one, worst.front())) return;
    std::pop_heap(worst.begin(), worst.end(), IsWorse);
    worst.pop_back();
  }
  worst.push_back(one);
  std::push_heap(worst.begin(), worst.end(), IsWorse);
}

void LatencyStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  ranges_.Merge(next.ranges_, ids);
  sums_.Merge(next.sums_, ids);
  for (auto& [key, cases] : next.worst_) {
    for (LatencyCase& one : cases) {
      one.key = LatencyTraits::MapIds(ids, one.key);
      one.ended_by.stack = ids(one.ended_by.stack);
      KeepIfWorst(one);
    }
  }
}

void LatencyStats::Impl::Finish(int64_t end) {
  ranges_.Finish(end);
  sums_.Finish();
  absl::flat_hash_map<LatencyKey, Latencies> sums;
  for (const auto& [key, value] : sums_.sums()) {
    LatencyKey group = key;
    if (!options_.by_start) group.start = StringId::kEmpty;
    LatencyTraits::AddTo(value, &sums[group]);
  }
  for (auto& [key, sum] : sums) {
    groups_.push_back({key, std::move(sum.durations), sum.clipped, sum.stopped});
  }
  absl::c_sort(groups_, [&](const LatencyGroup& a, const LatencyGroup& b) {
    if (a.key.kind != b.key.kind) return a.key.kind < b.key.kind;
    if (a.durations.sum() != b.durations.sum()) return a.durations.sum() > b.durations.sum();
    const auto texts = [&](const LatencyKey& key) {
      return std::pair(interner_.String(key.reason), interner_.String(key.start));
    };
    if (texts(a.key) != texts(b.key)) return texts(a.key) < texts(b.key);
    const int order = internal::CompareStacks(interner_, a.key.stack, b.key.stack);
    return order != 0 ? order < 0 : a.key.goroutine < b.key.goroutine;
  });
  for (auto& [key, cases] : worst_) cases_.insert(cases_.end(), cases.begin(), cases.end());
  absl::c_sort(cases_, [&](const LatencyCase& a, const LatencyCase& b) {
    if (a.key.kind != b.key.kind) return a.key.kind < b.key.kind;
    const absl::string_view reason_a = interner_.String(a.key.reason);
    const absl::string_view reason_b = interner_.String(b.key.reason);
    return reason_a != reason_b ? reason_a < reason_b : IsWorse(a, b);
  });
}

LatencyStats::LatencyStats(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, std::move(options))) {}
LatencyStats::~LatencyStats() = default;

void LatencyStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void LatencyStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void LatencyStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void LatencyStats::Merge(LatencyStats&& next, const InternerMap& ids) {
  impl_->Merge(*next.impl_, ids);
}
void LatencyStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const LatencyGroup> LatencyStats::groups() const { return impl_->groups(); }
absl::Span<const LatencyCase> LatencyStats::cases() const { return impl_->cases(); }

}  // namespace gotrace
