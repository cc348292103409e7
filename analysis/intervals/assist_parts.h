// Finds the parts of goroutines' intervals that are spent in mark assists, for analyses that are
// merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_ASSIST_PARTS_H_
#define GOTRACE_ANALYSIS_INTERVALS_ASSIST_PARTS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/intervals/range_tracker.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

class AssistParts {
 public:
  // Receives the part of an interval in which its goroutine was in an assist. An assist may come in
  // several parts.
  using Take = std::function<void(const GoInterval& interval, int64_t begin, int64_t end)>;

  explicit AssistParts(Take take) : take_(std::move(take)) {}

  // Adds any event, before the intervals that it ends.
  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);

  // Appends what `next` has, which took the part of the trace that follows.
  void Merge(AssistParts& next);

 private:
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  // The rest of an assist after the last interval of its goroutine.
  struct Span {
    int64_t begin = 0;
    int64_t end = kForever;  // kForever while it is open.
  };

  void End(const RuntimeRange& assist);

  const Take take_;
  RangeTracker assists_{nullptr,
                        RangeTracker::Crossing::kPieces,
                        {EventType::kGCMarkAssistBegin},
                        [this](const RuntimeRange& assist) { End(assist); }};
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
  absl::flat_hash_map<GoId, std::vector<Span>> spans_;

  // What is before the first interval of the goroutine, and intervals that cross into the next
  // part.
  std::vector<std::pair<GoId, Span>> early_;
  std::vector<GoInterval> crossing_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_ASSIST_PARTS_H_
