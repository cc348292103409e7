// Selects events of a trace by kind, goroutine, P, thread, time and stack.
#ifndef GOTRACE_EVENT_FILTER_H_
#define GOTRACE_EVENT_FILTER_H_

#include <cstdint>
#include <limits>
#include <set>

#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/stack_filter.h"

namespace gotrace {

// Conditions that an event must meet, all of them. Every event meets a condition that is not set.
struct EventFilter {
  // The event's kind.
  std::set<EventKind> kinds;

  // The goroutine, P or thread of the event's context. An event also meets the condition on
  // goroutines or Ps if it changes the state of one of them, or if its range or label belongs to
  // one. Each may contain kNone, for events without a goroutine, P or thread.
  std::set<GoId> goroutines;
  std::set<ProcId> procs;
  std::set<ThreadId> threads;

  // The first and the last time, both included, in nanoseconds.
  struct Times {
    int64_t from = std::numeric_limits<int64_t>::min();
    int64_t to = std::numeric_limits<int64_t>::max();

    // Returns whether neither is set.
    bool MatchesAll() const;

    // Returns whether the first time is set.
    bool HasFirst() const { return from != std::numeric_limits<int64_t>::min(); }

    // Returns whether `time` is between the two.
    bool Has(int64_t time) const { return from <= time && time <= to; }

    // Returns the times that are in both.
    Times And(const Times& other) const;
  };
  // Times since the first event of the trace. A class that takes both a filter and events treats
  // the first event that is added as the trace's first one, unless it says otherwise.
  Times since_start;
  Times times;  // Values of Event::time().

  // The event's stack, or the stack of the goroutine whose state it changes. In analyses, the stack
  // in which a goroutine waits, runs or allocates, as each of them says.
  StackFilter stacks = {};

  // Returns whether no condition is set.
  bool MatchesAll() const;

  // Returns whether `event` meets all conditions. `start` is the time of the trace's first event.
  bool Matches(const Event& event, int64_t start) const;

  // Return whether the condition on such ids, or on kinds, is not set or contains the argument. For
  // data that is not an event, such as a goroutine's name.
  bool Selects(GoId id) const { return goroutines.empty() || goroutines.contains(id); }
  bool Selects(ProcId id) const { return procs.empty() || procs.contains(id); }
  bool Selects(ThreadId id) const { return threads.empty() || threads.contains(id); }
  bool Selects(EventKind kind) const { return kinds.empty() || kinds.contains(kind); }

  // Returns whether no event after `event` can meet the conditions on time. `start` is the time of
  // the trace's first event.
  bool IsPast(const Event& event, int64_t start) const;

  // Returns the same conditions with `since_start` merged into `times`, so that they can be checked
  // without knowing the start. `start` is the time of the trace's first event.
  EventFilter WithAbsoluteTimes(int64_t start) const;

  // Returns WithAbsoluteTimes(start), further restricted to `window`.
  EventFilter Within(int64_t start, const Times& window) const;

  // Returns the same conditions without the conditions on time.
  EventFilter WithoutTimes() const;

  // Returns the same conditions, except that if `kinds` has any of the kinds of events of tasks, of
  // regions or of ranges, it gets all kinds of that group. For formats in which begin and end are
  // one object.
  EventFilter WithWholeSpans() const;
};

}  // namespace gotrace

#endif  // GOTRACE_EVENT_FILTER_H_
