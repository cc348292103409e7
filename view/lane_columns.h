// A lane of the timeline at one zoom level: the time in each state in each column, and the spans
// that are long enough to be drawn one by one.
#ifndef GOTRACE_VIEW_LANE_COLUMNS_H_
#define GOTRACE_VIEW_LANE_COLUMNS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/numeric/bits.h"
#include "absl/types/span.h"
#include "view/lane_state.h"

namespace gotrace::internal {

// Columns of the same width. Each begins at a multiple of `step`, which is a power of two.
struct ColumnRange {
  int64_t begin = 0;
  int64_t step = 1;
  size_t count = 0;

  int64_t end() const { return begin + step * static_cast<int64_t>(count); }
  // Returns the column of a time in the range.
  size_t IndexOf(int64_t time) const {
    // A division takes as long as all the rest of adding a span.
    return static_cast<size_t>(time - begin) >> absl::countr_zero(static_cast<uint64_t>(step));
  }

  friend bool operator==(const ColumnRange&, const ColumnRange&) = default;
};

// A stretch of time in which a lane is in one state.
struct LaneSpan {
  int64_t begin = 0;
  int64_t end = 0;
  LaneState state = LaneState::kIdle;
  uint32_t name = 0;       // A name, which the owner of the lane gives.
  int64_t subject = -1;    // The goroutine or P that it names.
  bool cut_begin = false;  // Whether it began before `begin`, or ends after `end`.
  bool cut_end = false;

  friend bool operator==(const LaneSpan&, const LaneSpan&) = default;
};

// A number for each of a row of columns. Those before the first and after the last that was used
// are 0, and take no memory: most parts of a trace fill only a small part of a lane.
class ColumnRun {
 public:
  int64_t& at(size_t index) {
    // If `index` is before the first, the difference is larger than any size.
    if (index - first_ >= values_.size()) MakeRoomFor(index);
    return values_[index - first_];
  }

  bool empty() const { return values_.empty(); }
  size_t first() const { return first_; }
  size_t end() const { return first_ + values_.size(); }
  int64_t Get(size_t index) const {
    return index < first_ || index >= end() ? 0 : values_[index - first_];
  }

 private:
  void MakeRoomFor(size_t index);

  size_t first_ = 0;
  std::vector<int64_t> values_;
};

// A number for each of a row of columns, most of which are 0. Long stretches of the same number are
// added at once.
class ColumnValues {
 public:
  // Adds `value` to the column `index`, or to each from `first` up to `last`, which is excluded.
  void Add(size_t index, int64_t value) { values_.at(index) += value; }
  void AddToAll(size_t first, size_t last, int64_t value);

  bool empty() const { return values_.empty() && changes_.empty(); }

  // Calls `use` with each column that is not 0, and its value, in order.
  template <class Use>
  void ForEach(const Use& use) const {
    if (empty()) return;
    const size_t end = std::max(values_.end(), changes_.end());
    int64_t sum = 0;
    for (size_t i = First(); i < end; ++i) {
      sum += changes_.Get(i);
      const int64_t value = sum + values_.Get(i);
      if (value != 0) use(i, value);
    }
  }

 private:
  // Returns the first column that was used. Requires that there is one.
  size_t First() const {
    if (changes_.empty()) return values_.first();
    return values_.empty() ? changes_.first() : std::min(values_.first(), changes_.first());
  }

  ColumnRun values_;
  ColumnRun changes_;  // By how much the number to add differs from the column before.
};

// The contents of one lane.
//
// A span that is at least two columns long, after it was cut to the range, is kept. All others are
// added to the columns. So the lane of the same spans with wider columns follows from this one, and
// is the same as if it had been made from the spans.
class LaneColumns {
 public:
  // Whether long spans are kept, or all spans are added to the columns, as for lanes in which many
  // overlap.
  enum class Spans : uint8_t { kKept, kNone };

  // The longest of the spans that begin in a column and are not kept; its length is 0 if none is.
  struct Longest {
    int64_t length = 0;
    LaneState state = LaneState::kIdle;
  };

  // The number of columns that a span must cover to be kept.
  static constexpr int64_t kColumnsOfSpan = 2;

  LaneColumns(ColumnRange range, Spans spans) : range_(range), keeps_spans_(spans) {}

  // Adds a span, which may begin and end anywhere. Spans of one lane may come in any order.
  void Add(const LaneSpan& span) {
    if (span.begin >= range_.begin && span.end <= range_.end()) {
      AddInside(span, span.end - span.begin);
    } else {
      AddCut(span);
    }
  }

  // Adds everything in `other`. Its columns must not be wider, and those that overlap the range
  // must be in it as a whole.
  void Add(const LaneColumns& other);

  const ColumnRange& range() const { return range_; }

  // Returns the time in each state, in columns and spans.
  const std::array<int64_t, kLaneStates>& totals() const { return totals_; }

  // Returns the time in a state in each column, without the spans that are kept.
  const ColumnValues& columns(LaneState state) const {
    return columns_[static_cast<size_t>(state)];
  }

  // Returns the longest spans; there may be fewer than columns.
  absl::Span<const Longest> longest() const { return longest_; }

  // Sorts the spans that are kept by time, and returns them.
  absl::Span<const LaneSpan> SortedSpans();

 private:
  void AddCut(LaneSpan span);
  // `length` is that of the span before it was cut to the range.
  void AddInside(const LaneSpan& span, int64_t length);
  void AddTime(int64_t begin, int64_t end, LaneState state);
  void AddLongest(size_t column, Longest longest);

  ColumnRange range_;
  Spans keeps_spans_;
  std::array<int64_t, kLaneStates> totals_ = {};
  std::array<ColumnValues, kLaneStates> columns_;
  std::vector<Longest> longest_;
  std::vector<LaneSpan> spans_;
};

// A lane of a trace whose length is not known yet. Columns become wider as it grows.
class GrowingLane {
 public:
  static constexpr size_t kMaxColumns = 8192;
  static constexpr int64_t kFirstStep = 1024;

  explicit GrowingLane(LaneColumns::Spans spans)
      : spans_(spans), lane_({0, kFirstStep, kMaxColumns}, spans) {}

  // Adds a span that does not begin before 0.
  void Add(const LaneSpan& span) {
    GrowTo(span.end);
    lane_.Add(span);
  }

  // Adds everything in `other`.
  void Merge(const GrowingLane& other) {
    while (lane_.range().step < other.lane_.range().step) Widen();
    lane_.Add(other.lane_);
  }

  // Makes columns at least `step` wide.
  void WidenTo(int64_t step) {
    while (lane_.range().step < step) Widen();
  }

  const LaneColumns& lane() const { return lane_; }

 private:
  void GrowTo(int64_t end) {
    while (lane_.range().end() < end) Widen();
  }
  void Widen() {
    LaneColumns wider({0, 2 * lane_.range().step, kMaxColumns}, spans_);
    wider.Add(lane_);
    lane_ = std::move(wider);
  }

  LaneColumns::Spans spans_;
  LaneColumns lane_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_LANE_COLUMNS_H_
