// Limits of the format itself. Go's reader rejects anything larger. Frozen: lowering a limit needs
// a new trace version.
#ifndef GOTRACE_INTERNAL_LIMITS_H_
#define GOTRACE_INTERNAL_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace gotrace::internal {

// The maximum size of a batch's payload, in bytes (FORMAT.md §4).
inline constexpr uint64_t kMaxBatchSize = 64 << 10;

// The maximum number of frames of a stack in the stack table (FORMAT.md §5).
inline constexpr uint64_t kMaxFramesPerStack = 128;

// The maximum size of a string in the string table, in bytes (FORMAT.md §5).
inline constexpr uint64_t kMaxStringSize = 1 << 10;

// The maximum number of arguments of a timed event, including the time difference (FORMAT.md §7).
inline constexpr int kMaxTimedArgs = 5;

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_LIMITS_H_
