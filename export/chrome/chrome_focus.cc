#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gotrace/chrome_exporter.h"

namespace gotrace {
namespace {

using GoIds = std::set<GoId>;

// No goroutine has this id; an empty filter would mean all goroutines.
constexpr GoId kNoGoroutine{-2};

}  // namespace

class ChromeFocus::State {
 public:
  State(On on, EventFilter* filter, std::set<TaskId>* tasks)
      : on_(on), filter_(*filter), tasks_(*tasks) {}

  void Add(const Event& event) {
    if (on_ == On::kRelatedGoroutines) return AddUnblock(event);
    switch (event.kind()) {
      case EventKind::kTaskBegin: {
        const Task task = event.task();
        TaskUse& use = uses_[task.id];
        use.begin = event.time();
        use.parent = task.parent;
        use.goroutines.insert(event.goroutine());
        break;
      }
      case EventKind::kTaskEnd: {
        TaskUse& use = uses_[event.task().id];
        use.end = event.time();
        use.goroutines.insert(event.goroutine());
        break;
      }
      case EventKind::kRegionBegin:
      case EventKind::kRegionEnd:
        uses_[event.region().task].goroutines.insert(event.goroutine());
        break;
      case EventKind::kLog:
        uses_[event.log().task].goroutines.insert(event.goroutine());
        break;
      default:
        break;
    }
  }

  absl::Status Finish() {
    if (on_ == On::kRelatedGoroutines) {
      AddUnblockers();
      AddUnblockers();
      return absl::OkStatus();
    }
    uses_.erase(kBackgroundTask);
    for (const TaskId task : tasks_) {
      if (uses_.contains(task)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("there is no task ", task.value, " in this trace"));
    }
    FocusOnTasks();
    return absl::OkStatus();
  }

 private:
  // The facts known about a task.
  struct TaskUse {
    int64_t begin = EventFilter::Times().from;
    int64_t end = EventFilter::Times().to;
    TaskId parent;
    GoIds goroutines;
  };

  void AddUnblock(const Event& event) {
    if (event.kind() != EventKind::kStateTransition || event.goroutine() == GoId::kNone ||
        event.transition_resource().kind != ResourceKind::kGoroutine ||
        event.transition_from() != static_cast<uint8_t>(GoState::kWaiting) ||
        event.transition_to() == static_cast<uint8_t>(GoState::kWaiting)) {
      return;
    }
    unblocks_.emplace(event.goroutine(), GoId{event.transition_resource().id});
  }

  // Adds the goroutines that unblocked those of the filter.
  void AddUnblockers() {
    GoIds more = filter_.goroutines;
    for (const auto& [by, unblocked] : unblocks_) {
      if (filter_.goroutines.contains(unblocked)) more.insert(by);
    }
    filter_.goroutines = std::move(more);
  }

  void FocusOnTasks() {
    if (!tasks_.empty()) {
      EventFilter::Times times = {EventFilter::Times().to, EventFilter::Times().from};
      for (const TaskId task : tasks_) {
        times.from = std::min(times.from, uses_[task].begin);
        times.to = std::max(times.to, uses_[task].end);
      }
      filter_.times.from = std::max(filter_.times.from, times.from);
      filter_.times.to = std::min(filter_.times.to, times.to);
      AddDescendants();
    }
    if (on_ == On::kTaskTimes) return;
    GoIds involved = {kNoGoroutine};
    for (const auto& [task, use] : uses_) {
      if (!tasks_.empty() && !tasks_.contains(task)) continue;
      for (const GoId id : use.goroutines) {
        if (filter_.goroutines.empty() || filter_.goroutines.contains(id)) involved.insert(id);
      }
    }
    filter_.goroutines = std::move(involved);
  }

  // Adds the tasks that descend from those in tasks_.
  void AddDescendants() {
    absl::flat_hash_map<TaskId, std::vector<TaskId>> children;
    for (const auto& [task, use] : uses_) children[use.parent].push_back(task);
    std::vector<TaskId> left(tasks_.begin(), tasks_.end());
    while (!left.empty()) {
      const TaskId task = left.back();
      left.pop_back();
      const auto found = children.find(task);
      if (found == children.end()) continue;
      for (const TaskId child : found->second) {
        if (tasks_.insert(child).second) left.push_back(child);
      }
    }
  }

  const On on_;
  EventFilter& filter_;
  std::set<TaskId>& tasks_;
  absl::flat_hash_set<std::pair<GoId, GoId>> unblocks_;  // The unblocker, the unblocked.
  absl::flat_hash_map<TaskId, TaskUse> uses_;
};

ChromeFocus::ChromeFocus(On on, EventFilter* filter, std::set<TaskId>* tasks)
    : state_(std::make_unique<State>(on, filter, tasks)) {}

ChromeFocus::~ChromeFocus() = default;

void ChromeFocus::Add(absl::Span<const Event> events) {
  for (const Event& event : events) state_->Add(event);
}

absl::Status ChromeFocus::Finish() { return state_->Finish(); }

}  // namespace gotrace
