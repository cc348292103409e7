// How goroutines spent parts of their intervals.
#ifndef GOTRACE_ANALYSIS_INTERVALS_INTERVAL_TIMES_H_
#define GOTRACE_ANALYSIS_INTERVALS_INTERVAL_TIMES_H_

#include <algorithm>
#include <cstdint>

#include "analysis/core/time_sums.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Adds a time of a goroutine in `state`, of which it was `stopped` for stops of the world, or had a
// P `with_proc`, to the times of that state. Those of waits have names, and are not added.
inline void AddStateTime(GoState state, int64_t duration, int64_t stopped, int64_t with_proc,
                         ExecutionTimes* times) {
  switch (state) {
    case GoState::kRunning:
      AddTime(Between(stopped, duration), &times->running);
      AddTime(stopped, &times->stopped_running);
      break;
    case GoState::kRunnable:
      AddTime(Between(stopped, duration), &times->runnable);
      AddTime(stopped, &times->stopped_runnable);
      break;
    case GoState::kSyscall:
      AddTime(with_proc, &times->syscall);
      AddTime(Between(with_proc, duration), &times->syscall_blocked);
      break;
    default:
      break;
  }
}

// Adds the part of the interval from `begin` to `end`, which lie in it, to all of `*times` but its
// ranges.
inline void AddPart(const GoInterval& interval, int64_t begin, int64_t end, ExecutionTimes* times) {
  if (begin >= end) return;
  const int64_t duration = Between(begin, end);
  AddTime(duration, &times->total);
  int64_t stopped = 0;
  interval.ForEachStop(begin, end, [&](int64_t from, int64_t to, const StopSpan& stop) {
    AddTime(Between(from, to), &stopped);
    times->stopped.Add(stop.reason, Between(from, to));
  });
  if (interval.state == GoState::kWaiting) times->blocked.Add(interval.reason, duration);
  const int64_t with_proc = Between(begin, std::clamp(interval.proc_until, begin, end));
  AddStateTime(interval.state, duration, stopped, with_proc, times);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_INTERVAL_TIMES_H_
