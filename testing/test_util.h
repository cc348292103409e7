// Helpers for the tests of the parser.
#ifndef GOTRACE_TESTING_TEST_UTIL_H_
#define GOTRACE_TESTING_TEST_UTIL_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"

namespace gotrace::internal {

// Returns the bytes of the trace with the text form `text`. Ends the test if the text is malformed.
std::string Assemble(absl::string_view text);

// Returns an event of `type` in the form on the wire, with `numbers` as varints.
std::string Wire(EventType type, std::initializer_list<uint64_t> numbers = {});

// Whether `status` is the fault `id` at the offset `offset` of the trace, or without an offset if
// that is std::nullopt.
testing::AssertionResult IsFault(const absl::Status& status, FaultId id,
                                 std::optional<uint64_t> offset);

// Returns a batch at `offset` with a header of kTestHeaderSize bytes and `payload`, which must
// outlive it.
inline constexpr uint64_t kTestHeaderSize = 20;
Batch MakeBatch(absl::string_view payload, uint64_t offset = 1000, ThreadId thread = {7},
                uint64_t time = 0);

// Returns everything that the accessors of `event` return, on one line.
std::string Describe(const Event& event);

// The first generation of the trace `bytes`, or nullptr if no generation is complete.
struct FirstGeneration {
  explicit FirstGeneration(std::string trace);
  FirstGeneration(const FirstGeneration&) = delete;
  FirstGeneration& operator=(const FirstGeneration&) = delete;

  const std::string bytes;
  const std::unique_ptr<ByteSource> source;
  std::unique_ptr<Generation> generation;  // Views the bytes.
};

// Everything that a reader returns: descriptions of its events, and its status.
struct Outcome {
  std::vector<std::string> events;
  absl::Status status;
};
Outcome ReadAll(absl::StatusOr<Reader> reader);
Outcome ReadAllBlocks(absl::StatusOr<Reader> reader);

// Returns `bytes` in pieces of `piece` bytes, and then `at_end`.
class PieceStream : public ByteStream {
 public:
  PieceStream(std::string bytes, size_t piece, absl::Status at_end = absl::OkStatus());
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  const std::string bytes_;
  const size_t piece_;
  const absl::Status at_end_;
  size_t pos_ = 0;
};

// The content of `stream` up to its end or an error, read `size` bytes at a time.
struct StreamContent {
  std::string bytes;
  absl::Status status;
};
StreamContent ReadStream(ByteStream* stream, size_t size = 1 << 16);

// Return `bytes` in one zstd frame or one gzip member.
std::string Zstd(absl::string_view bytes);
std::string Gzip(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_TEST_UTIL_H_
