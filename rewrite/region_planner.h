// Plans how a trace's user regions are written so that Go's reader accepts them.
//
// Go's reader requires that the regions of a goroutine nest: an end must be the end of the
// innermost region that is open there. The runtime does not enforce this. Some programs start
// several regions and end them in the order of their starts, or end a region inside one that began
// later, or twice, or on another goroutine, and Go's reader then rejects the whole trace.
//
// The plan keeps every region, the place where it begins, and its duration up to
// kMaxRegionDelayNs:
//
// - Ends are matched to begins. Of equal regions (same goroutine, task and type), the innermost
//   ends first. An end without a begin on its own goroutine belongs to the only region of its task
//   and type that was left open elsewhere, if there is exactly one.
// - A region stays on its goroutine if it ends before all regions that are open there, or at most
//   kMaxRegionDelayNs after one of them. In the second case the outer region's end is delayed until
//   right after the inner one's. So regions that a loop ends in the order of their starts stay
//   where they are, and the numbers that depend on their goroutine, such as execution and blocking
//   time, stay right.
// - Any other region moves to a lane: a goroutine that the program did not have and that does
//   nothing but begin and end regions. A lane follows the same rule as a goroutine. There are as
//   many lanes as needed, and a region takes the lane that it fits best.
// - A region whose end is on another goroutine than its begin moves to a lane.
// - An end without a begin is dropped if it can only be a repeated end: its goroutine had such a
//   region before, and another region is open. Otherwise the region began before the trace did. Its
//   end stays, and the region counts as open from the beginning of the trace.
// - A region that never ends stays open. It is treated as ending after all others, so it moves if
//   another region is open that does end.
//
// Keeping all regions on their goroutines is not possible: a region that outlives an outer one by
// more than an instant could stay only with a wrong duration, because Go's reader identifies a
// region only by its goroutine, task and type. Moving all of them to lanes would take regions away
// from the goroutines that ran them in order to save a few microseconds.
#ifndef GOTRACE_REWRITE_REGION_PLANNER_H_
#define GOTRACE_REWRITE_REGION_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gotrace::internal {

// By how many nanoseconds the end of a region may be delayed to keep it on its goroutine.
inline constexpr int64_t kMaxRegionDelayNs = 10'000;

enum class RegionEventKind : uint8_t {
  kBegin,
  kEnd,
  kGoroutineEnd,  // The goroutine's last event. Regions that are open on it go with it.
};

// An event that matters for regions, in the order of the trace.
struct RegionEvent {
  RegionEventKind kind = RegionEventKind::kBegin;
  uint32_t type = 0;      // A number for the region's type. Equal types have equal numbers.
  int64_t time = 0;       // In nanoseconds. Does not decrease from one event to the next.
  int64_t goroutine = 0;  // The goroutine of the event. Not negative.
  uint64_t task = 0;      // The region's task. 0 for the background task.
};

enum class RegionEventFate : uint8_t {
  kStays,    // Is written where it was.
  kMoves,    // Is written elsewhere: RegionPlan::writes has the place.
  kDropped,  // Is not written at all.
};

// An event that is written in another place than its own.
struct RegionWrite {
  // The lane of events that are written on the goroutine on which event `at` happened.
  static constexpr size_t kOwnGoroutine = static_cast<size_t>(-1);

  size_t at = 0;     // The event at whose time it is written, after that event. >= event.
  size_t event = 0;  // The event to write. If it is a kGoroutineEnd, the lane ends here.
  size_t lane = kOwnGoroutine;  // An index in RegionPlan::lanes.

  friend bool operator==(const RegionWrite&, const RegionWrite&) = default;
};

// A goroutine that is added for regions which would not nest otherwise.
struct RegionLane {
  // The owner of lanes for regions that end on another goroutine than they begin on.
  static constexpr int64_t kNoOwner = -1;

  // The goroutine whose regions are here. The lane ends when its owner does; one without an owner
  // does not end.
  int64_t owner = kNoOwner;
};

// The result of PlanRegions().
struct RegionPlan {
  std::vector<RegionEventFate> fates;  // One for each event.
  std::vector<RegionWrite> writes;     // Sorted by `at`. Equal ones are written in this order.
  std::vector<RegionLane> lanes;       // In the order of their first events.

  size_t regions_moved = 0;  // The number of regions moved to lanes.
  size_t ends_delayed = 0;   // The number of ends delayed on goroutines and lanes.
  size_t ends_dropped = 0;   // The number of repeated ends dropped.
  // The number of times that a region ended on its goroutine after another region around it, even
  // if more events of the trace were known.
  size_t crossings = 0;
  int64_t max_delay_ns = 0;  // The largest change of a region's duration, in nanoseconds.

  // Returns whether nothing changes: the regions nest.
  bool nothing() const { return writes.empty() && ends_dropped == 0; }
};

// Plans for all region events of a trace. Takes O(n log n) time and memory for n events, of which
// there must be fewer than 2^32 - 1. The regions of the result nest on each goroutine and each
// lane.
RegionPlan PlanRegions(absl::Span<const RegionEvent> events);

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REGION_PLANNER_H_
