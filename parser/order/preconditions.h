// The assumptions of a scheduler model that starts in the middle of a trace.
//
// In every generation, programs state the status of each goroutine and P before anything else about
// it (FORMAT.md §6). So a model that does not know the past can order a generation by assuming that
// the first statement about anything agrees with the past. Each assumption is recorded here, and
// SchedulerModel::Follows() checks them once the past is known.
//
// A statement that contradicts an earlier one of the same segment must be a fault, whatever the
// past turns out to be. That is why creations and beginnings in the first generation are recorded
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

// The goroutine and P of a thread when a segment begins.
struct InitialContext {
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;
};
using InitialContexts = absl::flat_hash_map<ThreadId, InitialContext>;

// Returns what each thread with events in `generation` executes before it, as far as the thread's
// own first events state it.
InitialContexts FindInitialContexts(const Generation& generation);

// A task that began before the segment did.
struct EarlierTask {
  TaskId parent;
  absl::string_view type;  // Valid as long as the object that returned it.
};

// Finds a task that began before the segment did; nullopt if there is none.
using FindEarlierTask = std::function<std::optional<EarlierTask>(TaskId)>;

// How a model starts in the middle of a trace.
struct SegmentStart {
  uint64_t earlier_generations = 0;  // The number of earlier generations.

  // May be empty. If so, the ends of earlier tasks have no parent and no type.
  FindEarlierTask find_task;

  // Whether this model may use only half of the limits, because the model of the earlier
  // generations has the other half.
  bool has_half_of_limits = false;
};

struct SegmentPreconditions {
  // A range that an event states to be active, and that began before the segment.
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

  // A region that ends in the segment but did not begin there. Open regions of its goroutine that
  // began in the segment are nested inside of it.
  struct EndedRegion {
    GoId goroutine;
    TaskId task;
    NamePool::Name name;
  };

  // A task that ends in the segment but did not begin there, and what find_task returned for it.
  struct EndedTask {
    bool found = false;
    TaskId parent;
    NamePool::Name type;
  };

  struct Gc {
    bool running;
    uint64_t sequence;  // The number of the last event about a cycle.
  };

  // The number of the segment's first generation, the only one that states the past.
  uint64_t generation = 0;

  InitialContexts stated;    // What the threads' own first events state.
  InitialContexts contexts;  // What each thread that the model met executes.
  absl::flat_hash_map<GoId, GoStatus> goroutines;
  GoId highest_goroutine{-1};                     // The highest id of `goroutines`.
  absl::flat_hash_map<ProcId, ProcStatus> procs;  // The Ps that existed before.
  absl::flat_hash_set<ProcId> new_procs;          // The Ps that did not exist before.
  absl::flat_hash_set<ActiveRange> ranges;        // All ranges that were open.
  std::vector<EndedRegion> regions;               // In the order of their ends.
  // The tasks that did not begin in the segment.
  absl::flat_hash_map<TaskId, EndedTask> ended_tasks;
  std::optional<Gc> gc;  // Not set if no event mentions a cycle.

  // The threads that had events in the first generation.
  absl::flat_hash_set<ThreadId> tried_threads;
  bool forgot_threads = false;  // Whether there were too many threads to record.
  bool forgot_tasks = false;    // Whether there were too many tasks to record.

  // The goroutines created, and the ranges begun, in the first generation. Later ones need no
  // record.
  IdSet created_goroutines{/*below=*/1 << 16, /*max=*/1 << 26};
  absl::flat_hash_set<ActiveRange> begun_ranges;

  IdSet begun_tasks{/*below=*/1 << 16, /*max=*/1 << 26};  // The tasks begun in the segment.

  FindEarlierTask find_task;  // See SegmentStart.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_PRECONDITIONS_H_
