#include "analysis/tasks/goroutine_tasks.h"

#include <algorithm>
#include <cstddef>

#include "gotrace/event_kind.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

// Of how many nested regions the task is looked for.
constexpr size_t kDepth = 16;

}  // namespace

void GoroutineTasks::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kSync:
      tasks_.clear();
      begun_.clear();
      regions_.clear();
      break;
    case EventKind::kTaskBegin: {
      const gotrace::Task task = event.task();
      tasks_[task.id] = interner_.InternString(task.type);
      begun_[event.goroutine()].push_back(task.id);
      break;
    }
    case EventKind::kTaskEnd:
      tasks_.erase(event.task().id);
      break;
    case EventKind::kRegionBegin:
      regions_[event.goroutine()].push_back(event.region().task);
      break;
    case EventKind::kRegionEnd:
      if (const auto regions = regions_.find(event.goroutine()); regions != regions_.end()) {
        regions->second.pop_back();
        if (regions->second.empty()) regions_.erase(regions);
      }
      break;
    case EventKind::kStateTransition:
      if (event.transition_resource().kind == ResourceKind::kGoroutine &&
          event.transition_to() == static_cast<uint8_t>(GoState::kNotExist)) {
        begun_.erase(GoId{event.transition_resource().id});
        regions_.erase(GoId{event.transition_resource().id});
      }
      break;
    default:
      break;
  }
}

StringId GoroutineTasks::TypeOf(GoId goroutine) {
  if (const auto regions = regions_.find(goroutine); regions != regions_.end()) {
    const std::vector<TaskId>& ids = regions->second;
    for (size_t i = 0; i < std::min(ids.size(), kDepth); ++i) {
      if (const auto task = tasks_.find(ids[ids.size() - 1 - i]); task != tasks_.end()) {
        return task->second;
      }
    }
  }
  const auto begun = begun_.find(goroutine);
  if (begun == begun_.end()) return StringId::kEmpty;
  for (std::vector<TaskId>& ids = begun->second; !ids.empty(); ids.pop_back()) {
    if (const auto task = tasks_.find(ids.back()); task != tasks_.end()) return task->second;
  }
  begun_.erase(begun);
  return StringId::kEmpty;
}

}  // namespace gotrace::internal
