// Intervals as text, for tests and fuzz targets.
#ifndef GOTRACE_ANALYSIS_INTERVAL_LOG_H_
#define GOTRACE_ANALYSIS_INTERVAL_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Keeps all intervals that it is given.
class IntervalLog : public IntervalConsumer {
 public:
  // Ids of strings and stacks are those of `*interner`, which must outlive this object.
  explicit IntervalLog(const Interner* interner) : interner_(*interner) {}

  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void AddThread(const ThreadInterval& interval) override;

  // Appends what `next` collected of the part of the trace that follows, as an analysis does.
  void Merge(IntervalLog&& next, const InternerMap& ids);

  // In the order in which they came.
  const std::vector<GoInterval>& goroutines() const { return goroutines_; }
  const std::vector<ProcInterval>& procs() const { return procs_; }
  const std::vector<ThreadInterval>& threads() const { return threads_; }

  // The intervals of one resource as text, in the order in which they came, one a line.
  std::string OfGoroutine(int64_t id) const;
  std::string OfProc(int64_t id) const;
  std::string OfThread(int64_t id) const;

  // All of them, by resource.
  std::string All() const;

  // Whether all came in order of their ends.
  bool IsInOrder() const { return is_in_order_; }

  // "" if the intervals of each resource are what StateTracker promises, and otherwise what is
  // wrong: each begins where the one before ends, or after a gap that the one before has
  // end_clipped at; states differ; and only the first and the last may be clipped, unless
  // `has_gaps`. The last intervals of what did not end have the end `trace_end`, unless `has_gaps`.
  // Without `trace_end`, the times of the trace go back: lives may overlap then.
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

// What a test needs to track a trace, or a part of it.
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

#endif  // GOTRACE_ANALYSIS_INTERVAL_LOG_H_
