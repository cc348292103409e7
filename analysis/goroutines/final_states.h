// What each goroutine was doing last, in an analysis that is merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_GOROUTINES_FINAL_STATES_H_
#define GOTRACE_ANALYSIS_GOROUTINES_FINAL_STATES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/analysis.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// The last state of a goroutine that exists at the end of the trace or window.
struct FinalState {
  GoId goroutine = GoId::kNone;
  StringId start = StringId::kEmpty;    // The function that it started in; kEmpty if unknown.
  StartFunction start_function;         // The same, until Finish().
  StackId created_at = StackId::kNone;  // kNone if it is older than the trace.
  bool is_new = false;                  // Whether it was created in the trace.

  // As of its last GoInterval. At the end of that, it may be ready or running only for a stop of
  // the world: then `reason` is StopSpan::name, and `stack` of a running goroutine is where it
  // stopped the world.
  GoState state = GoState::kUndetermined;
  StackId stack = StackId::kNone;
  StringId reason = StringId::kEmpty;
  int64_t begin = 0;
  int64_t seen_from = 0;  // As the begin of Interval::Seen().
  bool end_clipped = true;
};

// Collects them. Memory is in proportion to the goroutines that exist at a time.
class FinalStates {
 public:
  // `*interner` must outlive this object.
  explicit FinalStates(Interner* interner) : interner_(*interner) {}

  // These are called as those of an analysis.
  void AddEvents(absl::Span<const Event> events) { goroutines_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval);

  // Takes from events before `from`, where a window begins, where goroutines were created that are
  // older than the window.
  void AddEarlier(absl::Span<const Event> events, int64_t from);

  void Merge(FinalStates& next, const InternerMap& ids);
  void Finish();

  // Returns the states, in order of the goroutines' ids, after Finish(). If a goroutine blocked or
  // was created before the trace, the missing facts are those of other goroutines that are blocked
  // in the same place, provided that these agree.
  absl::Span<const FinalState> states() const { return states_; }

 private:
  using Goroutines = PartialGoroutines<FinalState>;

  static void Continue(Goroutines::Entry& rest, Goroutines::Entry& entry);

  // Returns the stack without the innermost frames that do not belong to the program.
  std::vector<FrameId> FramesOfProgram(StackId stack) const;
  void CompleteBlocked();

  Interner& interner_;
  absl::flat_hash_map<GoId, StackId> created_earlier_;
  std::vector<FinalState> states_;
  Goroutines goroutines_{[this](Goroutines::Entry& entry) {
                           if (entry.data.state == GoState::kUndetermined) return;
                           entry.data.goroutine = entry.id;
                           states_.push_back(entry.data);
                         },
                         Continue};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GOROUTINES_FINAL_STATES_H_
