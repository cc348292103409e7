// What a model of the scheduler that begins in the middle of a trace takes for granted.
#ifndef GOTRACE_PARSER_ORDER_ASSUMPTIONS_H_
#define GOTRACE_PARSER_ORDER_ASSUMPTIONS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"
#include "parser/order/open_ranges.h"
#include "tracev2/wire_status.h"
#include "util/name_pool.h"

namespace gotrace::internal {

// Goroutines that were created, by a bit for each: their ids lie close to each other.
class CreatedGoroutines {
 public:
  // Notes one. Returns false, and does not, if its id is too far from the others'.
  bool Note(GoId id) {
    if (words_.empty()) base_ = id.value > kBelow ? id.value - kBelow : 0;
    const uint64_t place = PlaceOf(id);
    if (place >= kMost) return false;
    if (place / 64 >= words_.size()) words_.resize(2 * (place / 64) + 1);
    words_[place / 64] |= uint64_t{1} << (place % 64);
    return true;
  }

  bool Has(GoId id) const {
    const uint64_t place = PlaceOf(id);
    return place / 64 < words_.size() && (words_[place / 64] >> (place % 64) & 1) != 0;
  }

 private:
  static constexpr int64_t kBelow = 1 << 16;  // How much lower than the first one others may be.
  static constexpr uint64_t kMost = 1 << 26;  // That there is room for, in 8 MB.

  uint64_t PlaceOf(GoId id) const {
    return static_cast<uint64_t>(id.value) - static_cast<uint64_t>(base_);
  }

  std::vector<uint64_t> words_;
  int64_t base_ = 0;
};

// What programs write tells in every generation the status of all goroutines and Ps before anything
// else about them (FORMAT.md §6). So a model that knows nothing can order one as if it knew what
// came before it, and whether what it took for that is right is asked once both are known. What
// tells otherwise must be a fault here, whatever is known later: so what was there before a status
// or an active range was told is noted too.
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

    friend bool operator==(const ActiveRange& a, const ActiveRange& b) {
      return a.kind == b.kind && a.id == b.id && a.range == b.range;
    }
    template <class H>
    friend H AbslHashValue(H h, const ActiveRange& range) {
      return H::combine(std::move(h), range.kind, range.id, range.range);
    }
  };

  // A region that ends and did not begin since. Its goroutine's others, if it has any, are inside.
  struct EndedRegion {
    GoId goroutine;
    TaskId task;
    NamePool::Name name;
  };

  struct Gc {
    bool running;
    uint64_t sequence;  // Of the last event about a cycle.
  };

  // The generation that it begins with, the only one that tells what was before.
  uint64_t generation = 0;

  absl::flat_hash_map<ThreadId, Context> told;      // By the threads' own first events.
  absl::flat_hash_map<ThreadId, Context> contexts;  // Of all threads that the model met.
  absl::flat_hash_map<GoId, GoStatus> goroutines;   // All that there are,
  GoId highest_goroutine{-1};                       // and the highest id of those.
  absl::flat_hash_map<ProcId, ProcStatus> procs;    // Of those that the first generation tells.
  std::vector<std::pair<ProcId, ProcStatus>> new_procs;  // That a later one is the first to tell.
  absl::flat_hash_set<ActiveRange> ranges;               // All that are open.
  std::vector<EndedRegion> regions;                      // In the order of their ends.
  std::optional<Gc> gc;                                  // Unless there is no event about it.
  absl::flat_hash_set<ThreadId> tried_threads;  // Of which the first generation had events.
  bool forgot_threads = false;                  // Whether there were too many to know all.

  // What the first generation created, and which ranges it began.
  CreatedGoroutines created;
  absl::flat_hash_set<ActiveRange> begun;

  // Of those that began since: the runtime counts them up, and those before have lower ids.
  TaskId lowest_task{std::numeric_limits<uint64_t>::max()};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_ASSUMPTIONS_H_
