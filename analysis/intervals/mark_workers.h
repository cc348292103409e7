// Tells when goroutines run as mark workers of the garbage collector, for analyses that are merged
// from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_
#define GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_

#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

enum class MarkWorker : uint8_t {
  kNone,
  kIdle,  // Works only as long as its P has nothing else to do.
  kBusy,
};

// The runtime sets a label each time that a worker begins to run.
class MarkWorkers {
 public:
  // Adds any event, before the intervals that it ends.
  void Add(const Event& event) {
    if (event.kind() == EventKind::kLabel && absl::StartsWith(event.label().label, "GC (")) {
      labels_[event.goroutine()].push_back({event.time(), event.label().label == "GC (idle)"});
    }
  }

  // Returns which kind of worker the goroutine of an interval in which it runs is in it. Call it
  // once for each such interval of a goroutine, in order.
  MarkWorker TakeRun(const GoInterval& interval) {
    if (labels_.empty()) return MarkWorker::kNone;
    const auto found = labels_.find(interval.goroutine);
    if (found == labels_.end()) return MarkWorker::kNone;
    std::vector<Label>& labels = found->second;
    const auto later = absl::c_upper_bound(
        labels, interval.end, [](int64_t time, const Label& label) { return time < label.time; });
    if (later == labels.begin()) return MarkWorker::kNone;
    // A label from before the interval is of an earlier run, which a window leaves out, unless the
    // window cuts this one.
    const Label last = *std::prev(later);
    labels.erase(labels.begin(), later);
    if (labels.empty()) labels_.erase(found);
    if (last.time < interval.begin && !interval.begin_clipped) return MarkWorker::kNone;
    return last.is_idle ? MarkWorker::kIdle : MarkWorker::kBusy;
  }

  // Appends what `next` has, which took the part of the trace that follows.
  void Merge(const MarkWorkers& next) {
    for (const auto& [goroutine, labels] : next.labels_) {
      std::vector<Label>& known = labels_[goroutine];
      known.insert(known.end(), labels.begin(), labels.end());
    }
  }

 private:
  struct Label {
    int64_t time = 0;
    bool is_idle = false;
  };

  // Labels in intervals that are not complete.
  absl::flat_hash_map<GoId, std::vector<Label>> labels_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_MARK_WORKERS_H_
