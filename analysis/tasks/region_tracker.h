// The regions of goroutines, put together from the events of their begins and ends, also where a
// trace is read in parts that are merged.
#ifndef GOTRACE_ANALYSIS_TASKS_REGION_TRACKER_H_
#define GOTRACE_ANALYSIS_TASKS_REGION_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

struct RegionRecord {
  GoId goroutine;
  TaskId task = kBackgroundTask;
  StringId type = StringId::kEmpty;
  std::optional<int64_t> begin;  // Absent if it is older than the trace.
  std::optional<int64_t> end;    // Absent while it is open.
  // What is known of the regions around it: how many there are, and whether none has its task, or
  // its type.
  size_t depth = 0;
  bool is_outermost_of_task = true;
  bool is_outermost_of_type = true;
};

// The regions of one goroutine. They nest: whatever an end says, it is that of the innermost open
// region. Without one, the region is older than the trace, or this part of it, and is around
// all the regions that ended before. Those that are open at the goroutine's end, or the trace's,
// end there. `Data` is what an analysis keeps with an open region.
template <class Data = std::monostate>
class RegionTracker {
 public:
  struct Region : RegionRecord {
    Data data = {};
  };

  // Begins a region with a kRegionBegin event of the goroutine. The reference is valid until the
  // next call of a function that is not const.
  Region& Begin(const Event& event, Interner* interner) {
    Region region = RegionOf(event, interner);
    region.begin = event.time();
    return Push(std::move(region));
  }

  // Ends a region with a kRegionEnd event of the goroutine. Returns it.
  Region End(const Event& event, Interner* interner) {
    if (!open_.empty()) return EndInnermost(event.time());
    Region older = RegionOf(event, interner);
    older.end = event.time();
    return older;
  }

  // Ends the innermost region, which must exist. Returns it. Its end is absent if it is not known.
  Region EndInnermost(std::optional<int64_t> end) {
    Region region = std::move(open_.back());
    open_.pop_back();
    if (!open_.empty()) {
      RemoveFrom(region.task, &inner_->tasks);
      RemoveFrom(region.type, &inner_->types);
    }
    region.end = end;
    return region;
  }

  // Ends all regions, the innermost first, and calls `use` with each.
  template <class Use>
  void EndAll(std::optional<int64_t> end, const Use& use) {
    while (!open_.empty()) use(EndInnermost(end));
  }

  // The open regions, from the outermost on.
  const std::vector<Region>& open() const { return open_; }

  // Whether a region of the task, or of the type, is open.
  bool IsIn(TaskId task) const {
    if (open_.empty()) return false;
    return open_[0].task == task || (inner_ != nullptr && inner_->tasks.contains(task));
  }
  bool IsIn(StringId type) const {
    if (open_.empty()) return false;
    return open_[0].type == type || (inner_ != nullptr && inner_->types.contains(type));
  }

  void MapIds(const InternerMap& ids) {
    std::vector<Region> open = std::exchange(open_, {});
    inner_.reset();
    for (Region& region : open) {
      region.type = ids(region.type);
      Push(std::move(region));
    }
  }

  // Begins the open regions of `next`, which had the events of the following part of the trace.
  // Its older regions must have ended what they continue. `map` maps the data.
  template <class Map>
  void Append(RegionTracker next, const Map& map) {
    for (Region& region : next.open_) {
      region.data = map(region.data);
      Push(std::move(region));
    }
  }

 private:
  // How many regions other than the outermost are open.
  struct Inner {
    absl::flat_hash_map<TaskId, uint32_t> tasks;
    absl::flat_hash_map<StringId, uint32_t> types;
  };

  static Region RegionOf(const Event& event, Interner* interner) {
    const auto parts = event.region();
    Region region;
    region.goroutine = event.goroutine();
    region.task = parts.task;
    region.type = interner->InternString(parts.type);
    return region;
  }

  Region& Push(Region region) {
    region.depth = open_.size();
    region.is_outermost_of_task = !IsIn(region.task);
    region.is_outermost_of_type = !IsIn(region.type);
    if (!open_.empty()) {
      if (inner_ == nullptr) inner_ = std::make_unique<Inner>();
      ++inner_->tasks[region.task];
      ++inner_->types[region.type];
    }
    return open_.emplace_back(std::move(region));
  }

  template <class Id>
  static void RemoveFrom(Id id, absl::flat_hash_map<Id, uint32_t>* counts) {
    const auto found = counts->find(id);
    if (--found->second == 0) counts->erase(found);
  }

  std::vector<Region> open_;
  std::unique_ptr<Inner> inner_;  // nullptr as long as none was inside of another.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_REGION_TRACKER_H_
