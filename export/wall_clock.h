// Converts between the trace clock and the wall clock.
#ifndef GOTRACE_EXPORT_WALL_CLOCK_H_
#define GOTRACE_EXPORT_WALL_CLOCK_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "gotrace/event.h"

namespace gotrace::internal {

// Converts times using the latest clock snapshot of a trace. Since Go 1.25, the kSync event of each
// generation has one, so the result is right even if the wall clock is set during the trace.
class WallClock {
 public:
  WallClock() = default;
  explicit WallClock(const ClockSnapshot& snapshot) : snapshot_(snapshot) {}

  // Uses the snapshot of a kSync event, if it has one. Call it with each kSync event before
  // converting the event's time; other events are ignored.
  void See(const Event& event);

  // Returns whether there was a snapshot.
  bool known() const { return snapshot_.has_value(); }

  // Returns the wall-clock time of `time`, a value of Event::time(). Requires known().
  absl::Time At(int64_t time) const;

  // Returns the trace time of the wall-clock time `wall`: the inverse of At(). Saturates at the
  // smallest and largest int64_t. Requires known().
  int64_t TraceTimeAt(absl::Time wall) const;

 private:
  std::optional<ClockSnapshot> snapshot_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_WALL_CLOCK_H_
