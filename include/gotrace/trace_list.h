// Several traces in one input, as where each was appended to the file of the one before.
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
  uint64_t offset = 0;  // Of its header, in bytes of the (decompressed) input.
  uint64_t size = 0;    // Up to the next trace's header or the end of the input.
  Version version = kNewestVersion;
  // Whether a strict Reader reads it to its end; nullopt if that was not tried.
  std::optional<bool> sound = {};
};

// How many traces of an input a report lists: of thousands the first few will do.
inline constexpr size_t kMaxListedTraces = 10;

// Lists the traces of `source`, which must stand at the header of the first, and reads it to its
// end. Only framing is looked at, as salvaging does, so that damaged traces are listed too. Memory
// is bounded, and nothing of the source stays in use. Fails if the header of the first cannot be
// read, or with an error of I/O.
absl::StatusOr<std::vector<TraceSpan>> ListTraces(ByteSource* source);

// Opens the input, so that it stands at the header of the first trace. Called twice.
using OpenTraces = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

// The same, and reads each of them to find out whether it is sound: in a second pass over the
// input, however many they are.
absl::StatusOr<std::vector<TraceSpan>> CheckTraces(const OpenTraces& open,
                                                   const ReaderLimits& limits = {});

// What a OneTraceSource meets.
struct TraceEnd {
  // Where the next trace begins in the source that it was made of; nullopt as long as none was met.
  std::optional<uint64_t> next_trace;
};

// The bytes of the trace whose header `source` stands at, up to the next trace's, with offsets that
// count from there. The end is found on the way, where the batches, or text printed after them,
// lead to the header of another trace, so that the source may be a pipe; after a damage of the
// framing it is not found any more, and what follows the damage is shown to the end. `end`, if it
// is not nullptr, is told of it and must outlive what this returns.
std::unique_ptr<ByteSource> OneTrace(std::unique_ptr<ByteSource> source, TraceEnd* end = nullptr);

// The same where it is known, from ListTraces(), which bytes the trace has: `source` may stand
// anywhere before it. Fails if they cannot be reached.
absl::StatusOr<std::unique_ptr<ByteSource>> OneTrace(std::unique_ptr<ByteSource> source,
                                                     const TraceSpan& span);

// Moves `source`, which must stand at the header of the first trace, to the header of the `n`th,
// counted from 1 on. Returns n, or if there are not so many how many there are. Fails as
// ListTraces() does.
absl::StatusOr<uint64_t> SkipToTrace(ByteSource* source, uint64_t n);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_LIST_H_
