// Growing times by name, and how much each grew in each of several nested spans.
#ifndef GOTRACE_ANALYSIS_CORE_NESTED_TIMES_H_
#define GOTRACE_ANALYSIS_CORE_NESTED_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/core/named_times.h"
#include "analysis/core/time_sums.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// Since there may be many names and many spans, a span does not store all times at its begin.
// Instead, each change of a time stores the old value in the innermost span, and a span that ends
// passes its values on to the span around it. So time and memory are in proportion to the changes
// and to the results.
//
// The time at a begin or an end may differ from the sum so far by the amounts in `differences`.
class NestedTimes {
 public:
  using Differences = absl::Span<const NamedTime>;

  void Add(StringId name, int64_t time) {
    const size_t place = PlaceOf(name);
    Keep(place);
    AddTime(time, &At(place));
  }

  // Begins a span inside the open ones.
  void Begin(Differences differences) {
    Values begin;
    for (const NamedTime& one : differences) {
      const size_t place = PlaceOf(one.name);
      Keep(place);
      AddTime(one.time, &begin.try_emplace(place, At(place)).first->second);
    }
    open_.push_back(std::move(begin));
  }

  // Ends the innermost span. Returns how much the times grew in it, in the order in which the names
  // were first added. Requires that a span is open.
  NamedTimes End(Differences differences) {
    const Values begin = std::move(open_.back());
    open_.pop_back();
    Values growth;
    for (const auto& [place, time] : begin) {
      growth[place] = Between(time, At(place));
      // A change in this span is also a change in the span around it.
      if (!open_.empty()) open_.back().try_emplace(place, time);
    }
    for (const NamedTime& one : differences) AddTime(one.time, &growth[PlaceOf(one.name)]);
    return InOrder(growth);
  }

  // Returns all times.
  NamedTimes All(Differences differences) {
    Values all;
    for (size_t place = 0; place < sums_.size(); ++place) all[place] = At(place);
    for (const NamedTime& one : differences) AddTime(one.time, &all[PlaceOf(one.name)]);
    return InOrder(all);
  }

  size_t open() const { return open_.size(); }

  // Adds the times of `next`, which come after these. Its open spans are inside the spans that are
  // open here.
  void Append(NestedTimes next) {
    std::vector<size_t> places;
    for (const NamedTime& sum : next.sums_) places.push_back(PlaceOf(sum.name));
    for (Values& span : next.open_) {
      Values begin;
      for (const auto& [place, time] : span) {
        begin[places[place]] = TraceClock::Add(At(places[place]), time);
      }
      span = std::move(begin);
    }
    for (const NamedTime& sum : next.sums_) Add(sum.name, sum.time);
    absl::c_move(next.open_, std::back_inserter(open_));
  }

  void MapIds(const InternerMap& ids) { sums_ = WithIds(ids, sums_); }

 private:
  // Times by the places of their names in `sums_`.
  using Values = absl::flat_hash_map<size_t, int64_t>;

  size_t PlaceOf(StringId name) {
    const size_t place = sums_.Find(name);
    if (place == sums_.size()) sums_.times_.push_back({name, 0});
    return place;
  }
  int64_t& At(size_t place) { return sums_.times_[place].time; }

  // Stores the time of a name before it changes.
  void Keep(size_t place) {
    if (!open_.empty()) open_.back().try_emplace(place, At(place));
  }

  NamedTimes InOrder(const Values& values) const {
    std::vector<std::pair<size_t, int64_t>> sorted;
    for (const auto& value : values) {
      if (value.second != 0) sorted.push_back(value);
    }
    absl::c_sort(sorted);
    std::vector<NamedTime> times;
    for (const auto& [place, time] : sorted) times.push_back({sums_.times_[place].name, time});
    return NamedTimes(std::move(times));
  }

  NamedTimes sums_;
  std::vector<Values> open_;  // The times that changed since each span began, as they were then.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_NESTED_TIMES_H_
