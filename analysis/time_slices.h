// Sums over time, in slices of a length that adapts to how long the trace is.
#ifndef GOTRACE_ANALYSIS_TIME_SLICES_H_
#define GOTRACE_ANALYSIS_TIME_SLICES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "analysis/time_sums.h"

namespace gotrace::internal {

// Slices begin at multiples of their length, which is a power of ten. So those of two parts of a
// trace can be added up, whatever they have in common.
//
// `Sums` has the function Add(const Sums& other).
template <class Sums>
class TimeSlices {
 public:
  // Calls `add(sums, length)` for each slice that has a part of the time from `begin` to `end`,
  // with the length of that part.
  template <class Add>
  void Spread(int64_t begin, int64_t end, const Add& add) {
    if (begin >= end) return;
    MakeRoom(IndexOf(begin), IndexOf(end - 1));
    const int64_t first = IndexOf(begin);
    const int64_t last = IndexOf(end - 1);
    for (int64_t i = first; i <= last; ++i) {
      const int64_t from = i == first ? begin : i * width_;
      const int64_t to = i == last ? end : (i + 1) * width_;
      add(slices_[static_cast<size_t>(i - first_)], Between(from, to));
    }
  }

  void Merge(const TimeSlices& other) {
    TimeSlices copy = other;
    while (width_ < copy.width_) Widen();
    while (copy.width_ < width_) copy.Widen();
    if (copy.slices_.empty()) return;
    MakeRoom(copy.first_, copy.first_ + static_cast<int64_t>(copy.slices_.size()) - 1);
    while (copy.width_ < width_) copy.Widen();
    for (size_t i = 0; i < copy.slices_.size(); ++i) {
      slices_[static_cast<size_t>(copy.first_ - first_) + i].Add(copy.slices_[i]);
    }
  }

  // The length of the slices in nanoseconds, the number of the first one, which begins at that
  // multiple of the length, and the slices.
  int64_t width() const { return width_; }
  int64_t first() const { return first_; }
  const std::deque<Sums>& slices() const { return slices_; }

  // Rounds down, also below 0. Requires by > 0.
  static int64_t Divide(int64_t number, int64_t by) {
    return number / by - (number % by < 0 ? 1 : 0);
  }

 private:
  // Enough that slices can be put together to longer ones of nearly any length.
  static constexpr int64_t kMaxSlices = 10'000;

  int64_t IndexOf(int64_t time) const { return Divide(time, width_); }

  // Adds slices, so that those from `first` to `last` are there, or what takes their place once
  // slices are longer.
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
    std::deque<Sums> wide;
    const int64_t first = Divide(first_, 10);
    for (size_t i = 0; i < slices_.size(); ++i) {
      const auto to = static_cast<size_t>(Divide(first_ + static_cast<int64_t>(i), 10) - first);
      if (to >= wide.size()) wide.resize(to + 1);
      wide[to].Add(slices_[i]);
    }
    slices_ = std::move(wide);
    first_ = first;
    width_ *= 10;
  }

  int64_t width_ = 1000;
  int64_t first_ = 0;
  std::deque<Sums> slices_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TIME_SLICES_H_
