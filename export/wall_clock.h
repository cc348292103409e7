// Conversion between the trace clock and the wall clock.
#ifndef GOTRACE_EXPORT_WALL_CLOCK_H_
#define GOTRACE_EXPORT_WALL_CLOCK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "gotrace/event.h"
#include "gotrace/event_times.h"

namespace gotrace::internal {

// EventTimes for callers that ask once whether the wall clock is known.
class WallClock {
 public:
  WallClock() = default;
  explicit WallClock(const ClockSnapshot& snapshot) { times_.See(snapshot); }

  // As EventTimes::See().
  void See(const Event& event) { times_.See(event); }

  // Returns whether there was a snapshot.
  bool known() const { return times_.WallTime(0).has_value(); }

  // As EventTimes::WallTime() and TraceTime(). Require known().
  absl::Time At(int64_t time) const { return *times_.WallTime(time); }
  int64_t TraceTimeAt(absl::Time wall) const { return *times_.TraceTime(wall); }

 private:
  EventTimes times_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_WALL_CLOCK_H_
