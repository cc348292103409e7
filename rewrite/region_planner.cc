// Plans regions in two passes: Match() combines the events to regions, and Place() decides where
// each region is open.
#include "rewrite/region_planner.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Region {
  uint32_t begin = kNone;  // The event; kNone if the region began before the trace.
  uint32_t end = kNone;    // The event; kNone if it never ends.
  uint32_t outer = kNone;  // While it is open: the next equal region outside it.
  uint32_t lane = kNone;   // kNone if it stays on its goroutine.
  bool crosses = false;    // Whether it ends on another goroutine than it begins on.
};

// The regions that are open on a goroutine or a lane, innermost last. Some have ended and wait for
// the regions inside them.
class OpenRegions {
 public:
  bool empty() const { return open_.empty(); }
  uint32_t innermost() const { return open_.back().region; }

  // Returns the latest time at which a region that begins now may end.
  int64_t limit() const { return open_.empty() ? kNever : open_.back().limit; }

  // Opens a region that ends at `end`, which is at most limit().
  void Push(uint32_t region, int64_t end) {
    const int64_t latest = end > kNever - kMaxRegionDelayNs ? kNever : end + kMaxRegionDelayNs;
    open_.push_back({region, std::min(limit(), latest)});
  }
  void Pop() { open_.pop_back(); }

 private:
  struct Open {
    uint32_t region;
    int64_t limit;  // The smallest limit of this region and those outside it.
  };
  std::vector<Open> open_;
};

// The lanes of one owner.
struct Lanes {
  std::vector<uint32_t> all;
  std::set<std::pair<int64_t, uint32_t>> by_limit;
};

struct Goroutine {
  OpenRegions open;
  Lanes lanes;
};

class Planner {
 public:
  explicit Planner(absl::Span<const RegionEvent> events)
      : events_(events), goroutine_of_(events.size()), region_of_(events.size(), kNone) {
    plan_.fates.assign(events.size(), RegionEventFate::kStays);
  }

  RegionPlan Plan() {
    NumberGoroutines();
    Match();
    if (!unmatched_.empty()) MatchAcrossGoroutines();
    SettleUnmatched();
    Place();
    return std::move(plan_);
  }

 private:
  // An end that has no begin on its goroutine.
  struct Unmatched {
    uint32_t event;
    bool is_second;  // Whether it looks like a repeated end of a region.
  };

