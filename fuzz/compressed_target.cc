// Fuzzes decompression: the result must be the same however the compressed data arrives.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"

namespace gotrace::internal {
namespace {

// A limit, because a few bytes may decompress to any number of them.
constexpr size_t kMaxBytes = 1 << 20;

struct Content {
  std::string bytes;
  absl::Status status;
  bool whole = false;  // Whether it was read to its end.
};

Content ReadSource(absl::StatusOr<std::unique_ptr<ByteSource>> source) {
  Content content;
  content.status = source.status();
  if (!source.ok()) return content;
  while (content.bytes.size() < kMaxBytes) {
    constexpr size_t kStep = 4096;
    content.status = (*source)->Fill(kStep);
    const absl::string_view window = (*source)->window();
    FUZZ_CHECK((*source)->offset() == content.bytes.size(), "");
    content.bytes.append(window.data(), window.size());
    content.whole = window.size() < kStep || !content.status.ok();
    if (content.whole) break;
    (*source)->Skip(window.size());
    (*source)->Release((*source)->offset());
  }
  return content;
}

FaultId IdOf(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  return fault.has_value() ? fault->id : FaultId::kEnd;
}

}  // namespace

void RunTarget(absl::string_view input) {
  const Content content = ReadSource(SourceFromBytes(input));
  const Content streamed = ReadSource(SourceFromStream(std::make_unique<RandomPieces>(input)));
  if (FindCompression(input) == Compression::kNone) {
    FUZZ_CHECK(content.status.ok() && content.bytes == input, "uncompressed bytes were changed");
    FUZZ_CHECK(streamed.bytes == input, "uncompressed bytes of a stream were changed");
    return;
  }
  CheckStatus(content.status, kMaxBytes);
  if (!content.whole || !streamed.whole) return;
  // The zstd library accepts some damaged frames in pieces that it refuses as a whole.
  const bool is_zstd = FindCompression(input) == Compression::kZstd;
  FUZZ_CHECK(is_zstd || IdOf(content.status) == IdOf(streamed.status),
             absl::StrCat(content.status.ToString(), "; ", streamed.status.ToString()));
  if (!content.status.ok() || !streamed.status.ok()) return;
  FUZZ_CHECK(content.bytes == streamed.bytes, "a stream gave other bytes");
  const size_t size = content.bytes.size();
  const CheckedReading reading = ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, size);
  if (FindCompression(content.bytes) != Compression::kNone) return;
  const CheckedReading plain =
      ReadAndCheck(SourceFromBytes(content.bytes), ReadMode::kStrict, size);
  CheckSameEvents(plain.events, reading.events, "compressed");
}

}  // namespace gotrace::internal
