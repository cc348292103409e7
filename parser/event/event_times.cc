#include "gotrace/event_times.h"

#include <limits>

#include "parser/event/event_access.h"
#include "parser/event/event_tables.h"
#include "parser/event/trace_clock.h"

namespace gotrace {

using internal::TraceClock;

void EventTimes::Add(const Event& event) {
  if (event.kind() != EventKind::kSync) return;
  if (!start_.has_value()) start_ = event.time();
  // Does not use sync(), which would also list the batches of experiments.
  const internal::EventTables* const tables = internal::EventAccess::Tables(event);
  if (tables == nullptr) return;
  if (tables->clock_snapshot().has_value()) snapshot_ = tables->clock_snapshot();
}

absl::Duration EventTimes::SinceStart(int64_t time) const {
  return absl::Nanoseconds(TraceClock::Subtract(time, start_.value_or(time)));
}

std::optional<absl::Time> EventTimes::WallTime(int64_t time) const {
  if (!snapshot_.has_value()) return std::nullopt;
  return snapshot_->wall + absl::Nanoseconds(TraceClock::Subtract(time, snapshot_->trace_time));
}

std::optional<int64_t> EventTimes::TraceTime(absl::Time wall) const {
  if (!snapshot_.has_value()) return std::nullopt;
  // Saturates, as the sum does.
  const int64_t since = absl::ToInt64Nanoseconds(wall - snapshot_->wall);
  int64_t time = 0;
  if (!__builtin_add_overflow(snapshot_->trace_time, since, &time)) return time;
  return since < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace gotrace
