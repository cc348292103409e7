#include "analysis/tasks/task_table.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"

namespace gotrace::internal {

TaskLife& TaskTable::AddTask(const Event& event) {
  const Task task = event.task();
  Entry& entry = Of(task.id);
  entry.goroutines.insert(event.goroutine());
  TaskRecord& life = entry.life;
  if (!task.type.empty()) life.type = interner_.InternString(task.type);
  if (event.kind() == EventKind::kTaskBegin) {
    life.begin = event.time();
    life.begin_goroutine = event.goroutine();
    life.begin_stack = interner_.InternStack(event.stack());
  } else {
    life.end = event.time();
    life.end_goroutine = event.goroutine();
    life.end_stack = interner_.InternStack(event.stack());
  }
  if (life.parent == TaskId::kNone) life.parent = task.parent;
  return life;
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
    TaskRecord& life = entry.life;
    const TaskRecord& rest = more.life;
    life.regions += rest.regions;
    life.logs += rest.logs;
    if (life.parent == TaskId::kNone) life.parent = rest.parent;
    if (rest.type != StringId::kEmpty) life.type = ids(rest.type);
    if (rest.begin.has_value()) {
      life.begin = rest.begin;
      life.begin_goroutine = rest.begin_goroutine;
      life.begin_stack = ids(rest.begin_stack);
    }
    if (rest.end.has_value()) {
      life.end = rest.end;
      life.end_goroutine = rest.end_goroutine;
      life.end_stack = ids(rest.end_stack);
    }
  }
}

std::vector<TaskRecord> TaskTable::Take() {
  std::vector<TaskRecord> tasks;
  for (auto& [id, entry] : tasks_) {
    entry.life.goroutines = entry.goroutines.size();
    tasks.push_back(std::move(entry.life));
  }
  tasks_.clear();
  absl::c_sort(tasks, [](const TaskLife& a, const TaskLife& b) { return a.task < b.task; });
  return tasks;
}

}  // namespace gotrace::internal
