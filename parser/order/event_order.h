// Chooses which thread's next event comes next in the order.
#ifndef GOTRACE_PARSER_ORDER_EVENT_ORDER_H_
#define GOTRACE_PARSER_ORDER_EVENT_ORDER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gotrace/reader_options.h"
#include "parser/order/frontier.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {

// Finds, among the next events of a generation's threads, the earliest that the scheduler model
// admits.
class EventOrder {
 public:
  enum class Outcome : uint8_t {
    kAdvanced,  // An event came next or was dropped, and its thread is at its next event.
    kWaits,     // No event can come next. The scheduler model refused each of them.
    kStopped,   // The attempt asked to stop.
  };

  // `scheduler` must outlive this object. For `exact_ties_threads` see Tuning. If there are more
  // threads, all of them are tried only while few events have to wait; after that, the number of
  // attempts for each event does not depend on how many threads wait.
  explicit EventOrder(SchedulerModel* scheduler,
                      size_t exact_ties_threads = Tuning().exact_ties_threads)
      : scheduler_(*scheduler), exact_ties_threads_(exact_ties_threads) {}

  // The threads. The caller inserts them.
  Frontier& frontier() { return frontier_; }
  const Frontier& frontier() const { return frontier_; }

  // Must be called after the threads of a generation were inserted. `bytes` is the size of the
  // generation.
  void BeginGeneration(uint64_t bytes) {
    attempts_left_ = exact_ties_threads_ * (kFreeRounds + bytes / kBytesForRound);
  }

  // Calls `attempt(index)` for threads of the frontier until one returns something other than
  // kWaits, and returns that. `attempt` tries the thread's event with the scheduler model, and if
  // the event advances, moves the thread to its next one. Requires that the frontier is not empty.
  template <class Attempt>
  Outcome Advance(const Attempt& attempt) {
    if (frontier_.has_parked()) return AdvanceReady(attempt);
    CountAttempts(1);
    const Outcome outcome = attempt(0);
    if (outcome != Outcome::kWaits) return outcome;
    if (MayTryAll()) return AdvanceAny(attempt);
    ParkFirst();
    return AdvanceReady(attempt);
  }

  // Must be called after an event advanced without Advance().
  void WakeOthers() {
    if (frontier_.has_parked()) WakeParked();
  }

  // Whether only the first event of the frontier has to be tried. If so, the caller may try it and
  // move its thread on without Advance(), and report the number of attempts to CountAttempts().
  bool TriesOnlyFirst() const { return frontier_.size() > 0 && !frontier_.has_parked(); }
  void CountAttempts(uint64_t count) {
    attempts_.store(attempts() + count, std::memory_order_relaxed);
  }

  // The number of attempts so far. May be called from any thread.
  uint64_t attempts() const { return attempts_.load(std::memory_order_relaxed); }

 private:
  // With more than exact_ties_threads_ threads, all of them are tried for an event that waits only
  // until this budget of attempts is used up. Real traces use little of it. The budget depends only
  // on the size of the generation, so that the order is the same however the trace is read.
  static constexpr uint64_t kFreeRounds = 16;
  static constexpr uint64_t kBytesForRound = 1024;  // About 200 events.

  bool MayTryAll() const {
    return frontier_.inserted() <= exact_ties_threads_ || frontier_.size() <= attempts_left_;
  }

  // Tries the other threads as Go's reader does if the first thread's event waits.
  template <class Attempt>
  Outcome AdvanceAny(const Attempt& attempt) {
    // The others are tried in order of time. The first was tried already, and stays first.
    frontier_.Sort();
    const uint64_t threads = frontier_.size();
    Outcome outcome = Outcome::kWaits;
    for (size_t i = 1; i < threads && outcome == Outcome::kWaits; ++i) {
      CountAttempts(1);
      outcome = attempt(i);
    }
    if (outcome == Outcome::kAdvanced) attempts_left_ -= std::min(threads, attempts_left_);
    // An event that is forced to come next is outside of the order that Go's reader defines.
    if (outcome == Outcome::kWaits) attempts_left_ = 0;
    return outcome;
  }

  // Gives the same order as AdvanceAny(), except among equal times. An event that waits is not
  // tried again before a condition that it waits for is met.
  template <class Attempt>
  Outcome AdvanceReady(const Attempt& attempt) {
    while (frontier_.size() > 0) {
      CountAttempts(1);
      const Outcome outcome = attempt(0);
      if (outcome == Outcome::kAdvanced) WakeOthers();
      if (outcome != Outcome::kWaits) return outcome;
      ParkFirst();
    }
    return Outcome::kWaits;
  }

  void ParkFirst();
  void WakeParked();

  SchedulerModel& scheduler_;
  const size_t exact_ties_threads_;
  Frontier frontier_;
  uint64_t attempts_left_ = 0;  // The number of attempts left, see kFreeRounds.
  WaitConditions conditions_;
  std::atomic<uint64_t> attempts_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_EVENT_ORDER_H_
