// When events happened: since the start of the trace, and on the wall clock.
#ifndef GOTRACE_EVENT_TIMES_H_
#define GOTRACE_EVENT_TIMES_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "gotrace/event.h"

namespace gotrace {

// Converts Event::time(), which is in nanoseconds of a clock with an arbitrary start. Call Add()
// with the events of a trace, or with its kSync events alone, before you convert the times of the
// events that follow.
class EventTimes {
 public:
  // Takes the start of the trace and the wall-clock time from a kSync event. Since Go 1.25 each
  // generation states the wall-clock time again, since the clock may have been set meanwhile. Does
  // nothing for events of other kinds. Cheap.
  void Add(const Event& event);

  // Takes the wall-clock time from the clock snapshot of a generation. For a trace of which only
  // the TraceIndex was read.
  void Add(const ClockSnapshot& snapshot) { snapshot_ = snapshot; }

  // Returns the duration from the first kSync event to `time`, or 0 if there was no such event.
  absl::Duration SinceStart(int64_t time) const;

  // Returns the wall-clock time of `time` according to the latest clock snapshot, or nullopt if
  // there was none, as in traces of Go versions before 1.25.
  std::optional<absl::Time> WallTime(int64_t time) const;

  // Returns the Event::time() at the wall-clock time `wall`, the inverse of WallTime(). It is the
  // first or last int64_t if `wall` is outside the range of the trace clock.
  std::optional<int64_t> TraceTime(absl::Time wall) const;

 private:
  std::optional<int64_t> start_;
  std::optional<ClockSnapshot> snapshot_;
};

}  // namespace gotrace

#endif  // GOTRACE_EVENT_TIMES_H_
