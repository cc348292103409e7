// The state of each goroutine, P and thread in the scheduler model.
#ifndef GOTRACE_PARSER_ORDER_SCHEDULER_STATE_H_
#define GOTRACE_PARSER_ORDER_SCHEDULER_STATE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/internal/transition_history.h"
#include "parser/order/open_ranges.h"
#include "tracev2/wire_status.h"
#include "util/dense_table.h"
#include "util/name_pool.h"

namespace gotrace::internal {

// A position in the order of a resource's events. Numbers start again in each generation.
struct SequenceNumber {
  uint64_t generation = 0;
  uint64_t number = 0;

  // Whether this comes directly after `other`.
  bool Follows(const SequenceNumber& other) const {
    return generation == other.generation && number == other.number + 1;
  }
};

// Where a region began, for the context of faults.
struct RegionBegin {
  uint64_t offset = 0;
  int64_t time = 0;
  uint64_t stack = 0;  // The id of its stack in the tables of the generation.
  // The index of that generation, counted from 1; 0 if the region is only assumed to have begun.
  uint32_t generation = 0;
};

// An open user region of a goroutine. Its name outlives the strings of the generation.
struct OpenRegion {
  TaskId task;
  NamePool::Name name;
  RegionBegin begin = {};
};

// The open ranges and regions of a goroutine or a P. Most have none.
struct ResourceSpans {
  OpenRanges ranges;
  std::vector<OpenRegion> regions;  // The innermost is last.
};

struct ThreadState;

// A goroutine. Two of them fill a cache line.
struct GoroutineState {
  GoId id;
  uint64_t number = 0;  // The sequence number of its last numbered event.
  std::unique_ptr<ResourceSpans> spans;
  uint32_t generation = 0;  // The index of the generation of that event, counted from 1.
  GoStatus status = {};
  // If the goroutine is waiting and `generation` is the current one: the id of the string with the
  // reason, or 0 if there is none. Higher ids are stored as kHighReason.
  uint8_t reason = 0;
  static constexpr uint64_t kHighReason = 255;

  // Whether `next`, in the generation `in_generation`, comes directly after `number`.
  bool IsFollowedBy(uint64_t next, uint32_t in_generation) const {
    return in_generation == generation && next == number + 1;
  }

  ResourceSpans& open() {
    if (spans == nullptr) spans = std::make_unique<ResourceSpans>();
    return *spans;
  }
};
static_assert(sizeof(GoroutineState) == 32);

// A P.
struct ProcessorState {
  ProcId id;
  ProcStatus status = {};
  bool live = false;  // Whether a table holds this state.
  SequenceNumber sequence;
  std::unique_ptr<ResourceSpans> spans;
  // The thread that was bound to the P last, of those that still are. Only a broken trace has more
  // than one.
  ThreadState* thread = nullptr;

  ResourceSpans& open() {
    if (spans == nullptr) spans = std::make_unique<ResourceSpans>();
    return *spans;
  }
};

// Returns the state as which a goroutine's status is reported.
inline GoState StateOf(GoStatus status) {
  constexpr GoState kStates[kGoStatusEnd] = {GoState::kUndetermined, GoState::kRunnable,
                                             GoState::kRunning, GoState::kSyscall,
                                             GoState::kWaiting};
  return kStates[static_cast<int>(status)];
}

// The same for a P. A P in a syscall still runs. A P in an abandoned syscall is about to be stolen,
// and is reported as idle.
inline ProcState StateOf(ProcStatus status) {
  constexpr ProcState kStates[kProcStatusEnd] = {ProcState::kUndetermined, ProcState::kRunning,
                                                 ProcState::kIdle, ProcState::kRunning,
                                                 ProcState::kIdle};
  return kStates[static_cast<int>(status)];
}

// Whether a P with that status is held by a thread in a syscall, from which it can be stolen.
inline bool InSyscall(ProcStatus status) {
  return status == ProcStatus::kSyscall || status == ProcStatus::kSyscallAbandoned;
}

// A thread.
struct ThreadState {
  ThreadId id;
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;
  // The state of its P when it was last looked up. May be stale: valid only while that state is
  // live and has the right id.
  ProcessorState* proc_state = nullptr;

  // The P that the thread is bound to, and the threads that were bound to that P before and after
  // it.
  ProcessorState* bound = nullptr;
  ThreadState* earlier = nullptr;
  ThreadState* later = nullptr;

  // Leaves the current P, and takes the P with the state `state`, or none.
  void Bind(ProcId id, ProcessorState* state) {
    if (bound != nullptr) {
      (later == nullptr ? bound->thread : later->earlier) = earlier;
      if (earlier != nullptr) earlier->later = later;
    }
    proc = id;
    bound = state;
    later = nullptr;
    earlier = state == nullptr ? nullptr : std::exchange(state->thread, this);
    if (earlier != nullptr) earlier->later = this;
  }
  void Unbind() { Bind(ProcId::kNone, nullptr); }
};

// Ps by id. An erased state is used again for another id, so a stale pointer still points to the
// state of some P, until Clear().
class ProcTable : public DenseTable<ProcessorState> {
 public:
  using DenseTable<ProcessorState>::Find;

  // The same, with the result of the last call cached in `*last`, which may be stale.
  ProcessorState* Find(ProcId id, ProcessorState** last) const {
    if (*last == nullptr || !(*last)->live || (*last)->id != id) *last = Find(id);
    return *last;
  }

  // Requires that `id` is not in the table.
  ProcessorState* Insert(ProcId id) {
    ProcessorState* const state = DenseTable<ProcessorState>::Insert(id);
    state->live = true;
    return state;
  }

  ProcessorState* FindOrInsert(ProcId id) {
    ProcessorState* const state = Find(id);
    return state == nullptr ? Insert(id) : state;
  }
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_SCHEDULER_STATE_H_
