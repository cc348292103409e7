// The states of goroutines and Ps as events tell them, and the kinds of resources.
#ifndef GOTRACE_STATES_H_
#define GOTRACE_STATES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/internal/requires_cxx20.h"

namespace gotrace {

enum class ResourceKind : uint8_t { kNone, kGoroutine, kProc, kThread };
inline constexpr int kResourceKindEnd = 4;

enum class GoState : uint8_t {
  kUndetermined,  // Nothing is known of it yet.
  kNotExist,
  kRunnable,
  kRunning,
  kWaiting,
  kSyscall,
};

enum class ProcState : uint8_t {
  kUndetermined,  // Nothing is known of it yet.
  kNotExist,
  kRunning,  // A P whose goroutine is in a syscall still counts as running.
  kIdle,
};

// The names that Go prints: "Goroutine", "Runnable". Static lifetime.
constexpr absl::string_view ResourceKindName(ResourceKind kind) {
  constexpr absl::string_view kNames[] = {"None", "Goroutine", "Proc", "Thread"};
  return kNames[static_cast<int>(kind)];
}
constexpr absl::string_view GoStateName(GoState state) {
  constexpr absl::string_view kNames[] = {"Undetermined", "NotExist", "Runnable",
                                          "Running",      "Waiting",  "Syscall"};
  return kNames[static_cast<int>(state)];
}
constexpr absl::string_view ProcStateName(ProcState state) {
  constexpr absl::string_view kNames[] = {"Undetermined", "NotExist", "Running", "Idle"};
  return kNames[static_cast<int>(state)];
}

}  // namespace gotrace

#endif  // GOTRACE_STATES_H_
