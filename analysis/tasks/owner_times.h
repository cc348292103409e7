// How the goroutines that began tasks spent their time until the tasks ended.
#ifndef GOTRACE_ANALYSIS_TASKS_OWNER_TIMES_H_
#define GOTRACE_ANALYSIS_TASKS_OWNER_TIMES_H_

#include <cstdint>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/ids.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Computes for each task how the goroutine that began it spent its time until the task, or the
// goroutine, ended. For tasks without regions, which do not say who works for them. Parts of a
// trace cannot be merged, since a part does not know who began the tasks that are older.
class OwnerTimes {
 public:
  // Only tasks that goroutines which `filter` selects began.
  explicit OwnerTimes(EventFilter filter) : filter_(std::move(filter)) {}

  // These are called as those of an analysis.
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Finish();

  // Returns the times of a task, without those in ranges of the runtime, after Finish(); nullptr if
  // its begin is not in the trace. Valid as long as this object.
  const ExecutionTimes* Find(TaskId task) const;

 private:
  // The begin or the end of a task, as long as the interval of its goroutine that contains it is
  // not known.
  struct Mark {
    int64_t time = 0;
    TaskId task;
    bool is_end = false;
  };
  struct Owner {
    ExecutionTimes times;                               // Up to the last interval.
    std::deque<Mark> marks;                             // In order of time.
    absl::flat_hash_map<TaskId, ExecutionTimes> begun;  // The times when the task began.
  };

  void Resolve(const Mark& mark, Owner* owner);
  void EndAll(Owner* owner);

  const EventFilter filter_;
  absl::flat_hash_map<TaskId, GoId> owners_;  // Of the tasks that have not ended.
  absl::flat_hash_map<GoId, Owner> goroutines_;
  absl::flat_hash_map<TaskId, ExecutionTimes> times_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_OWNER_TIMES_H_
