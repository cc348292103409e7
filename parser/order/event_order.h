// Which of the threads' next events comes next.
#ifndef GOTRACE_PARSER_ORDER_EVENT_ORDER_H_
#define GOTRACE_PARSER_ORDER_EVENT_ORDER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gotrace/read_mode.h"
#include "parser/order/frontier.h"
#include "parser/order/scheduler.h"

namespace gotrace::internal {

// Finds, among the next events of a generation's threads, the earliest that the scheduler's model
// lets come next.
class EventOrder {
 public:
  enum class Outcome : uint8_t {
    kAdvanced,  // An event came next, or was left out: its thread is at another one now.
    kWaits,     // None can come next. The scheduler found that for each of them.
    kStopped,   // The attempt tells not to go on.
  };

  // `scheduler` must outlive it. For `exact_ties_threads` see ReaderOptions. With more threads, all
  // are tried only where few events have to wait; else each event that advances costs a number of
  // attempts that does not depend on how many wait.
  explicit EventOrder(Scheduler* scheduler, size_t exact_ties_threads = kExactTiesThreads)
      : scheduler_(*scheduler), exact_ties_threads_(exact_ties_threads) {}

  // The threads, which the caller puts in.
  Frontier& frontier() { return frontier_; }
  const Frontier& frontier() const { return frontier_; }

  // Must be called once the threads of a generation were put in, of which `bytes` were read.
  void BeginGeneration(uint64_t bytes) {
    patience_ = exact_ties_threads_ * (kFreeRounds + bytes / kBytesForRound);
  }

  // Calls `attempt(index)` for threads of the frontier until one tells another thing than kWaits,
  // which is returned. It holds that thread's event against the scheduler's model, and if that
  // advanced, brings the thread to its next one. Requires that the frontier is not empty.
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

  // Must follow if an event advanced in another way than by Advance().
  void WakeOthers() {
    if (frontier_.has_parked()) WakeParked();
  }

  // Whether nothing is to be done but to try the first event of the frontier, and if it advances,
  // to move its thread on: then the caller may do it, and tell how often.
  bool TriesOnlyFirst() const { return frontier_.size() > 0 && !frontier_.has_parked(); }
  void CountAttempts(uint64_t count) {
    attempts_.store(attempts() + count, std::memory_order_relaxed);
  }

  // How often an event was tried. Any thread may ask.
  uint64_t attempts() const { return attempts_.load(std::memory_order_relaxed); }

 private:
  // With more threads than have exact ties in any case, an event that waits may have all of them
  // tried as long as so many attempts are left. Real traces take few of them. They are told by
  // what is the same however the trace is read.
  static constexpr uint64_t kFreeRounds = 16;
  static constexpr uint64_t kBytesForRound = 1024;  // Some 200 events.

  bool MayTryAll() const {
    return frontier_.inserted() <= exact_ties_threads_ || frontier_.size() <= patience_;
  }

  // As Go's reader does where the first thread's event waits.
  template <class Attempt>
  Outcome AdvanceAny(const Attempt& attempt) {
    // Others are tried in order of time. The first one just was, and stays first.
    frontier_.Sort();
    const uint64_t threads = frontier_.size();
    Outcome outcome = Outcome::kWaits;
    for (size_t i = 1; i < threads && outcome == Outcome::kWaits; ++i) {
      CountAttempts(1);
      outcome = attempt(i);
    }
    if (outcome == Outcome::kAdvanced) patience_ -= std::min(threads, patience_);
    // What is forced to come next is in no order of Go's.
    if (outcome == Outcome::kWaits) patience_ = 0;
    return outcome;
  }

  // The same, but for the order of equal times: what was found to wait is not tried before
  // something changed for it.
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

  Scheduler& scheduler_;
  const size_t exact_ties_threads_;
  Frontier frontier_;
  uint64_t patience_ = 0;  // Attempts that are left, see kFreeRounds.
  WaitConditions conditions_;
  std::atomic<uint64_t> attempts_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_EVENT_ORDER_H_
