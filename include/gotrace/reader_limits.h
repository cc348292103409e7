// What a Reader allows a trace to ask of memory and time, so that no bytes can exhaust either.
#ifndef GOTRACE_READER_LIMITS_H_
#define GOTRACE_READER_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/fault.h"

namespace gotrace {

// The defaults are such that traces of Go's runtime do not meet them. What passes one is a fault
// with an id of its own. A limit is the largest value that is allowed.
struct ReaderLimits {
  // Bytes of one generation, decompressed: what a Reader holds at a time. The runtime begins a
  // generation every second, which is some hundred megabytes for the busiest programs. What is
  // above kMostGenerationBytes counts as that.
  uint64_t generation_bytes = uint64_t{2} << 30;

  // Threads of one generation. A Go program may have 10,000 unless it asks for more.
  uint64_t threads = 1 << 17;

  // Ps of the whole trace: the largest GOMAXPROCS.
  uint64_t procs = 1 << 16;

  // Goroutines that are alive at a time, besides one for each kBytesPerGoroutine of the largest
  // generation so far. The runtime tells the status of every goroutine in each generation, so only
  // a trace that leaves goroutines out needs any of these.
  uint64_t goroutines = 1 << 18;
  static constexpr uint64_t kBytesPerGoroutine = 8;

  // Tasks, regions and ranges that are open at a time, together. Each takes up to 150 bytes on
  // top of what a generation needs. Programs that forget to end their tasks have many.
  uint64_t nesting = 1 << 22;

  // Bytes of the whole trace where it was compressed. They are not held; but what is small on disk
  // must not keep a program busy for ever.
  uint64_t decompressed_bytes = uint64_t{1} << 40;

  // Tables count what a generation has in 32 bits.
  static constexpr uint64_t kMostGenerationBytes = uint64_t{8} << 30;
};

// What there is to tell of a limit.
struct LimitSpec {
  FaultId fault;                  // Of passing it.
  absl::string_view name;         // On command lines: "generation-bytes", "threads", …
  uint64_t ReaderLimits::*value;  // Where it stands.
  absl::string_view what;         // That there may be at most so many of.
  absl::string_view scope = "";   // In messages: what else the allowed number depends on.
};

// Every limit. Static lifetime.
absl::Span<const LimitSpec> AllLimits();

// The limit that is called `name` on command lines ("generation-bytes", "threads", …), or nullptr.
uint64_t* FindLimit(absl::string_view name, ReaderLimits* limits);

// The names that FindLimit() knows, as a list: "generation-bytes, threads, …".
std::string LimitNames();

// Whether `id` is the fault of passing a limit.
bool IsLimit(FaultId id);

// The limit that the fault `id` tells of, which must be one of passing a limit.
uint64_t LimitOf(FaultId id, const ReaderLimits& limits);

// The message of the fault `id`, which must be one of passing a limit whose value is `limit` and
// which allows `allowed` by now: what was expected, and how the limit can be raised.
std::string LimitMessage(FaultId id, uint64_t limit, uint64_t allowed);

}  // namespace gotrace

#endif  // GOTRACE_READER_LIMITS_H_
