#include "analysis/intervals/recent_states.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/event_rules.h"
#include "parser/event/event_access.h"

namespace gotrace::internal {
namespace {

// Paths that a generation may have before its first states are over.
constexpr int64_t kFirstSteps = 4096;

// Whether a goroutine that started in this function reads the answers of a connection of net/http
// or gRPC for those that wait for them.
bool PassesOn(absl::string_view start) {
  constexpr absl::string_view kReaders[] = {
      "net/http.(*persistConn).readLoop",
      "net/http.(*http2ClientConn).readLoop",
      "golang.org/x/net/http2.(*ClientConn).readLoop",
      "google.golang.org/grpc/internal/transport.(*http2Client).reader",
  };
  return absl::c_linear_search(kReaders, start);
}

bool IsWakeUp(TransitionType type) {
  return type == TransitionType::kGoUnblock || type == TransitionType::kGoSwitch ||
         type == TransitionType::kGoSwitchDestroy;
}

}  // namespace

std::optional<RecentStates::Wait> RecentStates::Add(const Event& event) {
  const bool is_sync = event.kind() == EventKind::kSync;
  if (is_sync || generations_ == 0) BeginGeneration(event.time());
  if (event.kind() != EventKind::kStateTransition) {
    const EventType type = event.type();
    if (type == EventType::kGCMarkAssistBegin || type == EventType::kGCMarkAssistActive ||
        type == EventType::kGCMarkAssistEnd) {
      SetAssists(GoId{event.range_parts().scope.id}, type != EventType::kGCMarkAssistEnd,
                 event.time());
    }
    return std::nullopt;
  }
  static_assert(static_cast<int>(GoState::kUndetermined) == 0 &&
                static_cast<int>(ProcState::kUndetermined) == 0);
  if (event.transition_from() == 0 && !event.fault().has_value() &&
      !std::exchange(has_statement_, true)) {
    begin_ = std::max(begin_, event.time());
  }
  if (event.transition_resource().kind != ResourceKind::kGoroutine) return std::nullopt;
  const GoId id{event.transition_resource().id};
  const auto from = static_cast<GoState>(event.transition_from());
  if (from == GoState::kUndetermined || event.transition_from() == event.transition_to()) {
    TakeStatus(event);
    return std::nullopt;
  }
  Goroutine* goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) {
    goroutine = goroutines_.Insert(id);
    goroutine->state = from;
    goroutine->since = event.time();
  }
  if (from != GoState::kNotExist) return Change(event, goroutine);
  Create(event, goroutine);
  return std::nullopt;
}

void RecentStates::BeginGeneration(int64_t time) {
  ++generations_;
  begin_ = time;
  has_statement_ = false;
  carried_.clear();
  goroutines_.ForEach([&](const Goroutine& goroutine) {
    carried_[goroutine.id] = {goroutine.stack, goroutine.reason};
  });
  goroutines_.Clear();
  states_.clear();
  next_ = 0;
  steps_left_ = kFirstSteps;
}

// A state that a status states has lasted since the generation began.
void RecentStates::TakeStatus(const Event& event) {
  const GoId id{event.transition_resource().id};
  const auto state = static_cast<GoState>(event.transition_to());
  if (state == GoState::kUndetermined || goroutines_.Find(id) != nullptr) return;
  Goroutine* const goroutine = goroutines_.Insert(id);
  goroutine->since = begin_;
  goroutine->state = state;
  goroutine->is_older = true;
  const auto carried = carried_.find(id);
  const Carried known =
      carried != carried_.end()
          ? carried->second
          : AddOlder({id, interner_.InternStack(event.transition_stack()), generations_ == 1});
  goroutine->stack = known.stack;
  goroutine->reason = known.reason;
}

RecentStates::Carried RecentStates::AddOlder(const Older& older) {
  const auto id = static_cast<uint32_t>(older_.size()) | kOlder;
  older_.push_back(older);
  return {StackId{id}, StringId{id}};
}

RecentStates::Ids RecentStates::Merge(const RecentStates& next, const InternerMap& ids) {
  Ids map(ids);
  for (const Older& older : next.older_) {
    const Goroutine* const before = older.is_first ? goroutines_.Find(older.goroutine) : nullptr;
    const Carried known =
        before != nullptr
            ? Carried{before->stack, before->reason}
            : AddOlder({older.goroutine, ids(older.stack), older.is_first && generations_ == 0});
    map.stacks_.push_back(known.stack);
    map.reasons_.push_back(known.reason);
  }
  if (next.generations_ == 0) return map;
  generations_ += next.generations_;
  goroutines_.Clear();
  next.goroutines_.ForEach([&](const Goroutine& goroutine) {
    Goroutine& copy = *goroutines_.Insert(goroutine.id);
    copy = goroutine;
    copy.stack = map(goroutine.stack);
    copy.reason = map(goroutine.reason);
    copy.last = kNoNumber;
  });
  return map;
}

