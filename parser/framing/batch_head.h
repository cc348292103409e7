// The header of a batch, read from bytes that may be anything.
#ifndef GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_
#define GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

struct BatchHead {
  EventType type = EventType::kNone;
  uint64_t experiment = 0;  // Of an ExperimentalBatch, else 0.
  uint64_t generation = 0;  // 0 for an EndOfGeneration, which has no payload either.
  uint64_t thread = ~uint64_t{0};
  uint64_t time = 0;              // In ticks.
  size_t size = 0;                // Of the header itself, in bytes.
  size_t payload_size = 0;        // In bytes,
  size_t payload_size_bytes = 0;  // and how many bytes that number takes.
};

enum class HeadStatus : uint8_t {
  kOk,
  kCut,  // The bytes end inside of what may be one.
  kBad,
};

// Reads the header of the batch at the front of `bytes`, or an EndOfGeneration, of any version and
// with any numbers but a payload larger than a batch may have. `*head` is set where that is kOk.
HeadStatus ParseBatchHead(absl::string_view bytes, BatchHead* head);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_HEAD_H_
