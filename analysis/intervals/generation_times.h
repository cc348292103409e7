// When the generations of a trace began, for analyses that are merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_GENERATION_TIMES_H_
#define GOTRACE_ANALYSIS_INTERVALS_GENERATION_TIMES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Says which intervals are in one generation. Whatever depends only on such intervals, and on
// others of the same generation, is the same wherever the trace is cut into parts.
class GenerationTimes {
 public:
  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events) {
    for (const Event& event : events) {
      if (event.kind() == EventKind::kSync) begins_.push_back(event.time());
    }
    last_event_ = std::max(last_event_, events.back().time());
  }

  // Returns when the generation of a time began.
  int64_t At(int64_t time) const {
    const auto after = absl::c_upper_bound(begins_, time);
    return after == begins_.begin() ? std::numeric_limits<int64_t>::min() : *(after - 1);
  }

  // Returns whether the interval is in one generation, of which everything is known here. Those
  // that cross a border of parts of the trace end after the last event.
  bool HasWhole(const GoInterval& interval) const {
    return !interval.end_clipped && interval.end <= last_event_ &&
           interval.begin >= At(interval.end);
  }

  // Adds those of `next`, which received the following part of the trace.
  void Merge(const GenerationTimes& next) {
    begins_.insert(begins_.end(), next.begins_.begin(), next.begins_.end());
    last_event_ = std::max(last_event_, next.last_event_);
  }

 private:
  std::vector<int64_t> begins_;
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_GENERATION_TIMES_H_
