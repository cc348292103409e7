// The status values of goroutines and Ps as GoStatus and ProcStatus events carry them.
#ifndef GOTRACE_TRACEV2_WIRE_STATUS_H_
#define GOTRACE_TRACEV2_WIRE_STATUS_H_

#include <cstdint>

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
  // In a syscall whose beginning is unknown: a ProcSteal is the first mention of the P in its
  // generation, or its goroutine was destroyed in the syscall.
  kSyscallAbandoned = 4,
};
inline constexpr int kProcStatusEnd = 5;

// The name of a status, "Bad" for a value that has none.
constexpr const char* GoStatusName(GoStatus status) {
  constexpr const char* kNames[kGoStatusEnd] = {"Bad", "Runnable", "Running", "Syscall", "Waiting"};
  return kNames[static_cast<int>(status) < kGoStatusEnd ? static_cast<int>(status) : 0];
}
constexpr const char* ProcStatusName(ProcStatus status) {
  constexpr const char* kNames[kProcStatusEnd] = {"Bad", "Running", "Idle", "Syscall",
                                                  "SyscallAbandoned"};
  return kNames[static_cast<int>(status) < kProcStatusEnd ? static_cast<int>(status) : 0];
}

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_WIRE_STATUS_H_
