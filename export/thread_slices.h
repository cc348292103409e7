// The slices of a thread that exporters for viewers show.
#ifndef GOTRACE_EXPORT_THREAD_SLICES_H_
#define GOTRACE_EXPORT_THREAD_SLICES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "gotrace/event_filter.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Returns the part of `interval` between the times `from` and `to` that a slice shows, as its begin
// and its end; nullopt if it is empty, if the thread is idle, or if `filter`, which has no times,
// does not select it.
inline std::optional<std::pair<int64_t, int64_t>> ShownPart(const ThreadInterval& interval,
                                                            const EventFilter& filter, int64_t from,
                                                            int64_t to) {
  if (interval.state == ThreadState::kIdle || !filter.Selects(EventKind::kStateTransition) ||
      !filter.Selects(interval.thread) || !filter.Selects(interval.goroutine) ||
      !filter.Selects(interval.proc)) {
    return std::nullopt;
  }
  const int64_t begin = std::max(interval.begin, from);
  const int64_t end = std::min(interval.end, to);
  if (begin >= end) return std::nullopt;
  return std::pair(begin, end);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_THREAD_SLICES_H_
