// The tasks that goroutines are in.
#ifndef GOTRACE_ANALYSIS_TASKS_GOROUTINE_TASKS_H_
#define GOTRACE_ANALYSIS_TASKS_GOROUTINE_TASKS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// Knows only tasks and regions that begin in the current generation of the trace, so that the
// result is the same wherever the trace is cut.
class GoroutineTasks {
 public:
  // `*interner` must outlive this object.
  explicit GoroutineTasks(Interner* interner) : interner_(*interner) {}

  // Takes the next event.
  void Add(const Event& event);

  // Returns the type of the task that a goroutine is in: that of its innermost region with a task
  // that has not ended or, if there is none, the last task that it began; "" if it is in none.
  StringId TypeOf(GoId goroutine);

 private:
  Interner& interner_;
  absl::flat_hash_map<TaskId, StringId> tasks_;  // The types of those that have not ended.
  // The tasks that a goroutine began, the last one at the end. Some may have ended.
  absl::flat_hash_map<GoId, std::vector<TaskId>> begun_;
  absl::flat_hash_map<GoId, std::vector<TaskId>> regions_;  // The innermost one at the end.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_GOROUTINE_TASKS_H_
