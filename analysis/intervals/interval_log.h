// Intervals as text, for tests and fuzz targets.
#ifndef GOTRACE_ANALYSIS_INTERVALS_INTERVAL_LOG_H_
#define GOTRACE_ANALYSIS_INTERVALS_INTERVAL_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Stores all intervals.
class IntervalLog : public IntervalConsumer {
 public:
  // Ids of strings and stacks belong to `*interner`, which must outlive this object.
  explicit IntervalLog(const Interner* interner) : interner_(*interner) {}

  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void AddThread(const ThreadInterval& interval) override;

  // Appends what `next` collected of the part of the trace that follows, as an analysis does.
  void Merge(IntervalLog&& next, const InternerMap& ids);

  // Return the intervals in the order in which they were added.
  const std::vector<GoInterval>& goroutines() const { return goroutines_; }
  const std::vector<ProcInterval>& procs() const { return procs_; }
  const std::vector<ThreadInterval>& threads() const { return threads_; }

  // Return the intervals of one resource as text, in the order in which they were added, one per
  // line.
  std::string OfGoroutine(int64_t id) const;
  std::string OfProc(int64_t id) const;
  std::string OfThread(int64_t id) const;

  // Returns all intervals as text, by resource.
  std::string All() const;

  // Returns whether all were added in order of their ends.
  bool IsInOrder() const { return is_in_order_; }

  // Returns "" if the intervals of each resource are as StateTracker promises, and otherwise a
  // description of the problem. Each interval must begin where the previous one ends, or after a
  // gap before which the previous one has end_clipped; consecutive states must differ; and, unless
  // `has_gaps`, only the first and the last interval may be clipped, and the last interval of a
  // resource that did not end must end at `trace_end`. Without `trace_end`, times of the trace go
  // backwards, so lives may overlap.
  std::string FindFault(std::optional<int64_t> trace_end, bool has_gaps) const;

 private:
  void Note(const Interval& interval);

  const Interner& interner_;
  std::vector<GoInterval> goroutines_;
  std::vector<ProcInterval> procs_;
  std::vector<ThreadInterval> threads_;
  int64_t last_end_ = INT64_MIN;
  bool is_in_order_ = true;
};

// The objects that a test needs to track a trace, or a part of it.
struct TrackedTrace {
  Interner interner;
  IntervalLog log{&interner};
  StateTracker tracker{&interner, &log};

  // Appends the part of the trace that follows.
  void Merge(TrackedTrace&& next) {
    const InternerMap ids = tracker.Merge(std::move(next.tracker));
    log.Merge(std::move(next.log), ids);
  }
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_INTERVAL_LOG_H_
