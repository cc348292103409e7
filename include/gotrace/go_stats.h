// The statistics of goroutines, regions and tasks as Go's own tools compute them.
#ifndef GOTRACE_GO_STATS_H_
#define GOTRACE_GO_STATS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event_sink.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/task_stats.h"

namespace gotrace {

// Computes the very numbers that the Summarizer of Go 1.27's internal/trace does, those included
// that the trace contradicts; analysis/DIVERGENCES.md lists these. It is for comparison with Go's
// tools: GoroutineStats is right and faster.
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

  // The results, after Finish(). Where there are several names, as in ExecutionTimes::blocked, they
  // are sorted.
  //
  // In order of ids. The last life of each id; is_older is true of all that Go takes to have been
  // there before the trace.
  absl::Span<const GoroutineLife> goroutines() const;

  // In order of goroutines, and of the times of their begins. A goroutine that is created in a
  // region has an additional region of the same task, whose type is "".
  absl::Span<const RegionLife> regions() const;

  // In order of ids.
  absl::Span<const TaskLife> tasks() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_GO_STATS_H_
