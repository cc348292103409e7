#include "analysis/tasks/open_spans.h"

#include <algorithm>

#include "gotrace/event_kind.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

// Of how many nested regions the task is looked for.
constexpr size_t kDepth = 16;

}  // namespace

void OpenSpans::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kTaskBegin: {
      const gotrace::Task task = event.task();
      std::vector<TaskId>& begun = goroutines_[event.goroutine()].begun;
      LastOf(&begun);  // Removes tasks that have ended.
      begun.push_back(task.id);
      tasks_[task.id] = interner_.InternString(task.type);
      break;
    }
    case EventKind::kTaskEnd:
      EndTask(event.task().id);
      break;
    case EventKind::kRegionBegin: {
      const gotrace::Region region = event.region();
      goroutines_[event.goroutine()].regions.push_back(
          {region.task, interner_.InternString(region.type)});
      break;
    }
    case EventKind::kRegionEnd:
      EndRegion(event.goroutine());
      break;
    case EventKind::kStateTransition:
      if (event.transition_resource().kind == ResourceKind::kGoroutine &&
          event.transition_to() == static_cast<uint8_t>(GoState::kNotExist)) {
        goroutines_.erase(GoId{event.transition_resource().id});
      }
      break;
    default:
      break;
  }
}

// Whatever an end says, it is that of the innermost region.
void OpenSpans::EndRegion(GoId goroutine) {
  const auto it = goroutines_.try_emplace(goroutine).first;
  Spans& spans = it->second;
  if (spans.regions.empty()) {
    ++spans.ended;
    return;
  }
  spans.regions.pop_back();
  if (spans.regions.empty() && spans.ended == 0 && spans.begun.empty()) goroutines_.erase(it);
}

void OpenSpans::EndTask(TaskId task) {
  if (tasks_.erase(task) == 0) ended_.insert(task);
}

void OpenSpans::Merge(const OpenSpans& next, const InternerMap& ids) {
  for (const TaskId task : next.ended_) EndTask(task);
  for (const auto& [task, type] : next.tasks_) tasks_[task] = ids(type);
  for (const auto& [goroutine, rest] : next.goroutines_) {
    for (size_t i = 0; i < rest.ended; ++i) EndRegion(goroutine);
    Spans& spans = goroutines_[goroutine];
    for (const Region& region : rest.regions) {
      spans.regions.push_back({region.task, ids(region.type)});
    }
    spans.begun.insert(spans.begun.end(), rest.begun.begin(), rest.begun.end());
  }
}

void OpenSpans::Clear() {
  goroutines_.clear();
  tasks_.clear();
  ended_.clear();
}

StringId OpenSpans::TaskOf(GoId goroutine) {
  const auto it = goroutines_.find(goroutine);
  if (it == goroutines_.end()) return StringId::kEmpty;
  Spans& spans = it->second;
  for (size_t i = 0; i < std::min(spans.regions.size(), kDepth); ++i) {
    const TaskId id = spans.regions[spans.regions.size() - 1 - i].task;
    if (const auto task = tasks_.find(id); task != tasks_.end()) return task->second;
  }
  return LastOf(&spans.begun);
}

StringId OpenSpans::LastOf(std::vector<TaskId>* begun) const {
  for (; !begun->empty(); begun->pop_back()) {
    const auto task = tasks_.find(begun->back());
    if (task != tasks_.end()) return task->second;
  }
  return StringId::kEmpty;
}

StringId OpenSpans::RegionOf(GoId goroutine) const {
  const auto it = goroutines_.find(goroutine);
  const bool has_region = it != goroutines_.end() && !it->second.regions.empty();
  return has_region ? it->second.regions.back().type : StringId::kEmpty;
}

}  // namespace gotrace::internal
