// How many goroutines wait to run, over a trace that may be read in parts that are merged.
#ifndef GOTRACE_VIEW_RUNNABLE_COUNTS_H_
#define GOTRACE_VIEW_RUNNABLE_COUNTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/states.h"
#include "view/growing_metric.h"

namespace gotrace::internal {

// Counts once a generation is complete, since a state that is stated late has lasted from its
// begin. Each generation states all goroutines, so a part of a trace needs to know nothing of the
// part before.
class RunnableCounts {
 public:
  // Adds any event, at a time since the begin of the trace.
  void Add(const Event& event, int64_t time) {
    if (event.kind() == EventKind::kSync) {
      is_first_generation_ = !has_generation_;
      has_generation_ = true;
      EndGeneration();
      generation_begin_ = time;
      return;
    }
    if (event.kind() != EventKind::kStateTransition ||
        event.transition_resource().kind != ResourceKind::kGoroutine) {
      return;
    }
    constexpr auto kRunnable = static_cast<uint8_t>(GoState::kRunnable);
    const uint8_t from = event.transition_from();
    const uint8_t to = event.transition_to();
    const bool is_statement = from == static_cast<uint8_t>(GoState::kUndetermined) ||
                              (from == to && is_first_generation_);
    const bool was = from == kRunnable && !is_statement;
    const bool is = to == kRunnable;
    if (was == is) return;
    if (is_statement) {
      ++stated_;
    } else {
      changes_.emplace_back(time, is ? 1 : -1);
    }
  }

  // Appends what the following part of the trace says.
  void Merge(RunnableCounts next) {
    EndGeneration();
    counts_.Merge(std::move(next.counts_));
    count_ = next.count_;
    stated_ = next.stated_;
    changes_ = std::move(next.changes_);
    generation_begin_ = next.generation_begin_;
  }

  // Appends the counts of the complete generations of the following part of the trace.
  void MergeCounts(const RunnableCounts& next) { counts_.Merge(next.counts_); }

  // Call it after the last event.
  void Finish() { EndGeneration(); }

  // Returns the counts, after Finish() or MergeCounts().
  const GrowingMetric& counts() const { return counts_; }

 private:
  void EndGeneration() {
    const auto add = [&](int64_t time, int64_t change) {
      count_ += change;
      counts_.Add(time, static_cast<uint64_t>(std::max<int64_t>(count_, 0)));
    };
    if (stated_ > 0) add(generation_begin_, stated_);
    for (const auto& [time, change] : changes_) add(time, change);
    stated_ = 0;
    changes_.clear();
  }

  bool has_generation_ = false;
  bool is_first_generation_ = true;
  int64_t generation_begin_ = 0;
  int64_t count_ = 0;
  // Of this generation: how many are stated as waiting to run, and the times of changes with their
  // differences.
  int64_t stated_ = 0;
  std::vector<std::pair<int64_t, int64_t>> changes_;
  GrowingMetric counts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_RUNNABLE_COUNTS_H_
