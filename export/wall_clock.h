// From the trace clock to the wall clock and back.
#ifndef GOTRACE_EXPORT_WALL_CLOCK_H_
#define GOTRACE_EXPORT_WALL_CLOCK_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "gotrace/event.h"

namespace gotrace::internal {

// Converts by the latest clock snapshot of a trace so far. Since Go 1.25 each generation has one,
// which its kSync event carries, so that the wall clock may be set while a trace is written.
class WallClock {
 public:
  // Takes the snapshot of a kSync event, if it has one. Call it with each of them, before the event
  // itself is converted; others are ignored.
  void See(const Event& event);

  // Whether there was a snapshot.
  bool known() const { return snapshot_.has_value(); }

  // The wall-clock time of `time`, which is one of Event::time(). Requires known().
  absl::Time At(int64_t time) const;

  // The trace's time at the wall-clock time `wall`: the inverse of At(), or the first or last time
  // that there is where that lies outside of what the trace clock can say. Requires known().
  int64_t TraceTimeAt(absl::Time wall) const;

 private:
  std::optional<ClockSnapshot> snapshot_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_WALL_CLOCK_H_
