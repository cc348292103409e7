// Bytes to raw events, one at a time and without regard to batches: what `go tool trace -d=wire`
// shows (FORMAT.md §8).
#ifndef GOTRACE_TRACEV2_WIRE_READER_H_
#define GOTRACE_TRACEV2_WIRE_READER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tracev2/raw_event.h"

namespace gotrace::internal {

enum class WireStatus : uint8_t {
  kOk,
  kTruncated,       // The bytes end inside the event.
  kInvalidType,     // No event has this type.
  kVarintOverflow,  // An argument does not fit 64 bits.
  kStackTooDeep,    // More than kMaxFramesPerStack frames.
  kDataTooLong,     // More than kMaxBatchSize trailing bytes.
};

struct WireResult {
  WireStatus status = WireStatus::kOk;
  size_t size = 0;  // The event's length in bytes; for a fault, how far in the fault stands.
};

// The longest event that DecodeRawEvent() accepts, in bytes: where as many are given, kTruncated
// cannot come.
inline constexpr size_t kMaxRawEventSize = (64 << 10) + 64;

// Decodes the event at the beginning of `bytes`, which must not be empty, into `*event`. On success
// `event->data` views `bytes`; on a fault `*event` is unspecified.
WireResult DecodeRawEvent(absl::string_view bytes, RawEvent* event);

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_WIRE_READER_H_
