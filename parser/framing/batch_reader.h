// Framing: divides a trace into batches (FORMAT.md §4).
#ifndef GOTRACE_PARSER_FRAMING_BATCH_READER_H_
#define GOTRACE_PARSER_FRAMING_BATCH_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "gotrace/version.h"
#include "tracev2/varint.h"

namespace gotrace::internal {

// A range of the input's bytes.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // One past the last byte.

  uint64_t size() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// One batch, its payload still encoded.
struct Batch {
  uint64_t offset = 0;          // The offset of its first byte.
  uint64_t payload_offset = 0;  // The offset of its payload's first byte.
  uint64_t generation = 0;
  ThreadId thread;            // The thread that wrote it; kNone if no thread did.
  uint64_t time = 0;          // In ticks of the trace clock.
  uint64_t experiment = 0;    // The experiment that it belongs to; 0 for an ordinary batch.
  absl::string_view payload;  // A view of the source.
  bool shortened = false;     // Whether the header gives a longer payload: see BatchFinder.

  // The text that was printed into the batch, in order. `payload` is then a copy without it. The
  // span is valid as long as the payload.
  absl::Span<const ByteRange> text;

  // Returns whether it is an EndOfGeneration event, which is its own payload.
  bool IsEndOfGeneration() const { return payload_offset == offset; }

  // Returns the first byte of an ordinary batch's payload, which determines the batch's kind; kNone
  // if there is no such byte.
  EventType kind() const {
    return experiment != 0 || payload.empty() ? EventType::kNone
                                              : static_cast<EventType>(payload[0]);
  }

  // Returns the place of the batch, for faults in it.
  Place place() const;

  // Returns the offset in the input after the end of its payload.
  uint64_t end_offset() const;
};

// Returns whether `bytes` begin with the header of a v2 trace, of a supported version or not.
bool BeginsWithHeader(absl::string_view bytes);

// Reads the header of the trace. Faults: not-a-trace, header-truncated, v1-trace, unknown-version.
absl::StatusOr<Version> ReadHeader(ByteSource* source);

// Reads the next batch into `*batch` and returns true; returns false at the end of the trace.
//
// As in Go's reader, an EndOfGeneration event counts as a batch of generation 0 whose payload is
// its one byte, and a trace may end directly after the type of an experimental batch. Faults: those
// of framing in faults.def.
absl::StatusOr<bool> ReadBatch(ByteSource* source, Batch* batch);

// The maximum size of a batch header in bytes: two for its type, and four varints.
inline constexpr size_t kMaxBatchHeaderSize = 2 + 4 * kMaxVarintSize;

// Like ReadBatch(), but reads only the header, stores the size of the payload in bytes, and does
// not move the source. Needs no more than kMaxBatchHeaderSize bytes.
absl::StatusOr<bool> ReadBatchHeader(ByteSource* source, Batch* batch, uint64_t* size);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_READER_H_
