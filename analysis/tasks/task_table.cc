#include "analysis/tasks/task_table.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"

namespace gotrace::internal {

TaskSpan& TaskTable::AddTask(const Event& event) {
  const Task task = event.task();
  Entry& entry = Of(task.id);
  entry.goroutines.insert(event.goroutine());
  TaskRecord& span = entry.span;
  if (!task.type.empty()) span.type = interner_.InternString(task.type);
  if (event.kind() == EventKind::kTaskBegin) {
    span.begin = event.time();
    span.begin_goroutine = event.goroutine();
    span.begin_stack = interner_.InternStack(event.stack());
  } else {
    span.end = event.time();
    span.end_goroutine = event.goroutine();
    span.end_stack = interner_.InternStack(event.stack());
  }
  if (span.parent == TaskId::kNone) span.parent = task.parent;
  return span;
}

void TaskTable::AddLog(const Event& event) {
  const TaskId id = event.log().task;
  AddGoroutine(id, event.goroutine());
  ++Mention(id).logs;
}

void TaskTable::Merge(const TaskTable& next, const InternerMap& ids) {
  for (const auto& [id, more] : next.tasks_) {
    Entry& entry = Of(id);
    entry.goroutines.insert(more.goroutines.begin(), more.goroutines.end());
    TaskRecord& span = entry.span;
    const TaskRecord& rest = more.span;
    span.regions += rest.regions;
    span.logs += rest.logs;
    if (span.parent == TaskId::kNone) span.parent = rest.parent;
    if (rest.type != StringId::kEmpty) span.type = ids(rest.type);
    if (rest.begin.has_value()) {
      span.begin = rest.begin;
      span.begin_goroutine = rest.begin_goroutine;
      span.begin_stack = ids(rest.begin_stack);
    }
    if (rest.end.has_value()) {
      span.end = rest.end;
      span.end_goroutine = rest.end_goroutine;
      span.end_stack = ids(rest.end_stack);
    }
  }
}

std::vector<TaskRecord> TaskTable::Take() {
  std::vector<TaskRecord> tasks;
  for (auto& [id, entry] : tasks_) {
    entry.span.goroutines = entry.goroutines.size();
    tasks.push_back(std::move(entry.span));
  }
  tasks_.clear();
  absl::c_sort(tasks, [](const TaskSpan& a, const TaskSpan& b) { return a.task < b.task; });
  return tasks;
}

}  // namespace gotrace::internal
