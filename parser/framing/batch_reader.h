// Framing: cuts a trace into batches (FORMAT.md §4).
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
  uint64_t offset = 0;          // Of its first byte.
  uint64_t payload_offset = 0;  // Of its payload's first byte.
  uint64_t generation = 0;
  ThreadId thread;            // Whose events these are; kNone for what no thread wrote.
  uint64_t time = 0;          // In trace clock ticks.
  uint64_t experiment = 0;    // Which experiment's data it holds; 0 for an ordinary batch.
  absl::string_view payload;  // A view of the source.
  bool shortened = false;     // Whether the header tells of a longer payload: see BatchFinder.

  // Where text was printed into the batch, in order: `payload` is without it, and lies elsewhere.
  // The view is valid as long as that of the payload.
  absl::Span<const ByteRange> text;

  // Whether it is an EndOfGeneration event, the only one that is its own payload.
  bool IsEndOfGeneration() const { return payload_offset == offset; }

  // The first byte of an ordinary batch's payload, which tells the batch's kind; kNone if there is
  // no such byte.
  EventType kind() const {
    return experiment != 0 || payload.empty() ? EventType::kNone
                                              : static_cast<EventType>(payload[0]);
  }

  // Where the batch stands, for faults in it.
  Place place() const;

  // Where its payload ends in the input.
  uint64_t end_offset() const;
};

// Whether `bytes` begin with the header of a v2 trace, of a version that is known or not.
bool BeginsWithHeader(absl::string_view bytes);

// Reads the header of the trace. Faults: not-a-trace, header-truncated, v1-trace, unknown-version.
absl::StatusOr<Version> ReadHeader(ByteSource* source);

// Reads the next batch into `*batch` and returns true; returns false at the end of the trace.
//
// An EndOfGeneration event counts as a batch of generation 0 whose payload is its one byte, as it
// does for Go's reader. So does the end of the trace right behind the type of an experimental batch
// count as the end of the trace. Faults: those of framing in faults.def.
absl::StatusOr<bool> ReadBatch(ByteSource* source, Batch* batch);

// How many bytes the header of a batch has at the most: two for its type, and four varints.
inline constexpr size_t kMaxBatchHeaderSize = 2 + 4 * kMaxVarintSize;

// The same but for the payload, of which only the size is stored, in bytes; and the source stays
// where it is. No more of it needs to be there than kMaxBatchHeaderSize bytes.
absl::StatusOr<bool> ReadBatchHeader(ByteSource* source, Batch* batch, uint64_t* size);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_READER_H_