void RecentStates::Create(const Event& event, Goroutine* goroutine) {
  State birth;
  birth.begin = birth.end = event.time();
  birth.goroutine = goroutine->id;
  birth.state = GoState::kNotExist;
  const Cause cause = CauseOf(event.goroutine(), event.time());
  birth.cause = cause.last;
  birth.cause_assists = cause.assists;
  birth.cause_stack = interner_.InternStack(event.stack());
  goroutine->last = Append(birth);
  goroutine->since = event.time();
  goroutine->state = static_cast<GoState>(event.transition_to());
  goroutine->stack = interner_.InternStack(event.transition_stack());
  goroutine->reason = StringId::kEmpty;
  goroutine->assists = goroutine->is_older = goroutine->was_older = false;
}

void RecentStates::SetAssists(GoId id, bool assists, int64_t time) {
  Goroutine* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->assists == assists) return;
  if (goroutine->state == GoState::kRunning && goroutine->since < time) {
    goroutine->last = Append(StateUntil(time, *goroutine));
    goroutine->since = time;
  }
  goroutine->assists = assists;
}

RecentStates::State RecentStates::StateUntil(int64_t time, const Goroutine& goroutine) const {
  State state;
  state.begin = goroutine.since;
  state.end = time;
  state.goroutine = goroutine.id;
  state.before = goroutine.last;
  state.stack = goroutine.stack;
  state.reason =
      goroutine.state == GoState::kRunning ? RunningReason(goroutine.assists) : goroutine.reason;
  state.state = goroutine.state;
  return state;
}

std::optional<RecentStates::Wait> RecentStates::Change(const Event& event, Goroutine* goroutine) {
  std::optional<Wait> wait;
  const int64_t time = event.time();
  const TransitionType type = TransitionTypeOf(event.type());
  if (goroutine->since < time) {
    State state = StateUntil(time, *goroutine);
    if (state.state == GoState::kWaiting && IsWakeUp(type)) {
      const Cause cause = CauseOf(event.goroutine(), time);
      state.cause = cause.last;
      state.cause_assists = cause.assists;
      state.cause_stack = interner_.InternStack(event.stack());
      state.cause_passes_on = PassesOn(interner_.RootFunction(state.cause_stack));
    }
    goroutine->last = Append(state);
    if (state.cause != kNoNumber) {
      wait = Wait{state.goroutine, state.begin,         state.end,
                  state.stack,     state.reason,        goroutine->is_older,
                  state.cause,     state.cause_assists, state.cause_stack};
    }
  }
  const auto to = static_cast<GoState>(event.transition_to());
  if (to == GoState::kNotExist) {
    goroutines_.Erase(goroutine);
    return wait;
  }
  goroutine->was_older = std::exchange(goroutine->is_older, false);
  goroutine->since = std::max(goroutine->since, time);
  goroutine->state = to;
  goroutine->reason = interner_.InternString(event, EventAccess::ReasonId(event));
  // These are not the goroutine's own events.
  if (IsWakeUp(type) || type == TransitionType::kGoSyscallEndBlocked) return wait;
  goroutine->stack = interner_.InternStack(event.stack());
  return wait;
}

RecentStates::Cause RecentStates::CauseOf(GoId id, int64_t time) {
  // A damaged trace can have a goroutine with that id.
  Goroutine* const goroutine = id == GoId::kNone ? nullptr : goroutines_.Find(id);
  if (goroutine == nullptr) return {};
  if (goroutine->last == kNoNumber) {
    State earlier;
    earlier.begin = earlier.end = goroutine->since;
    earlier.goroutine = id;
    goroutine->last = Append(earlier);
  }
  // It may have stopped at this very time, as where one goroutine switches to another.
  const bool is_before = goroutine->since < time;
  const GoState state = is_before                 ? goroutine->state
                        : IsKept(goroutine->last) ? StateOf(goroutine->last).state
                                                  : GoState::kUndetermined;
  if (state == GoState::kWaiting) return {};
  return {goroutine->last, goroutine->assists};
}

RecentStates::Number RecentStates::Append(const State& state) {
  if (states_.size() < kStates) {
    states_.push_back(state);
  } else {
    states_[next_ % kStates] = state;
  }
  steps_left_ += kStepsPerState;
  return next_++;
}

}  // namespace gotrace::internal
