// Parses the header of a batch from arbitrary bytes.
#ifndef GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_
#define GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

// The header of a batch, or an EndOfGeneration.
struct BatchHead {
  EventType type = EventType::kNone;
  uint64_t experiment = 0;  // The experiment of an ExperimentalBatch, otherwise 0.
  uint64_t generation = 0;  // 0 for an EndOfGeneration, which has no payload either.
  uint64_t thread = ~uint64_t{0};
  uint64_t time = 0;              // In ticks.
  size_t size = 0;                // The size of the header itself, in bytes.
  size_t payload_size = 0;        // The size of the payload, in bytes.
  size_t payload_size_bytes = 0;  // The number of bytes that encode payload_size.
};

// The result of ParseBatchHead().
enum class HeadStatus : uint8_t {
  kOk,
  kCut,  // The bytes end inside a possible header.
  kBad,
};

// Parses the batch header or EndOfGeneration at the beginning of `bytes`. Accepts any version and
// any numbers, except a payload larger than a batch can have. Sets `*head` if it returns kOk.
HeadStatus ParseBatchHead(absl::string_view bytes, BatchHead* head);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_
