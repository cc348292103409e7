// The statistics of goroutines, regions and tasks as Go's own tools compute them.
#ifndef GOTRACE_GO_STATS_H_
#define GOTRACE_GO_STATS_H_

#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event_sink.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/task_stats.h"

namespace gotrace {

// Computes exactly the numbers of the Summarizer of Go 1.27's internal/trace, including numbers
// that the trace contradicts, which analysis/DIVERGENCES.md lists. For comparison with Go's tools
// only: GoroutineStats is correct and faster.
//
// Memory is in proportion to the goroutines, regions and tasks in the trace.
class GoCompatibleStats final : public EventSink {
 public:
  // `*interner` must outlive this object.
  explicit GoCompatibleStats(Interner* interner);
  ~GoCompatibleStats() override;

  void Add(absl::Span<const Event> events) override;

  // Returns OK.
  absl::Status Finish() override;

  // Returns the last goroutine of each id, in order of ids. is_older is true for all goroutines
  // that Go assumes to be older than the trace. Valid after Finish(), like the results below, and
  // with sorted names, as in ExecutionTimes::blocked.
  absl::Span<const GoroutineSpan> goroutines() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the regions in order of goroutines, and then of begins. A goroutine that is created in
  // a region has an additional region of the same task, whose type is "".
  absl::Span<const RegionSpan> regions() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the tasks in order of ids.
  absl::Span<const TaskSpan> tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_GO_STATS_H_
