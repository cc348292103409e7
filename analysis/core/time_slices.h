// Sums over time, in slices whose length adapts to the length of the trace.
#ifndef GOTRACE_ANALYSIS_CORE_TIME_SLICES_H_
#define GOTRACE_ANALYSIS_CORE_TIME_SLICES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "analysis/core/time_sums.h"

namespace gotrace::internal {

// Slices begin at multiples of their length, which is a power of ten. So the slices of two parts of
// a trace can be added, even if they overlap.
//
// A time may have any length. The amount for slices that lie completely inside it is stored only
// where it begins and ends, so that each time changes only four slices.
//
// `Sums` has the function Add(const Sums& other).
template <class Sums>
class TimeSlices {
 public:
  // Calls `add(sums, length)` so that each slice gets the length of its part of the time from
  // `begin` to `end`. What `add` adds must be in proportion to the length, which may be negative.
  template <class Add>
  void Spread(int64_t begin, int64_t end, const Add& add) {
    if (begin >= end) return;
    MakeRoom(IndexOf(begin), IndexOf(end - 1));
    const int64_t first = IndexOf(begin);
    const int64_t last = IndexOf(end - 1);
    if (first == last) return add(At(first).sums, Between(begin, end));
    add(At(first).sums, Between(begin, (first + 1) * width_));
    add(At(last).sums, Between(last * width_, end));
    if (last == first + 1) return;
    add(At(first + 1).of_each_from_here, width_);
    add(At(last).of_each_from_here, -width_);
  }

  void Merge(const TimeSlices& other) {
    TimeSlices copy = other;
    while (width_ < copy.width_) Widen();
    while (copy.width_ < width_) copy.Widen();
    if (copy.slices_.empty()) return;
    MakeRoom(copy.first_, copy.first_ + static_cast<int64_t>(copy.slices_.size()) - 1);
    while (copy.width_ < width_) copy.Widen();
    const std::vector<Sums> sums = copy.Slices();
    for (size_t i = 0; i < sums.size(); ++i) {
      At(copy.first_ + static_cast<int64_t>(i)).sums.Add(sums[i]);
    }
  }

  // Return the length of the slices in nanoseconds, and the number of the first one, which begins
  // at that multiple of the length.
  int64_t width() const { return width_; }
  int64_t first() const { return first_; }

  // Returns the sums in the slices.
  std::vector<Sums> Slices() const {
    std::vector<Sums> result;
    result.reserve(slices_.size());
    Sums of_each;
    for (const Slice& slice : slices_) {
      of_each.Add(slice.of_each_from_here);
      result.push_back(slice.sums);
      result.back().Add(of_each);
    }
    return result;
  }

  // Rounds down, also below 0. Requires by > 0.
  static int64_t Divide(int64_t number, int64_t by) {
    return number / by - (number % by < 0 ? 1 : 0);
  }

 private:
  // Enough that slices can be combined into longer ones of nearly any length.
  static constexpr int64_t kMaxSlices = 10'000;

  struct Slice {
    Sums sums;
    Sums of_each_from_here;  // Sums to add to this slice and each later one.
  };

  int64_t IndexOf(int64_t time) const { return Divide(time, width_); }
  Slice& At(int64_t index) { return slices_[static_cast<size_t>(index - first_)]; }

  // Adds slices, so that the slices from `first` to `last` exist, or the longer slices that replace
  // them.
  void MakeRoom(int64_t first, int64_t last) {
    if (slices_.empty()) first_ = first;
    while (true) {
      const int64_t end = first_ + static_cast<int64_t>(slices_.size());
      if (std::max(last + 1, end) - std::min(first, first_) <= kMaxSlices) break;
      Widen();
      first = Divide(first, 10);
      last = Divide(last, 10);
    }
    for (; first_ > first; --first_) slices_.emplace_front();
    while (first_ + static_cast<int64_t>(slices_.size()) <= last) slices_.emplace_back();
  }

  void Widen() {
    std::deque<Slice> wide;
    const int64_t first = Divide(first_, 10);
    const std::vector<Sums> sums = Slices();
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto to = static_cast<size_t>(Divide(first_ + static_cast<int64_t>(i), 10) - first);
      if (to >= wide.size()) wide.resize(to + 1);
      wide[to].sums.Add(sums[i]);
    }
    slices_ = std::move(wide);
    first_ = first;
    width_ *= 10;
  }

  int64_t width_ = 1000;
  int64_t first_ = 0;
  std::deque<Slice> slices_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_TIME_SLICES_H_
