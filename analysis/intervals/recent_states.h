// The last states of goroutines, and the critical paths of waits that are just over.
#ifndef GOTRACE_ANALYSIS_INTERVALS_RECENT_STATES_H_
#define GOTRACE_ANALYSIS_INTERVALS_RECENT_STATES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/states.h"
#include "util/dense_table.h"

namespace gotrace::internal {

// Knows the states that goroutines had before the last event, and follows them back in time as
// CriticalPaths does. That class keeps all states and follows paths at the end; this one keeps the
// last states of all goroutines together, and follows a path once its end is reached. It does not
// follow a wait to the goroutine that reads a connection of net/http or gRPC: who is slow is at the
// other end, and who waits for it is the one to name.
//
// Paths are the same wherever a trace is cut into parts, since they do not leave a generation: a
// path ends at its begin at the latest. So the path of a wait may not reach back to the begin of
// the wait. The same holds where there are too many states: kStates are kept, a path has at most
// kMaxSteps pieces and turns, and all paths of a generation together kStepsPerState for each state,
// so that the time is in proportion to the events.
//
// A state that began in an earlier generation has the stack and the reason that it had there. If
// that is in an earlier part of the trace, it has ids that stand for them until the parts are
// merged: see IsOlder().
class RecentStates {
 public:
  // A wait of a goroutine that another one ended, or the part of it since the generation began.
  struct Wait {
    GoId goroutine;
    int64_t begin = 0;
    int64_t end = 0;
    StackId stack = StackId::kNone;  // Where the goroutine waited; kNone if unknown.
    StringId reason = StringId::kEmpty;
    bool is_older = false;  // Whether it began before the generation.

    // The goroutine that ended it: the state that it had before, whether it was in a mark assist
    // since then, and where it was at the end.
    uint32_t waker = 0;
    bool waker_assists = false;
    StackId waker_stack = StackId::kNone;
  };

  // A part of a path, as PathPiece. Parts of which nothing is known are left out.
  struct Piece {
    int64_t begin = 0;
    int64_t end = 0;
    GoId goroutine;
    GoState state = GoState::kUndetermined;
    StringId reason = StringId::kEmpty;
    StackId stack = StackId::kNone;

    // Where the goroutine on which the path ends waited for the one that the piece is of, or for
    // another that waited for it; kNone if the piece is of that goroutine itself.
    StackId via = StackId::kNone;
  };

  static constexpr size_t kStates = size_t{1} << 18;
  static constexpr int kMaxSteps = 1024;
  static constexpr int64_t kStepsPerState = 16;

  // `*interner` must outlive this object.
  explicit RecentStates(Interner* interner)
      : interner_(*interner), assist_(interner->InternString("GC mark assist")) {}

  // Returns since when the current generation was seen.
  int64_t begin() const { return begin_; }

  // Takes the next event. Returns the wait that it ended, if another goroutine ended one.
  std::optional<Wait> Add(const Event& event);

  // Calls `emit` with the pieces of the path of a wait that the last event ended, last one first:
  // from the goroutine that ended it back to its begin, or to `from` if that is later. Makes at
  // most `max_steps` steps.
  template <class Emit>
  void Walk(const Wait& wait, int64_t from, int max_steps, const Emit& emit) {
    Follow({wait.waker, std::max(from, wait.begin), wait.end, wait.waker_stack, StackId::kNone,
            wait.waker_assists},
           max_steps, emit);
  }

  // The same for the path that ends on a goroutine with the last event, where it was in `stack`.
  template <class Emit>
  void WalkFrom(GoId goroutine, int64_t from, int64_t to, StackId stack, const Emit& emit) {
    const Cause cause = CauseOf(goroutine, to);
    Follow({cause.last, std::max(from, begin_), to, stack, StackId::kNone, cause.assists},
           kMaxSteps, emit);
  }

  // Returns where a goroutine was last; kNone if the trace does not say.
  StackId StackOf(GoId goroutine) const {
    const Goroutine* const found = goroutines_.Find(goroutine);
    return found == nullptr ? StackId::kNone : found->stack;
  }

  // Returns whether the state of a goroutine that ended last began before the generation.
  bool WasOlder(GoId goroutine) const {
    const Goroutine* const found = goroutines_.Find(goroutine);
    return found != nullptr && found->was_older;
  }

