#include "view/lane_columns.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/algorithm/container.h"

namespace gotrace::internal {

void ColumnRun::MakeRoomFor(size_t index) {
  if (values_.empty()) first_ = index;
  if (index < first_) {
    // As far back as it is long, so that columns that are used backwards are moved a few times.
    const size_t more = std::min(first_, std::max(first_ - index, values_.size()));
    values_.insert(values_.begin(), more, 0);
    first_ -= more;
  }
  if (index >= end()) values_.resize(index - first_ + 1);
}

void ColumnValues::AddToAll(size_t first, size_t last, int64_t value) {
  constexpr size_t kFew = 4;
  if (last - first <= kFew) {
    for (size_t i = first; i < last; ++i) Add(i, value);
    return;
  }
  changes_.at(first) += value;
  changes_.at(last) -= value;
}

void LaneColumns::AddTime(int64_t begin, int64_t end, LaneState state) {
  ColumnValues& values = columns_[static_cast<size_t>(state)];
  const size_t first = range_.IndexOf(begin);
  const size_t last = range_.IndexOf(end - 1);
  if (first == last) return values.Add(first, end - begin);
  const auto begin_of = [&](size_t i) {
    return range_.begin + range_.step * static_cast<int64_t>(i);
  };
  values.Add(first, begin_of(first + 1) - begin);
  values.AddToAll(first + 1, last, range_.step);
  values.Add(last, end - begin_of(last));
}

void LaneColumns::AddLongest(size_t column, Longest longest) {
  if (column >= longest_.size()) longest_.resize(column + 1);
  Longest& known = longest_[column];
  // Of equal lengths the lowest state counts, whatever the order.
  if (std::pair(longest.length, known.state) > std::pair(known.length, longest.state)) {
    known = longest;
  }
}

void LaneColumns::AddCut(LaneSpan span) {
  const int64_t length = span.end - span.begin;
  if (span.begin < range_.begin) {
    span.begin = range_.begin;
    span.cut_begin = true;
  }
  if (span.end > range_.end()) {
    span.end = range_.end();
    span.cut_end = true;
  }
  AddInside(span, length);
}

void LaneColumns::AddInside(const LaneSpan& span, int64_t length) {
  if (span.begin >= span.end) return;
  totals_[static_cast<size_t>(span.state)] += span.end - span.begin;
  if (keeps_spans_ == Spans::kKept) {
    if (span.end - span.begin >= kColumnsOfSpan * range_.step) return spans_.push_back(span);
    if (!span.cut_begin) AddLongest(range_.IndexOf(span.begin), {length, span.state});
  }
  AddTime(span.begin, span.end, span.state);
}

void LaneColumns::Add(const LaneColumns& other) {
  for (const LaneSpan& span : other.spans_) Add(span);
  const ColumnRange& from = other.range_;
  const auto time_of = [&](size_t i) { return from.begin + from.step * static_cast<int64_t>(i); };
  const auto has = [&](int64_t time) { return range_.begin <= time && time < range_.end(); };
  for (size_t state = 0; state < kLaneStates; ++state) {
    other.columns_[state].ForEach([&](size_t i, int64_t value) {
      const int64_t time = time_of(i);
      if (!has(time)) return;
      columns_[state].Add(range_.IndexOf(time), value);
      totals_[state] += value;
    });
  }
  for (size_t i = 0; i < other.longest_.size(); ++i) {
    const int64_t time = time_of(i);
    if (other.longest_[i].length > 0 && has(time)) {
      AddLongest(range_.IndexOf(time), other.longest_[i]);
    }
  }
}

absl::Span<const LaneSpan> LaneColumns::SortedSpans() {
  const auto key = [](const LaneSpan& span) {
    return std::tuple(span.begin, span.end, span.state, span.subject, span.name);
  };
  absl::c_sort(spans_, [&](const LaneSpan& a, const LaneSpan& b) { return key(a) < key(b); });
  return spans_;
}

}  // namespace gotrace::internal
