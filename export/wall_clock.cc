#include "export/wall_clock.h"

#include <limits>

#include "parser/event/trace_clock.h"

namespace gotrace::internal {

void WallClock::See(const Event& event) {
  if (event.kind() != EventKind::kSync) return;
  const Sync sync = event.sync();
  if (sync.clock_snapshot.has_value()) snapshot_ = sync.clock_snapshot;
}

absl::Time WallClock::At(int64_t time) const {
  return snapshot_->wall + absl::Nanoseconds(TraceClock::Subtract(time, snapshot_->trace_time));
}

int64_t WallClock::TraceTimeAt(absl::Time wall) const {
  // Saturates, as the sum does.
  const int64_t since = absl::ToInt64Nanoseconds(wall - snapshot_->wall);
  int64_t time = 0;
  if (!__builtin_add_overflow(snapshot_->trace_time, since, &time)) return time;
  return since < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace gotrace::internal
