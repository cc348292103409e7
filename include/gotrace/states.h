// The states of goroutines and Ps in events, and the kinds of resources.
#ifndef GOTRACE_STATES_H_
#define GOTRACE_STATES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/internal/requires_cxx20.h"

namespace gotrace {

// The kind of a resource.
enum class ResourceKind : uint8_t { kNone, kGoroutine, kProc, kThread };
inline constexpr int kResourceKindEnd = 4;

// The state of a goroutine.
enum class GoState : uint8_t {
  kUndetermined,  // Not yet known.
  kNotExist,
  kRunnable,
  kRunning,
  kWaiting,
  kSyscall,
};

// The state of a P.
enum class ProcState : uint8_t {
  kUndetermined,  // Not yet known.
  kNotExist,
  kRunning,  // A P whose goroutine is in a syscall still counts as running.
  kIdle,
};

// Returns the name that Go prints: "Goroutine". Static lifetime.
constexpr absl::string_view ResourceKindName(ResourceKind kind) {
  constexpr absl::string_view kNames[] = {"None", "Goroutine", "Proc", "Thread"};
  return kNames[static_cast<int>(kind)];
}

// Returns the name that Go prints: "Runnable". Static lifetime.
constexpr absl::string_view GoStateName(GoState state) {
  constexpr absl::string_view kNames[] = {"Undetermined", "NotExist", "Runnable",
                                          "Running",      "Waiting",  "Syscall"};
  return kNames[static_cast<int>(state)];
}

// Returns the name that Go prints: "Idle". Static lifetime.
constexpr absl::string_view ProcStateName(ProcState state) {
  constexpr absl::string_view kNames[] = {"Undetermined", "NotExist", "Running", "Idle"};
  return kNames[static_cast<int>(state)];
}

}  // namespace gotrace

#endif  // GOTRACE_STATES_H_
