#include "gotrace/leak_stats.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/profile/profile_samples.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::PartialGoroutines;

class LeakStats::Impl {
 public:
  Impl(Interner* interner, Options options) : interner_(*interner), options_(std::move(options)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events) {
    begin_ = std::min(begin_, events.front().time());
    goroutines_.AddEvents(events);
  }
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const LeakGroup> groups() const { return groups_; }

 private:
  // The known facts about a goroutine, and its last interval.
  struct Data {
    StringId start = StringId::kEmpty;
    StackId created_at = StackId::kNone;
    bool is_blocked = false;  // If not, the rest is not set.
    StackId blocked_at = StackId::kNone;
    StringId reason = StringId::kEmpty;
    int64_t begin = 0;
    int64_t seen_from = 0;  // As Interval::Seen().
  };
  using Goroutines = PartialGoroutines<Data>;

  static void Continue(Goroutines::Entry& rest, Goroutines::Entry& entry);

  // Returns the stack without the innermost frames that do not belong to the program.
  std::vector<FrameId> FramesOfProgram(StackId stack) const;
  void CompleteBlocked();

  Interner& interner_;
  Options options_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  // The goroutines that are blocked at the end.
  std::vector<Data> blocked_;
  Goroutines goroutines_{[this](Goroutines::Entry& entry) {
                           if (entry.data.is_blocked) blocked_.push_back(entry.data);
                         },
                         Continue};
  std::vector<LeakGroup> groups_;
};

void LeakStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  Data& data = entry.data;
  if (interval.starts_life) data.created_at = interval.begun_by.stack;
  if (data.start == StringId::kEmpty) data.start = interner_.RootFunctionId(interval.stack);
  data.is_blocked = interval.state == GoState::kWaiting && interval.end_clipped;
  if (data.is_blocked) {
    data.blocked_at = interval.stack;
    data.reason = interval.reason;
    data.begin = interval.begin;
    data.seen_from = interval.Seen().begin;
  }
  goroutines_.End(interval, entry);
}

void LeakStats::Impl::Continue(Goroutines::Entry& rest, Goroutines::Entry& entry) {
  if (!rest.is_seen) return;
  const Data before = std::exchange(entry.data, rest.data);
  if (!entry.is_seen) return;
  if (before.start != StringId::kEmpty) entry.data.start = before.start;
  entry.data.created_at = before.created_at;
}

void LeakStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  begin_ = std::min(begin_, next.begin_);
  goroutines_.Merge(next.goroutines_, [&](Data* data) {
    data->start = ids(data->start);
    data->created_at = ids(data->created_at);
    data->blocked_at = ids(data->blocked_at);
    data->reason = ids(data->reason);
  });
}

std::vector<FrameId> LeakStats::Impl::FramesOfProgram(StackId stack) const {
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  const auto first = absl::c_find_if(frames, [this](FrameId id) {
    return !internal::IsOfLibrary(interner_.String(interner_.FrameWithIds(id).func));
  });
  return {first, frames.end()};
}

// A status does not say why a goroutine blocked before the trace, and its stack has more frames of
// the runtime than that of a blocking event. If other goroutines blocked in the same place, the
// reason was the same; and if all of those were created in one place, this one was created there
// too.
void LeakStats::Impl::CompleteBlocked() {
  // One of the goroutines that blocked in a place, one of those whose creation is known, and
  // whether others differ from them.
  struct Known {
    const Data* blocked = nullptr;
    const Data* created = nullptr;
    bool blocked_differ = false;
    bool created_differ = false;
  };
  absl::flat_hash_map<std::pair<StringId, std::vector<FrameId>>, Known> places;
  const auto place_of = [this](const Data& one) {
    return std::pair(one.start, FramesOfProgram(one.blocked_at));
  };
  for (const Data& one : blocked_) {
    if (one.reason == StringId::kEmpty) continue;
    Known& known = places[place_of(one)];
    if (known.blocked == nullptr) known.blocked = &one;
    known.blocked_differ |=
        known.blocked->reason != one.reason || known.blocked->blocked_at != one.blocked_at;
    if (one.created_at == StackId::kNone) continue;
    if (known.created == nullptr) known.created = &one;
    known.created_differ |= known.created->created_at != one.created_at;
  }
  for (Data& one : blocked_) {
    const auto known = places.find(place_of(one));
    if (known == places.end() || known->second.blocked_differ) continue;
    one.reason = known->second.blocked->reason;
    one.blocked_at = known->second.blocked->blocked_at;
    if (one.created_at == StackId::kNone && known->second.created != nullptr &&
        !known->second.created_differ) {
      one.created_at = known->second.created->created_at;
    }
  }
}

void LeakStats::Impl::Finish(int64_t end) {
  goroutines_.Finish();
  CompleteBlocked();
  const int64_t begin = std::max(begin_, options_.filter.times.from);
  const int64_t quarter = Between(begin, end) / static_cast<int64_t>(LeakGroup::kPoints - 1);
  using Key = std::tuple<StringId, StackId, StackId, StringId>;
  absl::flat_hash_map<Key, LeakGroup> groups;
  for (const Data& one : blocked_) {
    const int64_t length = Between(one.seen_from, end);
    if (length < options_.longer) continue;
    if (internal::IsOfRuntime(interner_.String(one.start))) continue;
    LeakGroup& group = groups[{one.start, one.created_at, one.blocked_at, one.reason}];
    group.start = one.start;
    group.created_at = one.created_at;
    group.blocked_at = one.blocked_at;
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

}  // namespace gotrace
