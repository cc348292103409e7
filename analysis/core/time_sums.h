// Sums and differences of times. They wrap around, since a damaged trace may have any times.
#ifndef GOTRACE_ANALYSIS_CORE_TIME_SUMS_H_
#define GOTRACE_ANALYSIS_CORE_TIME_SUMS_H_

#include <cstdint>

#include "parser/event/trace_clock.h"

namespace gotrace::internal {

// Returns the time from `begin` to `end`.
inline int64_t Between(int64_t begin, int64_t end) { return TraceClock::Subtract(end, begin); }

// Returns whether `part` is at least this share of `whole`.
inline bool IsShare(int64_t part, double share, int64_t whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

inline void AddTime(int64_t time, int64_t* sum) { *sum = TraceClock::Add(*sum, time); }
inline void SubtractTime(int64_t time, int64_t* sum) { *sum = TraceClock::Subtract(*sum, time); }

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_TIME_SUMS_H_
