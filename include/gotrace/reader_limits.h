// Limits on the memory and time that a trace can take, so that no input can exhaust either.
#ifndef GOTRACE_READER_LIMITS_H_
#define GOTRACE_READER_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/fault.h"

namespace gotrace {

// The limits. Each is the largest allowed value, and exceeding it is a fault with its own id. The
// defaults are far above what traces of the Go runtime need.
struct ReaderLimits {
  // Bytes of one generation, decompressed, which a Reader keeps in memory. The runtime begins a new
  // generation every second; those of the busiest programs have some hundred megabytes. Values
  // above kMaxGenerationBytes are treated as kMaxGenerationBytes.
  uint64_t generation_bytes = uint64_t{2} << 30;

  // Threads of one generation. A Go program may have 10,000 unless it raises its own limit.
  uint64_t threads = 1 << 17;

  // Ps of the whole trace: the largest GOMAXPROCS.
  uint64_t procs = 1 << 16;

  // Goroutines that are alive at a time, in addition to one for every kBytesPerGoroutine bytes of
  // the largest generation so far. The runtime writes the status of every goroutine in each
  // generation, so only a trace that omits goroutines needs these.
  uint64_t goroutines = 1 << 18;
  static constexpr uint64_t kBytesPerGoroutine = 8;

  // Tasks, regions and ranges that are open at a time, together. Each takes up to 150 bytes in
  // addition to the memory of a generation. Programs that forget to end their tasks have many.
  uint64_t nesting = 1 << 22;

  // Bytes of a compressed trace after decompression. They are not kept in memory, but a small file
  // must not keep a program busy forever.
  uint64_t decompressed_bytes = uint64_t{1} << 40;

  // The largest effective generation_bytes: tables count their entries in 32 bits.
  static constexpr uint64_t kMaxGenerationBytes = uint64_t{8} << 30;
};

// The description of a limit. All texts have static lifetime.
struct LimitSpec {
  FaultId fault;                  // The fault of exceeding it.
  absl::string_view name;         // On command lines: "generation-bytes", "threads", …
  uint64_t ReaderLimits::*value;  // The field of ReaderLimits.
  absl::string_view what;         // What it limits: "threads in a generation".
  absl::string_view scope = "";   // For messages: what else the allowed number depends on.
};

// Returns every limit. Static lifetime.
absl::Span<const LimitSpec> AllLimits();

// Returns the field of `limits` for the limit called `name` on command lines ("generation-bytes",
// "threads", …), or nullptr.
uint64_t* FindLimit(absl::string_view name, ReaderLimits* limits);

// Returns the names that FindLimit() accepts, as a list: "generation-bytes, threads, …".
std::string LimitNames();

// Returns whether `id` is the fault of exceeding a limit.
bool IsLimit(FaultId id);

// Returns the value of the limit whose fault is `id`. Requires IsLimit(id).
uint64_t LimitOf(FaultId id, const ReaderLimits& limits);

// Returns the message of the fault `id`: what was expected, and how to raise the limit. `limit` is
// the limit's value, and `allowed` the number currently allowed. Requires IsLimit(id).
std::string LimitMessage(FaultId id, uint64_t limit, uint64_t allowed);

}  // namespace gotrace

#endif  // GOTRACE_READER_LIMITS_H_
