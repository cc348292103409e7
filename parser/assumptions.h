// What a model of the scheduler that begins in the middle of a trace takes for granted.
#ifndef GOTRACE_PARSER_ASSUMPTIONS_H_
#define GOTRACE_PARSER_ASSUMPTIONS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "parser/ids.h"
#include "parser/open_ranges.h"
#include "parser/states.h"
#include "tracev2/wire_status.h"

namespace gotrace {

// Every generation tells the status of all goroutines and Ps before anything else about them
// (FORMAT.md §6). So a model that knows nothing can order one as if it knew what came before it,
// and whether what it took for that is right is asked once both are known.
struct Assumptions {
  // What a thread has at the beginning.
  struct Context {
    GoId goroutine = GoId::kNone;
    ProcId proc = ProcId::kNone;
  };

  // A range that is told to be active, and so began before.
  struct ActiveRange {
    ResourceKind kind;
    int64_t id;
    OpenRange range;
  };

  // A region that ends and did not begin since. Its goroutine's others, if it has any, are inside.
  struct EndedRegion {
    GoId goroutine;
    TaskId task;
    std::string name;
  };

  struct Gc {
    bool running;
    uint64_t sequence;  // Of the last event about a cycle.
  };

  // The generation that it begins with, the only one that tells what was before.
  uint64_t generation = 0;

  absl::flat_hash_map<ThreadId, Context> told;      // By the threads' own first events.
  absl::flat_hash_map<ThreadId, Context> contexts;  // Of all threads that the model met.
  absl::flat_hash_map<GoId, GoStatus> goroutines;   // All that there are.
  absl::flat_hash_map<ProcId, ProcStatus> procs;    // Of those that the first generation tells.
  std::vector<ProcId> new_procs;                    // That a later one tells: there were none.
  std::vector<ActiveRange> ranges;                  // All that are open.
  std::vector<EndedRegion> regions;                 // In the order of their ends.
  std::optional<Gc> gc;                             // Unless there is no event about it.

  // Of those that began since: the runtime counts them up, and those before have lower ids.
  TaskId lowest_task{std::numeric_limits<uint64_t>::max()};
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_ASSUMPTIONS_H_
