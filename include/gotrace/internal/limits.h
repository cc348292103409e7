// Sizes that the format itself bounds. Go's reader refuses what is larger. Frozen: a smaller value
// needs a new trace version.
#ifndef GOTRACE_INTERNAL_LIMITS_H_
#define GOTRACE_INTERNAL_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace gotrace::internal {

// The longest payload of a batch, in bytes (FORMAT.md §4).
inline constexpr uint64_t kMaxBatchSize = 64 << 10;

// The deepest stack in the stack table, in frames (FORMAT.md §5).
inline constexpr uint64_t kMaxFramesPerStack = 128;

// The longest string in the string table, in bytes (FORMAT.md §5).
inline constexpr uint64_t kMaxStringSize = 1 << 10;

// The most arguments that a timed event has, the time difference included (FORMAT.md §7).
inline constexpr int kMaxTimedArgs = 5;

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_LIMITS_H_
