#include "export/counters.h"

#include "parser/event/trace_clock.h"

namespace gotrace::internal {
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

void StateCounters::Advance(int64_t time) {
  WriteDue(time);
  last_ = time;
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

void StateCounters::Count(GoState from, GoState to, bool is_late) {
  Change(static_cast<size_t>(from), -1, /*is_late=*/false);
  Change(static_cast<size_t>(to), 1, is_late);
}

void StateCounters::Count(ProcState from, ProcState to, bool is_late) {
  if (from == ProcState::kRunning) Change(kBusyProcs, -1, /*is_late=*/false);
  if (to == ProcState::kRunning) Change(kBusyProcs, 1, is_late);
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
