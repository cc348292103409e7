// What the scheduler model knows of each goroutine, P and thread.
#ifndef GOTRACE_PARSER_SCHEDULER_STATE_H_
#define GOTRACE_PARSER_SCHEDULER_STATE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "parser/ids.h"
#include "parser/name_pool.h"
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

// A range of time that is open on a goroutine or a P.
struct OpenRange {
  EventType begin = EventType::kNone;  // The type of event that begins such ranges.
  uint64_t kind = 0;                   // For stop-the-world the string id of its reason.

  friend bool operator==(const OpenRange& a, const OpenRange& b) {
    return a.begin == b.begin && a.kind == b.kind;
  }
};

// A user region that is open on a goroutine. Its name outlives the generation's strings.
struct OpenRegion {
  TaskId task;
  NamePool::Name name;
};

// What is open on a goroutine or a P; most have nothing open.
struct OpenSpans {
  std::vector<OpenRange> ranges;
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
  ThreadState* thread = nullptr;  // Of a P: the one that it was bound to last, and may have left.

  OpenSpans& open() {
    if (spans == nullptr) spans = std::make_unique<OpenSpans>();
    return *spans;
  }
};
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
};

// Resources by id. Their addresses stay; what was erased is used again for another id, so a stale
// pointer still points to some state of the same type.
template <class IdType, class State>
class StateTable {
 public:
  State* Find(IdType id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : it->second;
  }

  // Requires that there is none with this id.
  State* Insert(IdType id) {
    State* state = nullptr;
    if (free_.empty()) {
      if (used_ == kChunk || chunks_.empty()) {
        chunks_.emplace_back(new State[kChunk]);
        used_ = 0;
      }
      state = &chunks_.back()[used_++];
    } else {
      state = free_.back();
      free_.pop_back();
    }
    state->id = id;
    state->live = true;
    by_id_.emplace(id, state);
    return state;
  }

  State* FindOrInsert(IdType id) {
    State* const state = Find(id);
    return state == nullptr ? Insert(id) : state;
  }

  void Erase(State* state) {
    by_id_.erase(state->id);
    *state = State();
    free_.push_back(state);
  }

  // Calls `visit` with a pointer to each.
  template <class Visitor>
  void ForEach(Visitor visit) const {
    for (const auto& [id, state] : by_id_) visit(state);
  }

  size_t size() const { return by_id_.size(); }

 private:
  static constexpr size_t kChunk = 256;

  absl::flat_hash_map<IdType, State*> by_id_;
  std::vector<std::unique_ptr<State[]>> chunks_;
  size_t used_ = 0;  // Of the last chunk.
  std::vector<State*> free_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_SCHEDULER_STATE_H_
