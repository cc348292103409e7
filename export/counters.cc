#include "export/counters.h"

#include "parser/event/trace_clock.h"

namespace gotrace::internal {
namespace {

bool IsGoStatus(const Event& event) {
  return event.type() == EventType::kGoStatus || event.type() == EventType::kGoStatusStack;
}

}  // namespace

void StateCounters::BeginGeneration() {
  NoteFirst();
  Flush();
  late_ = {};
}

void StateCounters::Begin(int64_t time) {
  has_begun_ = true;
  decided_ = last_ = time;
}

void StateCounters::NoteFirst() {
  if (!has_begun_ || has_first_) return;
  has_first_ = true;
  Note(last_, /*all=*/true);
}

void StateCounters::Add(const Event& event) {
  WriteDue(event.time());
  last_ = event.time();
  Count(event);
}

void StateCounters::WriteDue(int64_t time) {
  constexpr int64_t kInterval = 100'000;
  if (time != last_) NoteFirst();
  if (!has_begun_ || (TraceClock::Subtract(time, decided_) < kInterval && time >= decided_)) return;
  Note(last_, /*all=*/false);
  decided_ = time;
}

void StateCounters::Finish(int64_t time) {
  WriteDue(time);
  Note(time, /*all=*/true);
  Flush();
}

void StateCounters::AddLate(const Event& event) {
  const int64_t id = event.transition_resource().id;
  const bool is_first = event.type() == EventType::kProcStatus
                            ? !procs_.contains(id)
                            : IsGoStatus(event) && goroutines_.Find(GoId{id}) == nullptr;
  if (is_first) Count(event);
}

void StateCounters::Count(const Event& event) {
  const int64_t id = event.transition_resource().id;
  if (event.transition_resource().kind == ResourceKind::kProc) {
    const ProcState state = static_cast<ProcState>(event.transition_to());
    const auto [it, is_new] = procs_.try_emplace(id, ProcState::kUndetermined);
    const bool is_late = is_new && event.type() == EventType::kProcStatus;
    if (it->second == ProcState::kRunning) Change(kBusyProcs, -1, /*is_late=*/false);
    if (state == ProcState::kRunning) Change(kBusyProcs, 1, is_late);
    it->second = state;
    return;
  }
  const GoState state = static_cast<GoState>(event.transition_to());
  if (state == GoState::kUndetermined) return;
  Goroutine* goroutine = goroutines_.Find(GoId{id});
  const bool is_late = IsGoStatus(event) && goroutine == nullptr;
  if (goroutine != nullptr) Change(static_cast<size_t>(goroutine->state), -1, /*is_late=*/false);
  if (state == GoState::kNotExist) {
    if (goroutine != nullptr) goroutines_.Erase(goroutine);
    return;
  }
  if (goroutine == nullptr) goroutine = goroutines_.Insert(GoId{id});
  goroutine->state = state;
  Change(static_cast<size_t>(state), 1, is_late);
}

void StateCounters::Change(size_t value, int64_t by, bool is_late) {
  values_[value] += by;
  if (is_late) late_[value] += by;
}

void StateCounters::Note(int64_t time, bool all) {
  if (!has_begun_) return;
  Sample sample = {time, all, values_};
  for (size_t i = 0; i < late_.size(); ++i) sample.values[i] -= late_[i];
  samples_.push_back(sample);
}

void StateCounters::Flush() {
  for (const Sample& sample : samples_) {
    for (size_t counter = 0; counter < std::size(kSpecs); ++counter) {
      const size_t index = kFirstCounter + counter;
      const uint64_t value = static_cast<uint64_t>(sample.values[index] + late_[index]);
      if (!sample.all && value == written_[counter]) continue;
      written_[counter] = value;
      write_(sample.time, counter, value);
    }
  }
  samples_.clear();
}

}  // namespace gotrace::internal
