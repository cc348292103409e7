// The windows with the lowest utilization, found in the integrals of the series.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "gotrace/mutator_utilization.h"

namespace gotrace {
namespace {

using Series = UtilizationSeries;

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// A series with the integral of the utilization at each of its points.
class IntegratedSeries {
 public:
  explicit IntegratedSeries(const Series& points) : points_(points) {
    double sum = 0;
    const UtilizationPoint* previous = &points_.front();
    for (const UtilizationPoint& point : points_) {
      sum += previous->utilization * static_cast<double>(point.time - previous->time);
      sums_.push_back(sum);
      previous = &point;
    }
  }

  int64_t begin() const { return points_.front().time; }
  int64_t end() const { return points_.back().time; }

  // Returns the lowest window that begins between `first` and `last`, both included. All such
  // windows must be in the series. The mean utilization is linear in the time of the window, except
  // where one of its edges is at a point. So the minimum is at such a place.
  UtilizationWindow FindLowest(int64_t window, int64_t first, int64_t last) const {
    UtilizationWindow lowest = {first, 1};
    size_t left = FindPoint(first);
    size_t right = FindPoint(first + window);
    for (int64_t time = first;;) {
      const double mean =
          (IntegralAt(right, time + window) - IntegralAt(left, time)) / static_cast<double>(window);
      if (mean < lowest.utilization) lowest = {time, mean};
      if (time == last) return lowest;
      // Neither is the last point, since the window ends before the series does.
      const int64_t to_left = points_[left + 1].time - time;
      const int64_t to_right = points_[right + 1].time - window - time;
      time = std::min(time + std::min(to_left, to_right), last);
      if (points_[left + 1].time <= time) ++left;
      if (points_[right + 1].time <= time + window) ++right;
    }
  }

 private:
  // Returns the index of the last point that is not after `time`.
  size_t FindPoint(int64_t time) const {
    const auto after = std::upper_bound(
        points_.begin(), points_.end(), time,
        [](int64_t value, const UtilizationPoint& point) { return value < point.time; });
    return static_cast<size_t>(after - points_.begin()) - 1;
  }

  // Returns the integral up to `time`. `point` must be FindPoint(time).
  double IntegralAt(size_t point, int64_t time) const {
    return sums_[point] +
           points_[point].utilization * static_cast<double>(time - points_[point].time);
  }

  const Series points_;
  std::vector<double> sums_;
};

}  // namespace

class MmuCurve::Impl {
 public:
  explicit Impl(absl::Span<const UtilizationSeries> series) {
    for (const Series& one : series) {
      if (!one.empty() && one.front().time < one.back().time) series_.emplace_back(one);
    }
  }

  double Mmu(int64_t window) const {
    if (window <= 0) return 0;
    const std::optional<Found> found = FindLowest(window, kMin, kForever);
    return found.has_value() ? found->window.utilization : 1;
  }

  std::vector<UtilizationWindow> Worst(int64_t window, size_t count) const {
    std::vector<UtilizationWindow> worst;
    if (window <= 0) return worst;
    std::vector<Found> found;  // The lowest windows of the remaining times.
    const auto find = [&](int64_t begin, int64_t end) {
      if (std::optional<Found> one = FindLowest(window, begin, end)) found.push_back(*one);
    };
    find(kMin, kForever);
    while (worst.size() < count && !found.empty()) {
      const auto lowest = absl::c_min_element(found);
      const Found taken = *lowest;
      found.erase(lowest);
      worst.push_back(taken.window);
      find(taken.begin, taken.window.time);
      find(taken.window.time + taken.length, taken.end);
    }
    return worst;
  }

 private:
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

  // The lowest window between `begin` and `end`.
  struct Found {
    UtilizationWindow window;
    int64_t length = 0;  // Of the window.
    int64_t begin = 0;
    int64_t end = 0;

    friend bool operator<(const Found& a, const Found& b) {
      return std::pair(a.window.utilization, a.window.time) <
             std::pair(b.window.utilization, b.window.time);
    }
  };

  std::optional<Found> FindLowest(int64_t window, int64_t begin, int64_t end) const {
    std::optional<Found> lowest;
    for (const IntegratedSeries& series : series_) {
      const int64_t length = std::min(window, series.end() - series.begin());
      const int64_t first = std::max(begin, series.begin());
      const int64_t limit = std::min(end, series.end());
      if (first >= limit || limit - first < length) continue;
      const Found found = {series.FindLowest(length, first, limit - length), length, begin, end};
      if (!lowest.has_value() || found < *lowest) lowest = found;
    }
    return lowest;
  }

  std::vector<IntegratedSeries> series_;
};

MmuCurve::MmuCurve(absl::Span<const UtilizationSeries> series)
    : impl_(std::make_unique<const Impl>(series)) {}
MmuCurve::~MmuCurve() = default;
double MmuCurve::Mmu(int64_t window) const { return impl_->Mmu(window); }
std::vector<UtilizationWindow> MmuCurve::Worst(int64_t window, size_t count) const {
  return impl_->Worst(window, count);
}

}  // namespace gotrace
