// Tells when goroutines run as mark workers of the garbage collector, for analyses that are merged
// from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_
#define GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// The runtime sets a label each time that a worker begins to run.
class MarkWorkers {
 public:
  // Adds any event, before the intervals that it ends.
  void Add(const Event& event) {
    if (event.kind() == EventKind::kLabel && absl::StartsWith(event.label().label, "GC (")) {
      labels_[event.goroutine()].push_back(event.time());
    }
  }

  // Returns whether the goroutine of an interval in which it runs is a worker in it. Call it once
  // for each such interval of a goroutine, in order.
  bool TakeRun(const GoInterval& interval) {
    if (labels_.empty()) return false;
    const auto found = labels_.find(interval.goroutine);
    if (found == labels_.end()) return false;
    std::vector<int64_t>& times = found->second;
    const auto later = absl::c_upper_bound(times, interval.end);
    const bool has_label = later != times.begin();
    times.erase(times.begin(), later);
    if (times.empty()) labels_.erase(found);
    return has_label;
  }

  // Appends what `next` has, which took the part of the trace that follows.
  void Merge(const MarkWorkers& next) {
    for (const auto& [goroutine, times] : next.labels_) {
      std::vector<int64_t>& known = labels_[goroutine];
      known.insert(known.end(), times.begin(), times.end());
    }
  }

 private:
  // The times of labels in intervals that are not complete.
  absl::flat_hash_map<GoId, std::vector<int64_t>> labels_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_
