// Decodes bytes to raw events one at a time, regardless of batches, as `go tool trace -d=wire` does
// (FORMAT.md §12.3).
#ifndef GOTRACE_TRACEV2_WIRE_READER_H_
#define GOTRACE_TRACEV2_WIRE_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tracev2/raw_event.h"

namespace gotrace::internal {

// The result of decoding an event.
enum class WireStatus : uint8_t {
  kOk,
  kTruncated,       // The bytes end inside the event.
  kInvalidType,     // The type does not exist.
  kVarintOverflow,  // An argument does not fit in 64 bits.
  kStackTooDeep,    // More than kMaxFramesPerStack frames.
  kDataTooLong,     // More than kMaxBatchSize trailing bytes.
};

// The result of DecodeRawEvent().
struct WireResult {
  WireStatus status = WireStatus::kOk;
  size_t size = 0;  // The size of the event in bytes, or the offset of the fault in it.
};

// The maximum size of an event that DecodeRawEvent() accepts, in bytes. Given as many bytes, it
// never returns kTruncated.
inline constexpr size_t kMaxRawEventSize = (64 << 10) + 64;

// Decodes the event at the beginning of `bytes`, which must not be empty, into `*event`. On success
// `event->data` views `bytes`; on a fault `*event` is unspecified.
WireResult DecodeRawEvent(absl::string_view bytes, RawEvent* event);

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_WIRE_READER_H_