  // Returns whether an id stands for that of an older state, and is not one of the interner.
  static bool IsOlder(StackId id) { return (static_cast<uint32_t>(id) & kOlder) != 0; }
  static bool IsOlder(StringId id) { return (static_cast<uint32_t>(id) & kOlder) != 0; }

  // Return the ids of the interner for any ids, once there is nothing more to merge. Of an older
  // state that no part knows, the stack is that of its status.
  StackId Resolve(StackId id) const { return IsOlder(id) ? older_[IndexOf(id)].stack : id; }
  StringId Resolve(StringId id) const { return IsOlder(id) ? StringId::kEmpty : id; }

  // Maps the ids that another object returned.
  class Ids {
   public:
    StackId operator()(StackId id) const { return IsOlder(id) ? stacks_[IndexOf(id)] : ids_(id); }
    StringId operator()(StringId id) const {
      return IsOlder(id) ? reasons_[IndexOf(id)] : ids_(id);
    }

   private:
    friend class RecentStates;

    explicit Ids(const InternerMap& ids) : ids_(ids) {}

    const InternerMap& ids_;
    // Those of older states, by number.
    std::vector<StackId> stacks_;
    std::vector<StringId> reasons_;
  };

  // Continues with the states of `next`, which received the following part of the trace. Returns
  // the ids here of what it returned; valid as long as `ids`.
  Ids Merge(const RecentStates& next, const InternerMap& ids);

 private:
  // The number of a state since the generation began.
  using Number = uint32_t;
  static constexpr Number kNoNumber = std::numeric_limits<Number>::max();

  // Set in ids that stand for those of older states.
  static constexpr uint32_t kOlder = uint32_t{1} << 31;

  template <class Id>
  static size_t IndexOf(Id id) {
    return static_cast<uint32_t>(id) & ~kOlder;
  }

  // A state of a goroutine that is over. The first one of a goroutine that is created has no
  // length, and is kNotExist; one that stands for an earlier generation is kUndetermined.
  struct State {
    int64_t begin = 0;
    int64_t end = 0;
    GoId goroutine;
    Number before = kNoNumber;  // The state that the goroutine had before.

    // kWaiting: the last state of the goroutine that ended it. kNotExist: that of the creator.
    // kNoNumber if no goroutine did, or if it waited itself.
    Number cause = kNoNumber;
    StackId cause_stack = StackId::kNone;  // Where that goroutine was.

    StackId stack = StackId::kNone;
    StringId reason = StringId::kEmpty;
    GoState state = GoState::kUndetermined;
    bool cause_assists = false;  // Whether that goroutine was in a mark assist.

    // Whether it only passed on what came from the network, so that the path stays with the one
    // that waited.
    bool cause_passes_on = false;
  };

  // The state that a goroutine is in.
  struct Goroutine {
    GoId id;
    int64_t since = 0;
    Number last = kNoNumber;  // The state before.
    StackId stack = StackId::kNone;
    StringId reason = StringId::kEmpty;
    GoState state = GoState::kUndetermined;
    bool assists = false;    // Whether it is in a mark assist.
    bool is_older = false;   // Whether the state began before the generation.
    bool was_older = false;  // The same for the state before.
  };

  // What is known of a state that is older than the generation.
  struct Carried {
    StackId stack = StackId::kNone;
    StringId reason = StringId::kEmpty;
  };
  // A state that is older than this part of the trace, or than all that is known of it.
  struct Older {
    GoId goroutine;
    StackId stack = StackId::kNone;  // Of its status.
    bool is_first = false;  // Whether it is of the first generation here, so that it may be known.
  };

  // A goroutine that caused something: its last state before, or kNoNumber if that is not known or
  // if it was not awake.
  struct Cause {
    Number last = kNoNumber;
    bool assists = false;
  };

  // The place of a walk: on its way back from `to` to `from`, on the goroutine of the state `at`,
  // which is over at `to` or before. The goroutine has been running since then, until it was in
  // `stack`.
  struct Position {
    Number at = kNoNumber;
    int64_t from = 0;
    int64_t to = 0;
    StackId stack = StackId::kNone;
    StackId via = StackId::kNone;  // Piece::via.
    bool assists = false;
  };

