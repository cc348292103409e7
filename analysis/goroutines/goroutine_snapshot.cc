#include "gotrace/goroutine_snapshot.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/goroutines/final_states.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/profile/profile_samples.h"
#include "analysis/tasks/open_spans.h"

namespace gotrace {

class GoroutineSnapshot::Impl {
 public:
  Impl(Interner* interner, EventFilter filter)
      : interner_(*interner), filter_(std::move(filter)), states_(interner), spans_(interner) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    filter_ = filter_.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events) {
    states_.AddEvents(events);
    for (const Event& event : events) {
      if (event.time() < filter_.times.to) spans_.Add(event);
    }
    if (filter_.times.HasFirst()) states_.AddEarlier(events, filter_.times.from);
  }
  void AddGoroutine(const GoInterval& interval) {
    if (filter_.Selects(interval.goroutine)) states_.AddGoroutine(interval);
  }
  void Merge(Impl& next, const InternerMap& ids) {
    states_.Merge(next.states_, ids);
    spans_.Merge(next.spans_, ids);
  }
  void Finish(int64_t end);

  absl::Span<const GoroutineMoment> goroutines() const { return goroutines_; }
  absl::Span<const GoroutineMomentGroup> groups() const { return groups_; }

 private:
  void MakeGroups();

  Interner& interner_;
  EventFilter filter_;
  internal::FinalStates states_;
  internal::OpenSpans spans_;
  std::vector<GoroutineMoment> goroutines_;
  std::vector<GoroutineMomentGroup> groups_;
};

void GoroutineSnapshot::Impl::Finish(int64_t end) {
  states_.Finish();
  internal::SelectedStacks stacks(&interner_, filter_.stacks);
  for (const internal::FinalState& one : states_.states()) {
    if (!stacks.Has(one.stack)) continue;
    goroutines_.push_back({.goroutine = one.goroutine,
                           .state = one.state,
                           .since = one.seen_from,
                           .length = std::max<int64_t>(internal::Between(one.seen_from, end), 0),
                           .reason = one.reason,
                           .stack = one.stack,
                           .start = one.start,
                           .created_at = one.created_at,
                           .task = spans_.TaskOf(one.goroutine),
                           .region = spans_.RegionOf(one.goroutine)});
  }
  MakeGroups();
}

void GoroutineSnapshot::Impl::MakeGroups() {
  using Key = std::tuple<GoState, StringId, StackId, StringId, StackId, StringId, StringId>;
  absl::flat_hash_map<Key, GoroutineMomentGroup> groups;
  for (const GoroutineMoment& one : goroutines_) {
    GoroutineMomentGroup& group =
        groups[{one.state, one.reason, one.stack, one.start, one.created_at, one.task, one.region}];
    group.state = one.state;
    group.reason = one.reason;
    group.stack = one.stack;
    group.start = one.start;
    group.created_at = one.created_at;
    group.task = one.task;
    group.region = one.region;
    ++group.count;
    group.longest = std::max(group.longest, one.length);
    internal::AddTime(one.length, &group.total);
  }
  for (const auto& [key, group] : groups) groups_.push_back(group);
  absl::c_sort(groups_, [&](const GoroutineMomentGroup& a, const GoroutineMomentGroup& b) {
    if (a.count != b.count) return a.count > b.count;
    if (a.total != b.total) return a.total > b.total;
    const auto names = [&](const GoroutineMomentGroup& group) {
      return std::tuple(group.state, interner_.String(group.start), interner_.String(group.reason),
                        interner_.String(group.task), interner_.String(group.region));
    };
    if (names(a) != names(b)) return names(a) < names(b);
    const int order = internal::CompareStacks(interner_, a.stack, b.stack);
    if (order != 0) return order < 0;
    return internal::CompareStacks(interner_, a.created_at, b.created_at) < 0;
  });
}

GoroutineSnapshot::GoroutineSnapshot(Interner* interner, EventFilter filter)
    : impl_(std::make_unique<Impl>(interner, std::move(filter))) {}
GoroutineSnapshot::~GoroutineSnapshot() = default;

void GoroutineSnapshot::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void GoroutineSnapshot::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void GoroutineSnapshot::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void GoroutineSnapshot::Merge(GoroutineSnapshot&& next, const InternerMap& ids) {
  impl_->Merge(*next.impl_, ids);
}
void GoroutineSnapshot::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const GoroutineMoment> GoroutineSnapshot::goroutines() const {
  return impl_->goroutines();
}
absl::Span<const GoroutineMomentGroup> GoroutineSnapshot::groups() const { return impl_->groups(); }

}  // namespace gotrace
