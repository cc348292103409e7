#include "gotrace/event_filter.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "parser/event/trace_clock.h"

namespace gotrace {
namespace {

using internal::TraceClock;

// Returns the resource that the event is about, apart from its context.
ResourceId SubjectOf(const Event& event) {
  switch (event.kind()) {
    case EventKind::kStateTransition:
      return event.transition_resource();
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return event.range_parts().scope;
    case EventKind::kLabel:
      return event.label().resource;
    default:
      return {};
  }
}

template <class Id>
bool HasId(const std::set<Id>& ids, Id context, const ResourceId& subject, ResourceKind kind) {
  return ids.empty() || ids.contains(context) ||
         (subject.kind == kind && ids.contains(Id{subject.id}));
}

}  // namespace

bool EventFilter::Times::MatchesAll() const {
  return from == std::numeric_limits<int64_t>::min() && to == std::numeric_limits<int64_t>::max();
}

EventFilter::Times EventFilter::Times::And(const Times& other) const {
  return {std::max(from, other.from), std::min(to, other.to)};
}

bool EventFilter::MatchesAll() const {
  return kinds.empty() && goroutines.empty() && procs.empty() && threads.empty() &&
         since_start.MatchesAll() && times.MatchesAll() && stacks.MatchesAll();
}

bool EventFilter::Matches(const Event& event, int64_t start) const {
  if (!Selects(event.kind())) return false;
  if (!times.Has(event.time())) return false;
  if (!since_start.Has(TraceClock::Subtract(event.time(), start))) return false;
  if (!Selects(event.thread())) return false;
  if (!stacks.MatchesAll() && !stacks.Selects(event.stack()) &&
      (event.TransitionHasSameStack() || !stacks.Selects(event.transition_stack()))) {
    return false;
  }
  if (goroutines.empty() && procs.empty()) return true;
  const ResourceId subject = SubjectOf(event);
  return HasId(goroutines, event.goroutine(), subject, ResourceKind::kGoroutine) &&
         HasId(procs, event.proc(), subject, ResourceKind::kProc);
}

bool EventFilter::IsPast(const Event& event, int64_t start) const {
  return event.time() > times.to || TraceClock::Subtract(event.time(), start) > since_start.to;
}

EventFilter EventFilter::WithAbsoluteTimes(int64_t start) const {
  // A sum that does not fit is later than any event.
  const auto absolute = [start](int64_t since_start) {
    int64_t time = 0;
    return __builtin_add_overflow(start, since_start, &time) ? Times().to : time;
  };
  EventFilter filter = *this;
  if (since_start.HasFirst()) filter.times.from = std::max(times.from, absolute(since_start.from));
  if (since_start.to != Times().to) filter.times.to = std::min(times.to, absolute(since_start.to));
  filter.since_start = {};
  return filter;
}

EventFilter EventFilter::Within(int64_t start, const Times& window) const {
  EventFilter filter = WithAbsoluteTimes(start);
  filter.times = filter.times.And(window);
  return filter;
}

EventFilter EventFilter::WithWholeSpans() const {
  static const std::set<EventKind> kSpans[] = {
      {EventKind::kTaskBegin, EventKind::kTaskEnd},
      {EventKind::kRegionBegin, EventKind::kRegionEnd},
      {EventKind::kRangeBegin, EventKind::kRangeActive, EventKind::kRangeEnd},
  };
  EventFilter filter = *this;
  for (const std::set<EventKind>& span : kSpans) {
    const auto is_selected = [&](EventKind kind) { return kinds.contains(kind); };
    if (absl::c_any_of(span, is_selected)) filter.kinds.insert(span.begin(), span.end());
  }
  return filter;
}

EventFilter EventFilter::WithoutTimes() const {
  EventFilter filter = *this;
  filter.since_start = {};
  filter.times = {};
  return filter;
}

}  // namespace gotrace
