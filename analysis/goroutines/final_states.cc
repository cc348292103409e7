#include "analysis/goroutines/final_states.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/intervals/runtime_functions.h"

namespace gotrace::internal {

void FinalStates::AddGoroutine(const GoInterval& interval) {
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  FinalState& last = entry.data;
  if (interval.starts_life) {
    last.is_new = true;
    last.created_at = interval.begun_by.stack;
  }
  last.start_function.Learn(interner_, interval.stack);
  // One that has ended has no last state.
  last.state = interval.ends_life ? GoState::kUndetermined : interval.state;
  last.stack = interval.stack;
  last.reason = interval.reason;
  interval.ForEachStop([&](int64_t /*begin*/, int64_t end, const StopSpan& stop) {
    if (end != interval.end) return;
    last.reason = stop.name;
    if (interval.state == GoState::kRunning) last.stack = stop.stack;
  });
  last.begin = interval.begin;
  last.seen_from = interval.Seen().begin;
  last.end_clipped = interval.end_clipped;
  goroutines_.End(interval, entry);
}

void FinalStates::AddEarlier(absl::Span<const Event> events, int64_t from) {
  for (const Event& event : events) {
    if (event.time() >= from) return;
    const ResourceId resource = event.transition_resource();
    if (resource.kind != ResourceKind::kGoroutine) continue;
    if (event.transition_from() == static_cast<uint8_t>(GoState::kNotExist)) {
      created_earlier_[GoId{resource.id}] = interner_.InternStack(event.stack());
    } else if (event.transition_to() == static_cast<uint8_t>(GoState::kNotExist)) {
      created_earlier_.erase(GoId{resource.id});
    }
  }
}

void FinalStates::Continue(Goroutines::Entry& rest, Goroutines::Entry& entry) {
  if (!rest.is_seen) return;
  FinalState before = std::exchange(entry.data, rest.data);
  if (!entry.is_seen) return;
  before.start_function.Learn(entry.data.start_function);
  entry.data.start_function = before.start_function;
  entry.data.is_new = before.is_new;
  entry.data.created_at = before.created_at;
}

void FinalStates::Merge(FinalStates& next, const InternerMap& ids) {
  goroutines_.Merge(next.goroutines_, [&](FinalState* state) {
    state->start_function.MapIds(ids);
    state->created_at = ids(state->created_at);
    state->stack = ids(state->stack);
    state->reason = ids(state->reason);
  });
  for (const auto& [id, stack] : next.created_earlier_) created_earlier_[id] = ids(stack);
}

void FinalStates::Finish() {
  goroutines_.Finish();
  for (FinalState& one : states_) {
    const auto created = created_earlier_.find(one.goroutine);
    if (!one.is_new && created != created_earlier_.end()) one.created_at = created->second;
    one.start = one.start_function.FinalName(one.created_at, &interner_);
  }
  absl::c_stable_sort(states_, [](const FinalState& a, const FinalState& b) {
    return a.goroutine.value < b.goroutine.value;
  });
  CompleteBlocked();
}

std::vector<FrameId> FinalStates::FramesOfProgram(StackId stack) const {
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  const auto first = absl::c_find_if(frames, [this](FrameId id) {
    return !IsOfLibrary(interner_.String(interner_.FrameWithIds(id).func));
  });
  return {first, frames.end()};
}

// A status does not say why a goroutine blocked before the trace, and its stack has more frames of
// the runtime than that of a blocking event. If other goroutines blocked in the same place, the
// reason was the same; and if all of those were created in one place, this one was created there
// too.
void FinalStates::CompleteBlocked() {
  // One of the goroutines that blocked in a place, one of those whose creation is known, and
  // whether others differ from them.
  struct Known {
    const FinalState* blocked = nullptr;
    const FinalState* created = nullptr;
    bool blocked_differ = false;
    bool created_differ = false;
  };
  absl::flat_hash_map<std::pair<StringId, std::vector<FrameId>>, Known> places;
  const auto place_of = [this](const FinalState& one) {
    return std::pair(one.start, FramesOfProgram(one.stack));
  };
  for (const FinalState& one : states_) {
    if (one.state != GoState::kWaiting || one.reason == StringId::kEmpty) continue;
    Known& known = places[place_of(one)];
    if (known.blocked == nullptr) known.blocked = &one;
    known.blocked_differ |=
        known.blocked->reason != one.reason || known.blocked->stack != one.stack;
    if (one.created_at == StackId::kNone) continue;
    if (known.created == nullptr) known.created = &one;
    known.created_differ |= known.created->created_at != one.created_at;
  }
  for (FinalState& one : states_) {
    if (one.state != GoState::kWaiting) continue;
    const auto known = places.find(place_of(one));
    if (known == places.end() || known->second.blocked_differ) continue;
    one.reason = known->second.blocked->reason;
    one.stack = known->second.blocked->stack;
    if (one.created_at == StackId::kNone && known->second.created != nullptr &&
        !known->second.created_differ) {
      one.created_at = known->second.created->created_at;
    }
  }
}

}  // namespace gotrace::internal
