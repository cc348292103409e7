#include "gotrace/leak_stats.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/goroutines/final_states.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/profile/profile_samples.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::FinalState;
using internal::FinalStates;

class LeakStats::Impl {
 public:
  Impl(Interner* interner, Options options) : interner_(*interner), options_(std::move(options)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events) {
    begin_ = std::min(begin_, events.front().time());
    states_.AddEvents(events);
    const EventFilter::Times& window = options_.filter.times;
    if (window.HasFirst()) states_.AddEarlier(events, window.from);
  }
  void AddGoroutine(const GoInterval& interval) {
    if (options_.filter.Selects(interval.goroutine)) states_.AddGoroutine(interval);
  }
  void Merge(Impl& next, const InternerMap& ids) {
    begin_ = std::min(begin_, next.begin_);
    states_.Merge(next.states_, ids);
  }
  void Finish(int64_t end);

  absl::Span<const LeakGroup> groups() const { return groups_; }
  absl::Span<const BlockedGoroutine> blocked() const { return blocked_; }

 private:
  Interner& interner_;
  Options options_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  FinalStates states_{&interner_};
  std::vector<BlockedGoroutine> blocked_;
  std::vector<LeakGroup> groups_;
};

void LeakStats::Impl::Finish(int64_t end) {
  states_.Finish();
  const int64_t begin = std::max(begin_, options_.filter.times.from);
  const int64_t quarter = Between(begin, end) / static_cast<int64_t>(LeakGroup::kPoints - 1);
  using Key = std::tuple<StringId, StackId, StackId, StringId>;
  absl::flat_hash_map<Key, LeakGroup> groups;
  internal::SelectedStacks stacks(&interner_, options_.filter.stacks);
  for (const FinalState& one : states_.states()) {
    if (one.state != GoState::kWaiting || !one.end_clipped) continue;
    if (internal::IsOfSystem(interner_.String(one.start)) || !stacks.Has(one.stack)) continue;
    const int64_t length = Between(one.seen_from, end);
    blocked_.push_back({.start = one.start,
                        .is_new = one.is_new,
                        .created_at = one.created_at,
                        .blocked_at = one.stack,
                        .reason = one.reason,
                        .begin = one.begin,
                        .length = length});
    if (length < options_.longer) continue;
    LeakGroup& group = groups[{one.start, one.created_at, one.stack, one.reason}];
    group.start = one.start;
    group.created_at = one.created_at;
    group.blocked_at = one.stack;
    group.reason = one.reason;
    ++group.count;
    group.longest = std::max(group.longest, length);
    AddTime(length, &group.total);
    for (size_t i = 0; i < LeakGroup::kPoints; ++i) {
      const bool is_last = i + 1 == LeakGroup::kPoints;
      if (is_last || Between(begin, one.begin) <= quarter * static_cast<int64_t>(i)) {
        ++group.counts[i];
      }
    }
  }
  for (const auto& [key, group] : groups) groups_.push_back(group);
  absl::c_sort(groups_, [&](const LeakGroup& a, const LeakGroup& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.total != b.total) return a.total > b.total;
    const auto texts = [&](const LeakGroup& group) {
      return std::pair(interner_.String(group.start), interner_.String(group.reason));
    };
    if (texts(a) != texts(b)) return texts(a) < texts(b);
    const int order = internal::CompareStacks(interner_, a.blocked_at, b.blocked_at);
    if (order != 0) return order < 0;
    return internal::CompareStacks(interner_, a.created_at, b.created_at) < 0;
  });
}

LeakStats::LeakStats(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, std::move(options))) {}
LeakStats::~LeakStats() = default;

void LeakStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void LeakStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void LeakStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void LeakStats::Merge(LeakStats&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
void LeakStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const LeakGroup> LeakStats::groups() const { return impl_->groups(); }
absl::Span<const BlockedGoroutine> LeakStats::blocked() const { return impl_->blocked(); }

}  // namespace gotrace