  // A trace may reuse the id of a goroutine after its end, for another one.
  void NumberGoroutines() {
    absl::flat_hash_map<int64_t, uint32_t> running;
    uint32_t count = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      const auto [goroutine, is_new] = running.try_emplace(events_[i].goroutine, count);
      if (is_new) ++count;
      goroutine_of_[i] = goroutine->second;
      if (events_[i].kind == RegionEventKind::kGoroutineEnd) running.erase(goroutine);
    }
    goroutines_.resize(count);
  }

  // Matches ends to begins on the same goroutine.
  void Match() {
    // The innermost open region by goroutine, task and type. kNone if all have ended.
    absl::flat_hash_map<std::tuple<uint32_t, uint64_t, uint32_t>, uint32_t> innermost;
    std::vector<uint32_t> open_count(goroutines_.size());
    for (uint32_t i = 0; i < events_.size(); ++i) {
      const RegionEvent& event = events_[i];
      if (event.kind == RegionEventKind::kGoroutineEnd) continue;
      const std::tuple key(goroutine_of_[i], event.task, event.type);
      if (event.kind == RegionEventKind::kBegin) {
        const auto [open, is_first] = innermost.try_emplace(key, kNone);
        Region region;
        region.begin = i;
        region.outer = open->second;
        open->second = AddRegion(region);
        region_of_[i] = open->second;
        ++open_count[goroutine_of_[i]];
        continue;
      }
      const auto open = innermost.find(key);
      if (open == innermost.end() || open->second == kNone) {
        unmatched_.push_back({i, open != innermost.end() && open_count[goroutine_of_[i]] > 0});
        continue;
      }
      region_of_[i] = open->second;
      Region& region = regions_[open->second];
      region.end = i;
      open->second = region.outer;
      --open_count[goroutine_of_[i]];
    }
  }

  // Gives ends to regions that were left open on another goroutine.
  void MatchAcrossGoroutines() {
    struct LeftOpen {
      uint32_t count = 0;
      uint32_t region = kNone;  // The last one.
    };
    absl::flat_hash_map<std::pair<uint64_t, uint32_t>, LeftOpen> left_open;  // By task and type.
    std::vector<Unmatched> still_unmatched;
    auto unmatched = unmatched_.begin();
    for (uint32_t i = 0; unmatched != unmatched_.end(); ++i) {
      const std::pair key(events_[i].task, events_[i].type);
      if (i == unmatched->event) {
        LeftOpen& open = left_open[key];
        if (open.count == 1) {
          Region& region = regions_[open.region];
          region.end = i;
          region.crosses = true;
          region_of_[i] = open.region;
          open = LeftOpen();
        } else {
          still_unmatched.push_back(*unmatched);
        }
        ++unmatched;
      } else if (events_[i].kind == RegionEventKind::kBegin &&
                 regions_[region_of_[i]].end == kNone) {
        LeftOpen& open = left_open[key];
        ++open.count;
        open.region = region_of_[i];
      }
    }
    unmatched_ = std::move(still_unmatched);
  }

  // Drops repeated ends. All other ends without a begin belong to regions that began before the
  // trace. These are outside all others, and the one that ends last is the outermost.
  void SettleUnmatched() {
    for (auto unmatched = unmatched_.rbegin(); unmatched != unmatched_.rend(); ++unmatched) {
      const uint32_t event = unmatched->event;
      if (unmatched->is_second) {
        plan_.fates[event] = RegionEventFate::kDropped;
        ++plan_.ends_dropped;
        continue;
      }
      Region region;
      region.end = event;
      region_of_[event] = AddRegion(region);
      goroutines_[goroutine_of_[event]].open.Push(region_of_[event], events_[event].time);
    }
  }

  void Place() {
    for (uint32_t i = 0; i < events_.size(); ++i) {
      switch (events_[i].kind) {
        case RegionEventKind::kBegin:
          Begin(i);
          break;
        case RegionEventKind::kEnd:
          if (plan_.fates[i] != RegionEventFate::kDropped) End(i);
          break;
        case RegionEventKind::kGoroutineEnd:
          Goroutine ended = std::exchange(goroutines_[goroutine_of_[i]], Goroutine());
          for (const uint32_t lane : ended.lanes.all) plan_.writes.push_back({i, i, lane});
          break;
      }
    }
  }

  void Begin(uint32_t i) {
    const uint32_t index = region_of_[i];
    Region& region = regions_[index];
    const int64_t end = region.end == kNone ? kNever : events_[region.end].time;
    OpenRegions& open = goroutines_[goroutine_of_[i]].open;
    if (!region.crosses && end <= open.limit()) {
      open.Push(index, end);
      return;
    }
    region.lane = TakeLane(region, end);
    lanes_[region.lane].Push(index, end);
    LanesOf(region).by_limit.emplace(lanes_[region.lane].limit(), region.lane);
    plan_.fates[i] = RegionEventFate::kMoves;
    plan_.writes.push_back({i, i, region.lane});
    ++plan_.regions_moved;
    plan_.crossings += !region.crosses && region.end != kNone;
  }

  // Finds the lane with the smallest sufficient limit, and removes it from Lanes::by_limit.
  uint32_t TakeLane(const Region& region, int64_t end) {
    Lanes& lanes = LanesOf(region);
    const auto found = lanes.by_limit.lower_bound({end, 0});
    if (found != lanes.by_limit.end()) {
      const uint32_t lane = found->second;
      lanes.by_limit.erase(found);
      return lane;
    }
    const uint32_t lane = static_cast<uint32_t>(lanes_.size());
    lanes_.emplace_back();
    lanes.all.push_back(lane);
    plan_.lanes.push_back(
        {region.crosses ? RegionLane::kNoOwner : events_[region.begin].goroutine});
    return lane;
  }

  void End(uint32_t i) {
    const Region& region = regions_[region_of_[i]];
    if (region.lane == kNone) {
      CloseEnded(i, &goroutines_[goroutine_of_[i]].open);
      return;
    }
    Lanes& lanes = LanesOf(region);
    OpenRegions& open = lanes_[region.lane];
    lanes.by_limit.erase({open.limit(), region.lane});
    CloseEnded(i, &open);
    lanes.by_limit.emplace(open.limit(), region.lane);
  }

  // Closes those innermost regions that have ended, at the time of event i.
  void CloseEnded(uint32_t i, OpenRegions* open) {
    plan_.fates[i] = RegionEventFate::kMoves;
    while (!open->empty() && regions_[open->innermost()].end <= i) {
      const Region& region = regions_[open->innermost()];
      open->Pop();
      plan_.fates[region.end] = RegionEventFate::kMoves;
      if (region.end != i) {
        ++plan_.ends_delayed;
        ++plan_.crossings;
        plan_.max_delay_ns =
            std::max(plan_.max_delay_ns, events_[i].time - events_[region.end].time);
      } else if (region.lane == kNone) {
        plan_.fates[i] = RegionEventFate::kStays;
        continue;
      }
      const size_t lane = region.lane == kNone ? RegionWrite::kOwnGoroutine : region.lane;
      plan_.writes.push_back({i, region.end, lane});
    }
  }

  uint32_t AddRegion(const Region& region) {
    regions_.push_back(region);
    return static_cast<uint32_t>(regions_.size() - 1);
  }

  Lanes& LanesOf(const Region& region) {
    return region.crosses ? lanes_without_owner_ : goroutines_[goroutine_of_[region.begin]].lanes;
  }

  const absl::Span<const RegionEvent> events_;
  std::vector<uint32_t> goroutine_of_;  // By event.
  std::vector<uint32_t> region_of_;     // By event. kNone if it has none.
  std::vector<Region> regions_;
  std::vector<Unmatched> unmatched_;  // Sorted by event.
  std::vector<Goroutine> goroutines_;
  std::vector<OpenRegions> lanes_;
  Lanes lanes_without_owner_;
  RegionPlan plan_;
};

}  // namespace

RegionPlan PlanRegions(absl::Span<const RegionEvent> events) { return Planner(events).Plan(); }

}  // namespace gotrace::internal
