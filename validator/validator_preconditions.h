// The assumptions of a validator that starts in the middle of a trace. Included only by the
// validator's own files.
#ifndef GOTRACE_VALIDATOR_VALIDATOR_PRECONDITIONS_H_
#define GOTRACE_VALIDATOR_VALIDATOR_PRECONDITIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"

namespace gotrace::internal {

// EventValidator::Append() checks them once the past is known.
struct ValidatorPreconditions {
  // A goroutine or P whose status the first generation states.
  struct Status {
    ResourceId resource;
    uint8_t state;    // A GoState or ProcState.
    ThreadId thread;  // The thread that executes it, if any does.
  };

  // A range that the first generation states to be active.
  struct Active {
    ResourceId scope;
    absl::string_view what;  // As in RangeParts. Static lifetime.
    std::string reason;
  };

  // A region that ends in the segment but did not begin there.
  struct Region {
    ResourceId resource;
    std::string name;
    TaskId task;
  };

  uint64_t first_sync = 0;  // The number of the first kSync event; 0 before that.
  int64_t first_time = 0;   // The time of that event.
  uint64_t first_generation = 0;
  std::optional<ClockSnapshot> first_clocks;
  std::vector<Status> statuses;
  std::vector<Active> ranges;
  std::vector<Region> regions;              // In the order of their ends.
  absl::flat_hash_set<TaskId> ended_tasks;  // Tasks that were open.
  absl::flat_hash_set<TaskId> open_tasks;   // Tasks that were open.
  absl::flat_hash_set<TaskId> known_tasks;  // Tasks that were open or ended a generation before.

  // The maximum numbers of regions and tasks to record, because a broken trace may have any number.
  static constexpr size_t kMaxRegions = 1 << 14;
  static constexpr size_t kMaxTasks = 1 << 18;

  // Whether there was a finding that depends on the past, or too much to record. If so, nothing
  // more is recorded.
  bool fails = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_VALIDATOR_PRECONDITIONS_H_
