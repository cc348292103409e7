// Goroutines that wait by giving up their P again and again.
#ifndef GOTRACE_ANALYSIS_SUMMARY_YIELD_LOOPS_H_
#define GOTRACE_ANALYSIS_SUMMARY_YIELD_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Counts calls of runtime.Gosched by their stacks, and how long the goroutines were ready until
// they ran again. Mergeable, as an analysis. Memory is in proportion to these stacks.
class YieldLoops {
 public:
  // `*interner` must outlive this object.
  explicit YieldLoops(Interner* interner)
      : gosched_(interner->InternString("runtime.Gosched")),
        interner_(*interner),
        places_(interner) {}

  void AddGoroutine(const GoInterval& interval) {
    if (interval.state != GoState::kRunnable || interval.reason != gosched_) return;
    yields_[interval.stack].Add(interval.Seen().duration());
  }
  void Merge(const YieldLoops& next, const InternerMap& ids);

  // Returns the places that can be suspected, in this trace or together with others. `duration` is
  // the length of the trace.
  std::vector<TraceSummary::Suspicion> FindCandidates(int64_t duration);

 private:
  const StringId gosched_;
  const Interner& interner_;
  StackPlaces places_;
  absl::flat_hash_map<StackId, Histogram> yields_;
};

// Returns whether a candidate for kYields is above the thresholds that only its kind has.
bool IsYielding(const TraceSummary::Suspicion& candidate, const TraceSummary& summary);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_YIELD_LOOPS_H_
