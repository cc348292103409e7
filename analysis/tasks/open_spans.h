// The tasks and regions that goroutines are in.
#ifndef GOTRACE_ANALYSIS_TASKS_OPEN_SPANS_H_
#define GOTRACE_ANALYSIS_TASKS_OPEN_SPANS_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// Memory is in proportion to the tasks and regions that are open at a time, or were where parts of
// the trace begin.
class OpenSpans {
 public:
  // `*interner` must outlive this object.
  explicit OpenSpans(Interner* interner) : interner_(*interner) {}

  // Takes the next event.
  void Add(const Event& event);

  // Continues with `next`, which received the events of the following part of the trace.
  void Merge(const OpenSpans& next, const InternerMap& ids);

  // Forgets all that is open.
  void Clear();

  // Returns the type of the task that a goroutine is in: that of its innermost region with a task
  // that has not ended or, if there is none, the last task that it began; "" if it is in none, or
  // in one that is older than the trace.
  StringId TaskOf(GoId goroutine);

  // Returns the type of the innermost region that a goroutine is in; "" if it is in none.
  StringId RegionOf(GoId goroutine) const;

 private:
  struct Region {
    TaskId task;
    StringId type;
  };
  struct Spans {
    std::vector<Region> regions;  // The innermost one at the end.
    size_t ended = 0;             // How many regions ended that are older than this part.
    std::vector<TaskId> begun;    // Tasks, the last one at the end. Some may have ended.
  };

  void EndRegion(GoId goroutine);
  void EndTask(TaskId task);

  // Removes the tasks at the end of a list that have ended. Returns the type of the last one that
  // is left; "" if none is.
  StringId LastOf(std::vector<TaskId>* begun) const;

  Interner& interner_;
  absl::flat_hash_map<GoId, Spans> goroutines_;
  absl::flat_hash_map<TaskId, StringId> tasks_;  // Their types, until they end.
  absl::flat_hash_set<TaskId> ended_;            // Tasks that are older than this part.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_OPEN_SPANS_H_
