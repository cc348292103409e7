// The intervals of one goroutine in one generation, and what it woke, with stacks and causes.
#ifndef GOTRACE_VIEW_SPAN_DETAILS_H_
#define GOTRACE_VIEW_SPAN_DETAILS_H_

#include <memory>
#include <vector>

#include "gotrace/analysis.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace::internal {

class IntervalsOfGoroutine final : public Analysis {
 public:
  explicit IntervalsOfGoroutine(GoId goroutine) : goroutine_(goroutine) {}

  void AddGoroutine(const GoInterval& interval) override {
    if (interval.goroutine == goroutine_) own_.push_back(interval);
    if (interval.state == GoState::kRunnable && interval.begun_by.kind == CauseKind::kGoroutine &&
        interval.begun_by.goroutine == goroutine_ && !interval.begin_clipped) {
      woken_.push_back(interval);
    }
  }

  // Returns its intervals, in order of time.
  const std::vector<GoInterval>& own() const { return own_; }

  // Returns the intervals in which goroutines that it woke, or created, wait to run.
  const std::vector<GoInterval>& woken() const { return woken_; }

 private:
  const GoId goroutine_;
  std::vector<GoInterval> own_;
  std::vector<GoInterval> woken_;
};

// The analysis, with the strings and stacks of its intervals.
struct GoroutineIntervals {
  std::unique_ptr<AnalysisSink> sink;

  const IntervalsOfGoroutine& intervals() const {
    return static_cast<const IntervalsOfGoroutine&>(sink->analysis());
  }
  const Interner& interner() const { return sink->interner(); }
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_SPAN_DETAILS_H_
