// What a lane of the timeline shows at a time.
#ifndef GOTRACE_VIEW_LANE_STATE_H_
#define GOTRACE_VIEW_LANE_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// The numbers are part of answers: docs/serve-api.md lists them.
enum class LaneState : uint8_t {
  kIdle,
  kRunning,
  kRunnable,
  kSyscall,
  kNetwork,    // Blocked, waiting for the network.
  kBlocked,    // Blocked for another reason.
  kGc,         // Running a mark worker of the garbage collector.
  kAssist,     // Running in a mark assist.
  kScheduler,  // A P or thread that has no goroutine and is not idle.
  kStopped,    // The world is stopped.
};
inline constexpr size_t kLaneStates = 10;

// The names, by state.
inline constexpr std::array<absl::string_view, kLaneStates> kLaneStateNames = {
    "idle",    "running", "runnable", "syscall",   "network",
    "blocked", "gc",      "assist",   "scheduler", "stopped"};

constexpr absl::string_view LaneStateName(LaneState state) {
  return kLaneStateNames[static_cast<size_t>(state)];
}

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_LANE_STATE_H_
