// The values of a metric over a trace whose length is not known yet.
#ifndef GOTRACE_VIEW_GROWING_METRIC_H_
#define GOTRACE_VIEW_GROWING_METRIC_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "view/lane_columns.h"

namespace gotrace::internal {

// The largest and the last value in each column. Columns become wider as the metric grows.
class GrowingMetric {
 public:
  struct Column {
    uint64_t max = 0;
    uint64_t last = 0;
    bool has_value = false;

    // Adds what a later column has.
    void Append(const Column& next) {
      if (!next.has_value) return;
      max = std::max(max, next.max);
      last = next.last;
      has_value = true;
    }
  };

  // Adds a value at a time, which must not be before 0. Values come in order of time.
  void Add(int64_t time, uint64_t value) {
    const auto index = [&] { return static_cast<size_t>(time / step_); };
    while (index() >= GrowingLane::kMaxColumns) Widen();
    if (index() >= columns_.size()) columns_.resize(index() + 1);
    columns_[index()].Append({value, value, true});
  }

  // Appends later values.
  void Merge(GrowingMetric next) {
    while (step_ < next.step_) Widen();
    while (next.step_ < step_) next.Widen();
    if (columns_.size() < next.columns_.size()) columns_.resize(next.columns_.size());
    for (size_t i = 0; i < next.columns_.size(); ++i) columns_[i].Append(next.columns_[i]);
  }

  int64_t step() const { return step_; }
  const std::vector<Column>& columns() const { return columns_; }

  // Returns the largest value in each column of a range, whose columns must not be narrower. A
  // value lasts until the next one.
  std::vector<int64_t> MaxIn(const ColumnRange& range) const {
    std::vector<int64_t> values(range.count);
    uint64_t current = 0;
    size_t next = 0;
    for (size_t i = 0; i < range.count; ++i) {
      const int64_t begin = range.begin + range.step * static_cast<int64_t>(i);
      Column all = {.max = current, .last = current};
      for (; next < columns_.size(); ++next) {
        const int64_t time = step_ * static_cast<int64_t>(next);
        if (time >= begin + range.step) break;
        if (time < begin) {
          // Before the range.
          if (columns_[next].has_value) all.max = all.last = columns_[next].last;
        } else {
          all.Append(columns_[next]);
        }
      }
      values[i] = static_cast<int64_t>(all.max);
      current = all.last;
    }
    return values;
  }

 private:
  void Widen() {
    step_ *= 2;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column column = columns_[i];
      columns_[i] = {};
      columns_[i / 2].Append(column);
    }
    columns_.resize((columns_.size() + 1) / 2);
  }

  int64_t step_ = GrowingLane::kFirstStep;
  std::vector<Column> columns_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_GROWING_METRIC_H_
