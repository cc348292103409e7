// How an FxtExporter buffers its output.
#ifndef GOTRACE_FXT_BUFFER_H_
#define GOTRACE_FXT_BUFFER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace {

// How records are handled that do not fit into memory of a fixed size. The modes are those of
// Fuchsia's tracing.
enum class FxtBufferMode : uint8_t {
  kNone,       // Everything is written as it comes, and nothing is dropped.
  kOneshot,    // The beginning is kept: once the buffer is full, further records are dropped.
  kCircular,   // The end is kept: new records replace the oldest ones.
  kStreaming,  // A thread writes out each half of the buffer when it is full. The exporter never
               // waits: while both halves are full, records are dropped.
};

// A buffer of the kind that Fuchsia's trace sessions have.
struct FxtBuffer {
  // The smallest and largest sizes, in bytes.
  static constexpr uint64_t kMinSize = uint64_t{16} << 10;
  static constexpr uint64_t kMaxSize = uint64_t{1} << 32;

  FxtBufferMode mode = FxtBufferMode::kNone;
  uint64_t size = 0;  // In bytes; not used by kNone.
};

// Parses "oneshot:SIZE", "circular:SIZE" or "streaming:SIZE". SIZE is a number of bytes, which may
// end with K, M or G for units of 2^10, 2^20 or 2^30 bytes. Returns an InvalidArgumentError that
// says what is wrong for anything else, and for sizes outside FxtBuffer's limits.
absl::StatusOr<FxtBuffer> ParseFxtBuffer(absl::string_view text);

}  // namespace gotrace

#endif  // GOTRACE_FXT_BUFFER_H_
