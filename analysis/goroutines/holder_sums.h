// Sums over the paths of waits: what goroutines did while others waited for them.
#ifndef GOTRACE_ANALYSIS_GOROUTINES_HOLDER_SUMS_H_
#define GOTRACE_ANALYSIS_GOROUTINES_HOLDER_SUMS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/intervals/recent_states.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/tasks/open_spans.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/stack_filter.h"
#include "gotrace/states.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Follows waits as they end. See WaitHolder.
class HolderSums {
 public:
  // Which waits are followed.
  struct Options {
    std::array<bool, kWaitObjectEnd> objects = {};  // For these objects, by WaitObject.
    std::string start = {};   // Of goroutines that started there: see WaitStats::Options.
    StackFilter stacks = {};  // In these stacks.

    // There may be many waits for channels, and in selects. Shorter ones are not followed, and
    // others for as many steps.
    int64_t shortest_channel_wait = 0;
    int channel_steps = RecentStates::kMaxSteps;
  };

  // `*interner` must outlive this object.
  HolderSums(Interner* interner, Options options)
      : interner_(*interner),
        options_(std::move(options)),
        starts_(interner, options_.start, SelectedNames::Of::kWhole),
        stacks_(interner, options_.stacks),
        places_(interner),
        open_spans_(interner) {}

  // Follows only waits of goroutines that the filter selects, within its `times`.
  void SetFilter(EventFilter filter) { filter_ = std::move(filter); }

  // Takes the next event, and adds the path of the wait that it ends, if it ends one.
  void Add(const Event& event, RecentStates* states);

  // Adds the sums of `next`, which received the following part of the trace.
  void Merge(const HolderSums& next, const RecentStates::Ids& ids);

  // Return the results, in the order of WaitStats::holders() and WaitStats::tasks(), after all
  // events. `states` is the object that received them.
  std::vector<WaitHolder> Holders(const RecentStates& states);
  std::vector<WaitTask> Tasks(const RecentStates& states);

 private:
  // Where the goroutine waits that a path belongs to, and what one on the path does. The names
  // follow from these.
  struct PieceKey {
    StackId wait = StackId::kNone;
    StringId wait_reason = StringId::kEmpty;
    StackId stack = StackId::kNone;
    StringId reason = StringId::kEmpty;
    GoState state = GoState::kUndetermined;

    friend bool operator==(const PieceKey&, const PieceKey&) = default;

    template <class H>
    friend H AbslHashValue(H h, const PieceKey& key) {
      return H::combine(std::move(h), key.wait, key.wait_reason, key.stack, key.reason, key.state);
    }
  };
  // Where the goroutine waits, and the type of the task that it is in.
  struct TaskKey {
    StackId wait = StackId::kNone;
    StringId wait_reason = StringId::kEmpty;
    StringId type = StringId::kEmpty;

    friend bool operator==(const TaskKey&, const TaskKey&) = default;

    template <class H>
    friend H AbslHashValue(H h, const TaskKey& key) {
      return H::combine(std::move(h), key.wait, key.wait_reason, key.type);
    }
  };
  struct Sum {
    uint64_t count = 0;
    int64_t time = 0;

    void Add(uint64_t more, int64_t more_time);
  };

  // Returns for how many steps a wait is followed. Those of a wait that is older than the
  // generation do not depend on what is known of it here.
  int StepsOf(const RecentStates::Wait& wait);

  // Returns whether the options select a wait.
  bool IsSelected(StackId stack, StringId reason);

  Interner& interner_;
  const Options options_;
  SelectedNames starts_;
  SelectedStacks stacks_;
  EventFilter filter_;
  StackPlaces places_;
  OpenSpans open_spans_;  // Of the current generation, wherever the trace is cut.
  absl::flat_hash_map<PieceKey, Sum> pieces_;
  absl::flat_hash_map<TaskKey, Sum> tasks_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GOROUTINES_HOLDER_SUMS_H_
