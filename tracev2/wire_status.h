// The status values of goroutines and Ps in GoStatus and ProcStatus events.
#ifndef GOTRACE_TRACEV2_WIRE_STATUS_H_
#define GOTRACE_TRACEV2_WIRE_STATUS_H_

#include <cstdint>

#include "gotrace/internal/event_rules.h"

namespace gotrace::internal {

// The gstatus argument. Frozen wire values (FORMAT.md §9).
enum class GoStatus : uint8_t {
  kBad = 0,
  kRunnable = 1,
  kRunning = 2,
  kSyscall = 3,
  kWaiting = 4,
};
inline constexpr int kGoStatusEnd = 5;

// The pstatus argument. Frozen wire values (FORMAT.md §9).
enum class ProcStatus : uint8_t {
  kBad = 0,
  kRunning = 1,
  kIdle = 2,
  kSyscall = 3,
  // In a syscall on a thread that is no longer known: either a ProcSteal is the first mention of
  // the P in its generation, or its goroutine was destroyed in the syscall.
  kSyscallAbandoned = 4,
};
inline constexpr int kProcStatusEnd = 5;

// Returns the name of a goroutine's status, "Bad" for a value without a name.
constexpr const char* GoStatusName(GoStatus status) {
  constexpr const char* kNames[kGoStatusEnd] = {"Bad", "Runnable", "Running", "Syscall", "Waiting"};
  return kNames[static_cast<int>(status) < kGoStatusEnd ? static_cast<int>(status) : 0];
}

// Returns the name of a P's status, "Bad" for a value without a name.
constexpr const char* ProcStatusName(ProcStatus status) {
  constexpr const char* kNames[kProcStatusEnd] = {"Bad", "Running", "Idle", "Syscall",
                                                  "SyscallAbandoned"};
  return kNames[static_cast<int>(status) < kProcStatusEnd ? static_cast<int>(status) : 0];
}

// Returns the status that a goroutine has after an event; kBad if the event does not say.
constexpr GoStatus GoStatusAfter(Becomes becomes) {
  switch (becomes) {
    case Becomes::kRunnable:
      return GoStatus::kRunnable;
    case Becomes::kRunning:
      return GoStatus::kRunning;
    case Becomes::kSyscall:
      return GoStatus::kSyscall;
    case Becomes::kWaiting:
      return GoStatus::kWaiting;
    case Becomes::kSame:
    case Becomes::kStated:
    case Becomes::kGone:
    case Becomes::kIdle:
    case Becomes::kAbandoned:
      break;
  }
  return GoStatus::kBad;
}

// The same for a P.
constexpr ProcStatus ProcStatusAfter(Becomes becomes) {
  switch (becomes) {
    case Becomes::kRunning:
      return ProcStatus::kRunning;
    case Becomes::kIdle:
      return ProcStatus::kIdle;
    case Becomes::kSyscall:
      return ProcStatus::kSyscall;
    case Becomes::kAbandoned:
      return ProcStatus::kSyscallAbandoned;
    case Becomes::kSame:
    case Becomes::kStated:
    case Becomes::kRunnable:
    case Becomes::kWaiting:
    case Becomes::kGone:
      break;
  }
  return ProcStatus::kBad;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_WIRE_STATUS_H_
