// What the scheduler model knows of each goroutine, P and thread.
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

// A place in the order of a resource's events. Numbers start anew in each generation.
struct SequenceNumber {
  uint64_t generation = 0;
  uint64_t number = 0;

  // Whether this comes directly after `other`.
  bool Follows(const SequenceNumber& other) const {
    return generation == other.generation && number == other.number + 1;
  }
};

// Where a region began, for faults to show.
struct RegionBegin {
  uint64_t offset = 0;
  int64_t time = 0;
  uint64_t stack = 0;  // Its id in the tables of the generation.
  // Which of the generations that was, counted from 1 on; 0 if the region is only assumed to have
  // begun.
  uint32_t generation = 0;
};

// A user region that is open on a goroutine. Its name outlives the generation's strings.
struct OpenRegion {
  TaskId task;
  NamePool::Name name;
  RegionBegin begin = {};
};

// What is open on a goroutine or a P; most have nothing open.
struct OpenSpans {
  OpenRanges ranges;
  std::vector<OpenRegion> regions;  // The innermost last.
};

struct ThreadState;

// A goroutine. Two fill a line of the processor's cache.
struct GoroutineState {
  GoId id;
  uint64_t number = 0;  // The sequence number of its last event that has one,
  std::unique_ptr<OpenSpans> spans;
  uint32_t generation = 0;  // and in which of the generations, counted from 1 on, that was.
  GoStatus status = {};
  // If it waits, and `generation` is the one at hand: the id of the string that says what for, or 0
  // if nothing does. Higher ids count as kHighReason.
  uint8_t reason = 0;
  static constexpr uint64_t kHighReason = 255;

  // Whether `next` comes directly after `number` in that generation.
  bool IsFollowedBy(uint64_t next, uint32_t in_generation) const {
    return in_generation == generation && next == number + 1;
  }

  OpenSpans& open() {
    if (spans == nullptr) spans = std::make_unique<OpenSpans>();
    return *spans;
  }
};
static_assert(sizeof(GoroutineState) == 32);

// A P.
struct ProcessorState {
  ProcId id;
  ProcStatus status = {};
  bool live = false;  // Whether a table holds it.
  SequenceNumber sequence;
  std::unique_ptr<OpenSpans> spans;
  // The thread that was bound to it last, of those that still are. More than one are only in a
  // broken trace.
  ThreadState* thread = nullptr;

  OpenSpans& open() {
    if (spans == nullptr) spans = std::make_unique<OpenSpans>();
    return *spans;
  }
};

// Whether a P of that status is held by a thread in a syscall, from which it can be stolen.
inline bool InSyscall(ProcStatus status) {
  return status == ProcStatus::kSyscall || status == ProcStatus::kSyscallAbandoned;
}

// A thread.
struct ThreadState {
  ThreadId id;
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;
  // Where its P was found last. May be stale: good only while that is live and has the right id.
  ProcessorState* proc_state = nullptr;

  // The P that the thread is bound to, and the threads that were bound to it before and after.
  ProcessorState* bound = nullptr;
  ThreadState* earlier = nullptr;
  ThreadState* later = nullptr;

  // Leaves the P and takes another, whose state is `state`, or none.
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

// Ps by id. What was erased is used again for another id, so a stale pointer still points to the
// state of some P, until Clear().
class ProcTable : public DenseTable<ProcessorState> {
 public:
  using DenseTable<ProcessorState>::Find;

  // The same where `*last` remembers what was found last, which may be stale.
  ProcessorState* Find(ProcId id, ProcessorState** last) const {
    if (*last == nullptr || !(*last)->live || (*last)->id != id) *last = Find(id);
    return *last;
  }

  // Requires that there is none with this id.
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
