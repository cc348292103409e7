// Cuts intervals to a window of time.
#ifndef GOTRACE_ANALYSIS_CORE_WINDOW_H_
#define GOTRACE_ANALYSIS_CORE_WINDOW_H_

#include <algorithm>
#include <cstdint>

#include "analysis/core/time_sums.h"
#include "gotrace/event_filter.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

inline bool Overlaps(const EventFilter::Times& window, const Interval& interval) {
  return interval.end > window.from && interval.begin < window.to;
}

// Each returns whether it cut anything.
inline bool CutBegin(const EventFilter::Times& window, Interval* interval) {
  if (interval->begin >= window.from) return false;
  interval->unseen = std::max<int64_t>(interval->unseen - Between(interval->begin, window.from), 0);
  interval->begin = window.from;
  interval->begin_clipped = true;
  return true;
}
inline bool CutEnd(const EventFilter::Times& window, Interval* interval) {
  if (interval->end <= window.to) return false;
  interval->end = window.to;
  interval->end_clipped = true;
  return true;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_WINDOW_H_
