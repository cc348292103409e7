// Which events of a trace somebody wants to see.
#ifndef GOTRACE_EXPORT_EVENT_FILTER_H_
#define GOTRACE_EXPORT_EVENT_FILTER_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "gotrace/event.h"

namespace gotrace::internal {

// Conditions that an event must all meet. One that is not set is met by every event.
struct EventFilter {
  // The event's kind.
  absl::flat_hash_set<EventKind> kinds;

  // The goroutine or the P that the event is about: that of its context, the one whose state it
  // changes, or the one that a range or a label is bound to. For a thread that of its context.
  absl::flat_hash_set<int64_t> goroutines;
  absl::flat_hash_set<int64_t> procs;
  absl::flat_hash_set<int64_t> threads;

  // The first and the last time, in nanoseconds.
  struct Times {
    int64_t from = std::numeric_limits<int64_t>::min();
    int64_t to = std::numeric_limits<int64_t>::max();

    bool MatchesAll() const;
    bool Has(int64_t time) const { return from <= time && time <= to; }
  };
  Times since_start;  // Since the first event of the trace.
  Times times;        // As Event::time() tells them.

  // Whether no condition is set.
  bool MatchesAll() const;

  // Whether `event` meets all conditions. `start` is the time of the trace's first event.
  bool Matches(const Event& event, int64_t start) const;

  // Whether no later event can meet the conditions on time.
  bool IsPast(const Event& event, int64_t start) const;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_EVENT_FILTER_H_