  void BeginGeneration(int64_t time);
  void TakeStatus(const Event& event);
  // Gives a state that is older than all that is known ids that stand for its own.
  Carried AddOlder(const Older& older);
  void Create(const Event& event, Goroutine* goroutine);
  std::optional<Wait> Change(const Event& event, Goroutine* goroutine);
  void SetAssists(GoId id, bool assists, int64_t time);

  // Returns the state of a goroutine, which ends at `time`.
  State StateUntil(int64_t time, const Goroutine& goroutine) const;

  // Returns a goroutine as the cause of something at `time`.
  Cause CauseOf(GoId id, int64_t time);

  Number Append(const State& state);
  bool IsKept(Number number) const {
    return number != kNoNumber && next_ - number <= static_cast<Number>(states_.size());
  }
  const State& StateOf(Number number) const { return states_[number % kStates]; }

  template <class Emit>
  void Follow(const Position& start, int max_steps, const Emit& emit);
  // Makes one step back. Returns false if the path ends there.
  template <class Emit>
  bool Step(const Emit& emit);

  StringId RunningReason(bool assists) const { return assists ? assist_ : StringId::kEmpty; }

  Interner& interner_;
  const StringId assist_;

  uint64_t generations_ = 0;
  absl::flat_hash_map<GoId, Carried> carried_;  // From the previous generation.
  std::vector<Older> older_;
  int64_t begin_ = 0;           // Since when this generation was seen.
  bool has_statement_ = false;  // Whether it stated something that no earlier one did.
  DenseTable<Goroutine> goroutines_{kSlotsForGoroutines};
  std::vector<State> states_;  // The last ones, each at its number modulo kStates.
  Number next_ = 0;
  int64_t steps_left_ = 0;
  std::vector<Position> positions_;  // Of the walk: the goroutines to which it returns.
};

template <class Emit>
void RecentStates::Follow(const Position& start, int max_steps, const Emit& emit) {
  if (start.from >= start.to) return;
  positions_.assign(1, start);
  for (int step = 0; step < max_steps && steps_left_ > 0; ++step) {
    --steps_left_;
    if (!Step(emit)) return;
  }
}

template <class Emit>
bool RecentStates::Step(const Emit& emit) {
  Position& position = positions_.back();
  const bool is_kept = IsKept(position.at);
  const State* const state = is_kept ? &StateOf(position.at) : nullptr;
  const auto emit_to = [&](int64_t begin, GoState kind, StringId reason, StackId stack) {
    if (begin < position.to) {
      emit(Piece{begin, position.to, state->goroutine, kind, reason, stack, position.via});
    }
    position.to = begin;
  };
  if (!is_kept || (state->state == GoState::kUndetermined && state->end >= position.to)) {
    position.to = position.from;
  } else if (state->end < position.to) {
    emit_to(std::max(state->end, position.from), GoState::kRunning, RunningReason(position.assists),
            position.stack);
  } else if (state->state == GoState::kNotExist) {
    position.at = state->cause;
    position.stack = state->cause_stack;
    position.assists = state->cause_assists;
  } else {
    const int64_t begin = std::max(state->begin, position.from);
    const bool is_caused =
        state->state == GoState::kWaiting && state->cause != kNoNumber && !state->cause_passes_on;
    const StackId via = position.via == StackId::kNone ? state->stack : position.via;
    const Position cause = {state->cause,       begin, position.to,
                            state->cause_stack, via,   state->cause_assists};
    if (is_caused) {
      position.to = begin;
    } else {
      emit_to(begin, state->state, state->reason,
              state->state == GoState::kRunning ? position.stack : state->stack);
    }
    // A run may consist of several states, in mark assists and outside of them. The trace says only
    // where it ended.
    if (state->state != GoState::kRunning) position.stack = state->stack;
    position.at = state->before;
    if (is_caused) {
      // Replaces the position, so that a long chain of causes needs no memory.
      if (position.to <= position.from) positions_.pop_back();
      positions_.push_back(cause);
      return true;
    }
  }
  if (position.to <= position.from) positions_.pop_back();
  return !positions_.empty();
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_RECENT_STATES_H_
