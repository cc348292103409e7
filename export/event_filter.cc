#include "export/event_filter.h"

#include "parser/event/trace_clock.h"

namespace gotrace::internal {
namespace {

// What the event is about besides its context.
ResourceId SubjectOf(const Event& event) {
  switch (event.kind()) {
    case EventKind::kStateTransition:
      return event.transition_resource();
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return event.range().scope;
    case EventKind::kLabel:
      return event.label().resource;
    default:
      return {};
  }
}

bool HasId(const absl::flat_hash_set<int64_t>& ids, int64_t context, const ResourceId& subject,
           ResourceKind kind) {
  return ids.empty() || ids.contains(context) || (subject.kind == kind && ids.contains(subject.id));
}

}  // namespace

bool EventFilter::Times::MatchesAll() const {
  return from == std::numeric_limits<int64_t>::min() && to == std::numeric_limits<int64_t>::max();
}

bool EventFilter::MatchesAll() const {
  return kinds.empty() && goroutines.empty() && procs.empty() && threads.empty() &&
         since_start.MatchesAll() && times.MatchesAll();
}

bool EventFilter::Matches(const Event& event, int64_t start) const {
  if (!kinds.empty() && !kinds.contains(event.kind())) return false;
  if (!times.Has(event.time())) return false;
  if (!since_start.Has(TraceClock::Subtract(event.time(), start))) return false;
  if (!threads.empty() && !threads.contains(event.thread().value)) return false;
  if (goroutines.empty() && procs.empty()) return true;
  const ResourceId subject = SubjectOf(event);
  return HasId(goroutines, event.goroutine().value, subject, ResourceKind::kGoroutine) &&
         HasId(procs, event.proc().value, subject, ResourceKind::kProc);
}

bool EventFilter::IsPast(const Event& event, int64_t start) const {
  return event.time() > times.to || TraceClock::Subtract(event.time(), start) > since_start.to;
}

}  // namespace gotrace::internal
