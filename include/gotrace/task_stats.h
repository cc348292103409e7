// The tasks and regions of runtime/trace.
#ifndef GOTRACE_TASK_STATS_H_
#define GOTRACE_TASK_STATS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace {

// A region, from its begin to its end on one goroutine.
struct RegionSpan {
  GoId goroutine;
  TaskId task = kBackgroundTask;     // The task that it belongs to.
  StringId type = StringId::kEmpty;  // The name given to StartRegion or WithRegion.

  // When it began and ended. Absent if that is not in the trace. A region that is still open when
  // its goroutine ends is treated as ending with it.
  std::optional<int64_t> begin = std::nullopt;
  std::optional<int64_t> end = std::nullopt;

  // How its goroutine spent the time in it.
  ExecutionTimes times = {};
};

// A task.
struct TaskSpan {
  TaskId task;
  TaskId parent = TaskId::kNone;     // kNone if there is none, or if it is unknown.
  StringId type = StringId::kEmpty;  // The name given to NewTask; "" if unknown.

  // When it began and ended, and on which goroutines. Absent, or kNone, if that is not in the
  // trace.
  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  GoId begin_goroutine;
  GoId end_goroutine;

  uint64_t regions = 0;     // How many regions belong to it.
  uint64_t logs = 0;        // How many messages.
  uint64_t goroutines = 0;  // How many goroutines began, ended or logged in it, or had its regions.

  // How the time in its regions was spent. Of nested regions only the outermost counts, so that no
  // time of a goroutine counts twice.
  ExecutionTimes times = {};
};

// Regions, or tasks, of one type.
struct SpanGroup {
  StringId type = StringId::kEmpty;
  uint64_t count = 0;
  uint64_t open = 0;          // How many of them lack their begin or their end in the trace:
  uint64_t no_begin = 0;      // their begin,
  uint64_t no_end = 0;        // their end; some lack both.
  Histogram duration;         // Of the others, in nanoseconds.
  ExecutionTimes times = {};  // The sums over all of them.
};

// Computes the regions and tasks, and how the time in them was spent. The numbers equal those of
// Go's own internal/trace, except for the entries of analysis/DIVERGENCES.md, for which
// GoCompatibleStats exists.
//
// Memory is in proportion to the regions and tasks, and to the goroutines that exist at a time.
class TaskStats final : public MergeableAnalysis<TaskStats> {
 public:
  // `*interner` must outlive this object. Only regions on goroutines that `filter` selects are
  // counted, and only regions and tasks that overlap its `times`.
  TaskStats(Interner* interner, EventFilter filter);
  ~TaskStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(TaskStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Return the results, after Finish(). Regions are in order of their ends, with regions without an
  // end last; tasks are in order of ids.
  absl::Span<const RegionSpan> regions() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  absl::Span<const TaskSpan> tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Sums up regions, or tasks, by their types, in order of the types' names.
std::vector<SpanGroup> GroupByType(absl::Span<const RegionSpan> regions, const Interner& interner);
std::vector<SpanGroup> GroupByType(absl::Span<const TaskSpan> tasks, const Interner& interner);

}  // namespace gotrace

#endif  // GOTRACE_TASK_STATS_H_
