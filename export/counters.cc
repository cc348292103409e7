#include "export/counters.h"

#include "parser/event/trace_clock.h"

namespace gotrace::internal {

void StateCounters::Begin(int64_t time) {
  has_begun_ = true;
  decided_ = last_ = time;
  if (goroutines_.size() > 0) Write(time, /*all=*/true);
}

void StateCounters::Add(const Event& event) {
  WriteDue(event.time());
  last_ = event.time();
  Count(event);
}

void StateCounters::WriteDue(int64_t time) {
  constexpr int64_t kInterval = 100'000;
  if (!has_begun_ || (TraceClock::Subtract(time, decided_) < kInterval && time >= decided_)) return;
  Write(last_, /*all=*/false);
  decided_ = time;
}

void StateCounters::Finish(int64_t time) {
  WriteDue(time);
  Write(time, /*all=*/true);
}

void StateCounters::AddLate(const Event& event) {
  const bool is_status =
      event.type() == EventType::kGoStatus || event.type() == EventType::kGoStatusStack;
  if (is_status && goroutines_.Find(GoId{event.transition_resource().id}) == nullptr) Count(event);
}

void StateCounters::Count(const Event& event) {
  const int64_t id = event.transition_resource().id;
  if (event.transition_resource().kind == ResourceKind::kProc) {
    const ProcState state = static_cast<ProcState>(event.transition_to());
    ProcState& before = procs_[id];
    if (before == ProcState::kRunning) --values_[kBusyProcs];
    if (state == ProcState::kRunning) ++values_[kBusyProcs];
    before = state;
    return;
  }
  const GoState state = static_cast<GoState>(event.transition_to());
  if (state == GoState::kUndetermined) return;
  Goroutine* goroutine = goroutines_.Find(GoId{id});
  if (goroutine != nullptr) --ValueOf(goroutine->state);
  if (state == GoState::kNotExist) {
    if (goroutine != nullptr) goroutines_.Erase(goroutine);
    return;
  }
  if (goroutine == nullptr) goroutine = goroutines_.Insert(GoId{id});
  goroutine->state = state;
  ++ValueOf(state);
}

void StateCounters::Write(int64_t time, bool all) {
  if (!has_begun_) return;
  for (size_t counter = 0; counter < std::size(kSpecs); ++counter) {
    const uint64_t value = values_[kFirstCounter + counter];
    if (!all && value == written_[counter]) continue;
    written_[counter] = value;
    write_(time, counter, value);
  }
}

}  // namespace gotrace::internal
