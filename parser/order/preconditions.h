// What a scheduler model that starts in the middle of a trace had to assume about the past.
//
// In every generation programs state the status of all goroutines and Ps before anything else about
// them (FORMAT.md §6). So a model that knows nothing of what came before can order a generation as
// if it did: the first statement about something is assumed to be what was known. Each assumption
// is recorded here, and SchedulerModel::ContinueFrom() checks them once the past is known.
//
// A statement that contradicts an earlier one of the same segment must be a fault, whatever the
// past turns out to be. That is why what is created and begun in the first generation is recorded
// too.
#ifndef GOTRACE_PARSER_ORDER_PRECONDITIONS_H_
#define GOTRACE_PARSER_ORDER_PRECONDITIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"
#include "parser/generation/generation.h"
#include "parser/order/open_ranges.h"
#include "tracev2/wire_status.h"
#include "util/id_set.h"
#include "util/name_pool.h"

namespace gotrace::internal {

// What a thread executes when a segment begins.
struct InitialContext {
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;
};
using InitialContexts = absl::flat_hash_map<ThreadId, InitialContext>;

// What the threads that have events in `generation` execute before it, as far as their own first
// events state it.
InitialContexts FindInitialContexts(const Generation& generation);

// A task that began before the segment did.
struct EarlierTask {
  TaskId parent;
  absl::string_view type;  // Valid as long as what found it.
};

// Finds a task that began before the segment did; nullopt if there is none.
using FindEarlierTask = std::function<std::optional<EarlierTask>(TaskId)>;

// How a model starts in the middle.
struct SegmentStart {
  uint64_t earlier_generations = 0;  // How many come before.

  // May be empty: then the ends of earlier tasks have neither parent nor type.
  FindEarlierTask find_task;

  // Whether the model of what comes before has the other half of what the limits allow.
  bool has_half_of_limits = false;
};

struct SegmentPreconditions {
  // A range that is said to be active, and so began before.
  struct ActiveRange {
    ResourceKind kind;
    int64_t id;
    OpenRange range;

    friend bool operator==(const ActiveRange&, const ActiveRange&) = default;
    template <class H>
    friend H AbslHashValue(H h, const ActiveRange& range) {
      return H::combine(std::move(h), range.kind, range.id, range.range);
    }
  };

  // A region that ends without having begun in the segment. If its goroutine has regions that did,
  // they are inside of it.
  struct EndedRegion {
    GoId goroutine;
    TaskId task;
    NamePool::Name name;
  };

  // A task that ends in the segment and did not begin in it, and what find_task returned.
  struct EndedTask {
    bool found = false;
    TaskId parent;
    NamePool::Name type;
  };

  struct Gc {
    bool running;
    uint64_t sequence;  // Of the last event about a cycle.
  };

  // The number of the segment's first generation, the only one that states what was before.
  uint64_t generation = 0;

  InitialContexts stated;    // By the threads' own first events.
  InitialContexts contexts;  // Of all threads that the model met.
  absl::flat_hash_map<GoId, GoStatus> goroutines;
  GoId highest_goroutine{-1};                          // The highest id of `goroutines`.
  absl::flat_hash_map<ProcId, ProcStatus> procs;       // Ps that were known before.
  absl::flat_hash_set<ProcId> new_procs;               // Ps that were not.
  absl::flat_hash_set<ActiveRange> ranges;             // All that were open.
  std::vector<EndedRegion> regions;                    // In the order of their ends.
  absl::flat_hash_map<TaskId, EndedTask> ended_tasks;  // That did not begin in the segment.
  std::optional<Gc> gc;                                // Unless there is no event about it.

  absl::flat_hash_set<ThreadId> tried_threads;  // That had events in the first generation.
  bool forgot_threads = false;                  // Whether there were too many threads to know all,
  bool forgot_tasks = false;                    // or too many tasks.

  // Created and begun in the first generation.
  IdSet created_goroutines{/*below=*/1 << 16, /*max=*/1 << 26};
  absl::flat_hash_set<ActiveRange> begun_ranges;

  IdSet begun_tasks{/*below=*/1 << 16, /*max=*/1 << 26};  // In the segment.

  FindEarlierTask find_task;  // See SegmentStart.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_PRECONDITIONS_H_
