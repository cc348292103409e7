// The tasks of a trace, for analyses of tasks and regions.
#ifndef GOTRACE_ANALYSIS_TASKS_TASK_TABLE_H_
#define GOTRACE_ANALYSIS_TASKS_TASK_TABLE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/task_stats.h"

namespace gotrace::internal {

struct TaskRecord : TaskSpan {
  // Where it began and ended; kNone if that is not in the trace.
  StackId begin_stack = StackId::kNone;
  StackId end_stack = StackId::kNone;
};

class TaskTable {
 public:
  // `*interner` must outlive this object.
  explicit TaskTable(Interner* interner) : interner_(*interner) {}

  // Takes a kTaskBegin or kTaskEnd event. Returns the task. An end has no type if the begin is not
  // in the trace, or if the task has ended before: then the type stays what it was.
  TaskSpan& AddTask(const Event& event);

  // Adds a kLog event.
  void AddLog(const Event& event);

  // Counts a region of the task.
  void AddRegion(TaskId id) { ++Of(id).span.regions; }

  // Adds a goroutine to the task.
  void AddGoroutine(TaskId id, GoId goroutine) { Of(id).goroutines.insert(goroutine); }

  // Returns the task, which is added if an event names it for the first time.
  TaskSpan& Mention(TaskId id) { return Of(id).span; }

  // Adds the tasks of `next`, which received the following part of the trace.
  void Merge(const TaskTable& next, const InternerMap& ids);

  // Returns the tasks, in order of their ids, and forgets them.
  std::vector<TaskRecord> Take();

 private:
  struct Entry {
    TaskRecord span;
    absl::flat_hash_set<GoId> goroutines;
  };

  Entry& Of(TaskId id) {
    Entry& entry = tasks_[id];
    entry.span.task = id;
    return entry;
  }

  Interner& interner_;
  absl::flat_hash_map<TaskId, Entry> tasks_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_TASK_TABLE_H_
