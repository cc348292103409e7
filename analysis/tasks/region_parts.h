// The regions and labels of goroutines over time, for analyses that separate times by them.
#ifndef GOTRACE_ANALYSIS_TASKS_REGION_PARTS_H_
#define GOTRACE_ANALYSIS_TASKS_REGION_PARTS_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/tasks/region_tracker.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Cuts the intervals of goroutines where regions begin and end and labels change, and selects the
// pieces that count. A region or label whose begin is not in the trace is not known.
class RegionParts {
 public:
  struct Part {
    TaskId task = TaskId::kNone;  // Of the innermost region.
    StringId region = StringId::kEmpty;
    StringId label = StringId::kEmpty;  // The last label that was set.
    bool counts = false;
  };

  // Whose time counts for a task.
  enum class TaskTime : uint8_t {
    kRegions,  // The time in its regions.
    kOwner,    // That of the goroutine that began it, until the task ends.
  };

  // Only times of `task` count, if it is set, and in a region of the type `region`, unless that is
  // "". `*interner` must outlive this object.
  RegionParts(Interner* interner, std::optional<TaskId> task, TaskTime task_time,
              absl::string_view region)
      : interner_(*interner), task_(task), task_time_(task_time), has_region_(!region.empty()) {
    if (has_region_) region_ = interner_.InternString(region);
  }

  // Adds an event, before the interval that it is in.
  void Add(const Event& event) {
    if (event.kind() == EventKind::kRegionBegin) {
      const auto [it, is_new] = goroutines_.try_emplace(event.goroutine());
      Goroutine& goroutine = it->second;
      if (is_new) goroutine.part = PartOf({});
      has_regions_of_task_ |= task_.has_value() && event.region().task == *task_;
      goroutine.regions.Begin(event, &interner_);
      Mark(event.time(), &goroutine);
    } else if (event.kind() == EventKind::kRegionEnd) {
      const auto found = goroutines_.find(event.goroutine());
      if (found == goroutines_.end()) return;
      const auto ended = found->second.regions.End(event, &interner_);
      if (ended.begin.has_value()) Mark(event.time(), &found->second);
    } else if (event.kind() == EventKind::kLabel) {
      const Label label = event.label();
      const auto [it, is_new] = goroutines_.try_emplace(GoId{label.resource.id});
      Goroutine& goroutine = it->second;
      if (is_new) goroutine.part = PartOf({});
      goroutine.label = interner_.InternString(label.label);
      Mark(event.time(), &goroutine);
    } else if (task_time_ == TaskTime::kOwner &&
               (event.kind() == EventKind::kTaskBegin || event.kind() == EventKind::kTaskEnd)) {
      if (event.task().id == task_) SetOwner(event);
    }
  }

  // Returns whether a region of the task was begun.
  bool has_regions_of_task() const { return has_regions_of_task_; }

  // Returns the part that the goroutine is in after the last event.
  Part Now(GoId id) const {
    const auto found = goroutines_.find(id);
    return found == goroutines_.end() ? PartOf({}) : PartOf(found->second);
  }

  // Adds an interval whose pieces are not needed.
  void Skip(const GoInterval& interval) {
    Cut(interval, [](int64_t, int64_t, const Part&) {});
  }

  // Calls `use` with the begin, the end and the part of each piece of the interval. Intervals of
  // one goroutine come in order.
  template <class Use>
  void Cut(const GoInterval& interval, const Use& use) {
    const auto found = goroutines_.find(interval.goroutine);
    if (found == goroutines_.end()) return use(interval.begin, interval.end, PartOf({}));
    Goroutine& goroutine = found->second;
    int64_t begin = interval.begin;
    while (!goroutine.marks.empty() && goroutine.marks.front().first <= interval.end) {
      const auto& [time, part] = goroutine.marks.front();
      if (begin < time) {
        use(begin, time, goroutine.part);
        begin = time;
      }
      goroutine.part = part;
      goroutine.marks.pop_front();
    }
    if (begin < interval.end) use(begin, interval.end, goroutine.part);
    if (interval.ends_life) goroutines_.erase(found);
  }

 private:
  struct Goroutine {
    RegionTracker<> regions;
    StringId label = StringId::kEmpty;
    bool is_owner = false;                       // Of the task.
    Part part;                                   // The part before the first mark.
    std::deque<std::pair<int64_t, Part>> marks;  // The times at which a part begins, and the parts.
  };

  Part PartOf(const Goroutine& goroutine) const {
    Part part;
    if (!goroutine.regions.open().empty()) {
      part.task = goroutine.regions.open().back().task;
      part.region = goroutine.regions.open().back().type;
    }
    part.label = goroutine.label;
    const bool is_of_task =
        !task_.has_value() ||
        (task_time_ == TaskTime::kOwner ? goroutine.is_owner : goroutine.regions.IsIn(*task_));
    part.counts = is_of_task && (!has_region_ || goroutine.regions.IsIn(region_));
    return part;
  }

  // Begins or ends the time of the goroutine that began the task.
  void SetOwner(const Event& event) {
    if (const auto before = goroutines_.find(owner_); before != goroutines_.end()) {
      before->second.is_owner = false;
      Mark(event.time(), &before->second);
    }
    owner_ = event.kind() == EventKind::kTaskBegin ? event.goroutine() : GoId::kNone;
    if (owner_ == GoId::kNone) return;
    const auto [it, is_new] = goroutines_.try_emplace(owner_);
    if (is_new) it->second.part = PartOf({});
    it->second.is_owner = true;
    Mark(event.time(), &it->second);
  }

  void Mark(int64_t time, Goroutine* goroutine) const {
    goroutine->marks.emplace_back(time, PartOf(*goroutine));
  }

  Interner& interner_;
  const std::optional<TaskId> task_;
  const TaskTime task_time_;
  const bool has_region_;
  bool has_regions_of_task_ = false;
  GoId owner_ = GoId::kNone;  // The goroutine that began the task, until the task ends.
  StringId region_ = StringId::kEmpty;
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_REGION_PARTS_H_
