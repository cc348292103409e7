// Makes sure that an input that is read several times has the same bytes each time.
//
// A program may still be writing a trace while it is read, or replace it with another one. Then
// facts from one reading, such as the places of generations, are not true for the next.
#ifndef GOTRACE_PARSER_SOURCE_STEADY_INPUT_H_
#define GOTRACE_PARSER_SOURCE_STEADY_INPUT_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"

namespace gotrace::internal {

// The size and a hash of an input.
struct InputBytes {
  uint64_t size = 0;
  uint64_t hash = 0;

  friend bool operator==(const InputBytes&, const InputBytes&) = default;
};

// Watches the readings of one input. The first one that reaches the end of the input determines its
// bytes. Each later one ends there, even if the input has grown, and fails with kAborted if it
// finds other bytes, or fewer.
class SteadyInput {
 public:
  SteadyInput() = default;

  // Watches the readings of an input whose bytes are known.
  explicit SteadyInput(InputBytes bytes) : end_(std::make_shared<End>()) { end_->bytes = bytes; }

  // Returns a watched source of the bytes of `source`, which must be at its beginning. It may
  // outlive this object.
  std::unique_ptr<ByteSource> Watch(std::unique_ptr<ByteSource> source) const;

  // Returns the bytes of the input; nullopt unless a watched source was read to its end.
  std::optional<InputBytes> bytes() const { return end_->bytes; }

 private:
  struct End {
    std::optional<InputBytes> bytes;
    absl::Status status;  // The status of reading at the end: a compressed input may be damaged.
  };
  class WatchedSource;

  std::shared_ptr<End> end_ = std::make_shared<End>();
};

// Reads `source` to its end. Returns the status there: an I/O error or a compression fault.
absl::Status ReadToEnd(ByteSource* source);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_STEADY_INPUT_H_
