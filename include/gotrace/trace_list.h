// Several traces in one input, for example because a program appended each to the same file.
#ifndef GOTRACE_TRACE_LIST_H_
#define GOTRACE_TRACE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_limits.h"
#include "gotrace/version.h"

namespace gotrace {

// One of the traces of an input.
struct TraceSpan {
  uint64_t offset = 0;  // The offset of its header in the (decompressed) input.
  uint64_t size = 0;    // In bytes, up to the next trace's header or the end of the input.
  Version version = kNewestVersion;
  // Whether a strict Reader reads it to its end; nullopt if that was not checked.
  std::optional<bool> sound = {};
};

// The maximum number of traces of an input that a report lists.
inline constexpr size_t kMaxListedTraces = 10;

// Returns the traces of `source`, which must be positioned at the header of the first trace, and
// reads it to its end. Only framing is examined, as in ReadMode::kSalvage, so damaged traces are
// listed too. Memory is bounded, and all bytes of the source are released. Returns an error if the
// header of the first trace cannot be read, or on an I/O error.
absl::StatusOr<std::vector<TraceSpan>> ListTraces(ByteSource* source);

// Opens the input, positioned at the header of the first trace. Called twice.
using OpenTraces = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

// Like ListTraces(), but also reads each trace to determine whether it is sound, in one second pass
// over the input.
absl::StatusOr<std::vector<TraceSpan>> CheckTraces(const OpenTraces& open,
                                                   const ReaderLimits& limits = {});

// What OneTrace() found at the end of a trace.
struct TraceEnd {
  // The offset of the next trace in the original source; nullopt until one is found.
  std::optional<uint64_t> next_trace;
};

// Returns a source of a single trace: the bytes of `source`, which must be positioned at a trace
// header, up to the header of the next trace. Offsets start at 0. The end is found while reading,
// where the header of another trace follows the batches or text printed after them, so the source
// may be a pipe. After damaged framing the end can no longer be found, and the source continues to
// the end of the input. If `end` is not nullptr, it receives the place of the next trace, and must
// outlive the returned source.
std::unique_ptr<ByteSource> OneTrace(std::unique_ptr<ByteSource> source, TraceEnd* end = nullptr);

// Like above, for a trace whose place is known from ListTraces(). `source` may be positioned
// anywhere before it. Returns an error if the trace's bytes cannot be reached.
absl::StatusOr<std::unique_ptr<ByteSource>> OneTrace(std::unique_ptr<ByteSource> source,
                                                     const TraceSpan& span);

// Moves `source`, which must be positioned at the header of the first trace, to the header of the
// `n`th trace, counting from 1. Returns n, or the number of traces if there are fewer. Returns the
// same errors as ListTraces().
absl::StatusOr<uint64_t> SkipToTrace(ByteSource* source, uint64_t n);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_LIST_H_
