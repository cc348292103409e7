// What a Validator that begins in the middle of a trace takes for granted. For the validator's own
// files only.
#ifndef GOTRACE_VALIDATOR_ASSUMED_H_
#define GOTRACE_VALIDATOR_ASSUMED_H_

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

// All of it is held against the Validator of what came before, once that is known.
struct Assumed {
  // A goroutine or P whose status its first generation tells.
  struct Status {
    ResourceId resource;
    uint8_t state;    // A GoState or ProcState.
    ThreadId thread;  // That executes it, if any does.
  };

  // A range that its first generation tells to be active.
  struct Active {
    ResourceId scope;
    absl::string_view what;  // As in RangeParts. Static lifetime.
    std::string reason;
  };

  // A region that ends, with none of its goroutine's open that began since.
  struct Region {
    ResourceId resource;
    std::string name;
    TaskId task;
  };

  uint64_t first_sync = 0;  // Its first one; 0 before that.
  int64_t first_time = 0;   // Of that one.
  uint64_t first_generation = 0;
  std::optional<ClockSnapshot> first_clocks;
  std::vector<Status> statuses;
  std::vector<Active> ranges;
  std::vector<Region> regions;              // In the order of their ends.
  absl::flat_hash_set<TaskId> ended_tasks;  // That were open before.
  absl::flat_hash_set<TaskId> open_tasks;   // That were open before,
  absl::flat_hash_set<TaskId> known_tasks;  // or may have ended in the last generation.

  // How many regions, and tasks, are noted at most: a broken trace may have any number.
  static constexpr size_t kMostRegions = 1 << 14;
  static constexpr size_t kMostTasks = 1 << 18;

  // Whether there was a finding that what came before has to do with, or too much to be noted.
  // Nothing more is noted then.
  bool fails = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_ASSUMED_H_
