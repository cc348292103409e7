// What wakes goroutines, where no goroutine does.
#ifndef GOTRACE_ANALYSIS_INTERVALS_WAKER_H_
#define GOTRACE_ANALYSIS_INTERVALS_WAKER_H_

#include "absl/strings/string_view.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Returns what wakes a goroutine that waits for `reason`, if no goroutine does.
inline CauseKind WakerOf(absl::string_view reason) {
  if (reason == "network") return CauseKind::kNetwork;
  // Without a goroutine, only a timer sends to a channel.
  if (reason == "sleep" || reason == "chan receive" || reason == "select") return CauseKind::kTimer;
  if (reason == "GC mark assist wait for work" || reason == "GC background sweeper wait" ||
      reason == "wait until GC ends" || reason == "GC weak to strong wait") {
    return CauseKind::kGc;
  }
  return CauseKind::kUnknown;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_WAKER_H_
