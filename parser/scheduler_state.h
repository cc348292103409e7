// What the scheduler model knows of each goroutine, P and thread.
#ifndef GOTRACE_PARSER_SCHEDULER_STATE_H_
#define GOTRACE_PARSER_SCHEDULER_STATE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "parser/ids.h"
#include "parser/name_pool.h"
#include "parser/open_ranges.h"
#include "tracev2/event_type.h"
#include "tracev2/wire_status.h"

namespace gotrace {

// A place in the order of a resource's events. Numbers start anew in each generation.
struct SequenceNumber {
  uint64_t generation = 0;
  uint64_t number = 0;

  // Whether this comes directly after `other`.
  bool Follows(const SequenceNumber& other) const {
    return generation == other.generation && number == other.number + 1;
  }
};

// A user region that is open on a goroutine. Its name outlives the generation's strings.
struct OpenRegion {
  TaskId task;
  NamePool::Name name;
};

// What is open on a goroutine or a P; most have nothing open.
struct OpenSpans {
  OpenRanges ranges;
  std::vector<OpenRegion> regions;  // The innermost last.
};

struct ThreadState;

// A goroutine or a P.
template <class IdType, class StatusType>
struct ResourceState {
  IdType id;
  StatusType status = {};
  bool live = false;  // Whether a table holds it.
  SequenceNumber sequence;
  std::unique_ptr<OpenSpans> spans;
  // Of a P: the thread that was bound to it last, of those that still are. More than one are only
  // in a broken trace.
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

using GoroutineState = ResourceState<GoId, GoStatus>;
using ProcessorState = ResourceState<ProcId, ProcStatus>;

// A thread. The pointers remember where its goroutine and P were found last: they may be stale, and
// are good only while what they point to is live and has the right id.
struct ThreadState {
  ThreadId id;
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;
  GoroutineState* goroutine_state = nullptr;
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

// Resources by id. Their addresses stay; what was erased is used again for another id, so a stale
// pointer still points to some state of the same type.
template <class IdType, class State, size_t kNear>
class StateTable {
 public:
  State* Find(IdType id) const {
    State* const near = near_[Place(id)];
    if (near != nullptr && near->id == id) return near;
    if (newest_far_ < id) return nullptr;
    const auto it = far_.find(id);
    return it == far_.end() ? nullptr : it->second;
  }

  // The same where `*last` remembers what was found last, which may be stale.
  State* Find(IdType id, State** last) const {
    if (*last == nullptr || !(*last)->live || (*last)->id != id) *last = Find(id);
    return *last;
  }

  // Requires that there is none with this id.
  State* Insert(IdType id) {
    State* const state = Allocate();
    state->id = id;
    state->live = true;
    State*& near = near_[Place(id)];
    State* far = state;
    if (near == nullptr || far_.size() >= kNear) far = std::exchange(near, state);
    if (far != nullptr) {
      far_.emplace(far->id, far);
      newest_far_ = std::max(newest_far_, far->id);
    }
    ++size_;
    return state;
  }

  State* FindOrInsert(IdType id) {
    State* const state = Find(id);
    return state == nullptr ? Insert(id) : state;
  }

  void Erase(State* state) {
    State*& near = near_[Place(state->id)];
    if (near == state) {
      near = nullptr;
    } else {
      far_.erase(state->id);
    }
    *state = State();
    free_.push_back(state);
    --size_;
  }

  // Erases all. Costs time in proportion to what there was.
  void Clear() {
    for (const std::unique_ptr<State[]>& chunk : chunks_) {
      for (size_t i = 0; i < kChunk; ++i) {
        if (chunk[i].live) near_[Place(chunk[i].id)] = nullptr;
      }
    }
    far_.clear();
    newest_far_ = kOldest;
    chunks_.clear();
    free_.clear();
    used_ = size_ = 0;
  }

  size_t size() const { return size_; }

 private:
  static constexpr size_t kChunk = 256;
  static constexpr IdType kOldest{std::numeric_limits<decltype(IdType::value)>::min()};

  static size_t Place(IdType id) { return static_cast<uint64_t>(id.value) % kNear; }

  State* Allocate() {
    if (!free_.empty()) {
      State* const state = free_.back();
      free_.pop_back();
      return state;
    }
    if (used_ == kChunk || chunks_.empty()) {
      chunks_.emplace_back(new State[kChunk]);
      used_ = 0;
    }
    return &chunks_.back()[used_++];
  }

  // Most goroutines are short-lived, and what else there is are often a few hundred. Of those whose
  // ids have the same remainder by kNear one stands in an array, and the others are hashed: the one
  // that came first stays there, until so many are hashed that there must be many long-lived ones.
  // From then on the one that came last does.
  std::unique_ptr<State* []> near_ { new State*[kNear]() };
  absl::flat_hash_map<IdType, State*> far_;
  // No id in far_ is above it, nor was one since Clear(). Ids rise, so that a new one is above it.
  IdType newest_far_ = kOldest;
  std::vector<std::unique_ptr<State[]>> chunks_;
  size_t used_ = 0;  // Of the last chunk.
  size_t size_ = 0;
  std::vector<State*> free_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_SCHEDULER_STATE_H_
