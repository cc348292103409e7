// Fuzzes undoing damage in transport: the result must be the same however the bytes arrive, and a
// wrapped trace must give the trace.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"
#include "gotrace/transport.h"
#include "gotrace/version.h"
#include "testing/test_util.h"
#include "testing/undone_input.h"

namespace gotrace::internal {
namespace {

// A limit, because a few bytes may decompress to any number of them.
constexpr uint64_t kMaxBytes = 1 << 20;

Undone Undo(absl::StatusOr<std::unique_ptr<ByteSource>> source) {
  ReaderLimits limits;
  limits.decompressed_bytes = kMaxBytes;
  return UndoAndRead(std::move(source), limits);
}

void CheckSame(const Undone& a, const Undone& b, absl::string_view what) {
  FUZZ_CHECK(a.bytes == b.bytes, what);
  FUZZ_CHECK(a.status == b.status,
             absl::StrCat(what, ": ", a.status.ToString(), "; ", b.status.ToString()));
  FUZZ_CHECK(a.notes.size() == b.notes.size(), what);
  for (size_t i = 0; i < a.notes.size(); ++i) {
    FUZZ_CHECK(FormatTransportNote(a.notes[i]) == FormatTransportNote(b.notes[i]), what);
  }
}

// Wraps a trace, and expects to get that trace, or what is inside of it.
void CheckWrapped(const std::string& wrapped, const Undone& expected, absl::string_view what) {
  const Undone undone = Undo(SourceFromBytes(wrapped));
  FUZZ_CHECK(undone.status == expected.status,
             absl::StrCat(what, ": ", expected.status.ToString(), "; ", undone.status.ToString()));
  FUZZ_CHECK(undone.bytes == expected.bytes, what);
}

}  // namespace

void RunTarget(absl::string_view input) {
  // The source removes one layer of compression.
  if (FindCompression(input) != Compression::kNone) return;
  const Undone whole = Undo(SourceFromBytes(input));
  CheckSame(whole, Undo(SourceFromStream(std::make_unique<RandomPieces>(input))), "in pieces");
  if (whole.notes.empty() && whole.status.ok()) {
    FUZZ_CHECK(whole.bytes == input, "bytes were changed that nothing happened to");
  }
  for (const TransportNote& note : whole.notes) {
    FUZZ_CHECK(FormatTransportNote(note).find('\n') == std::string::npos, "");
  }
  if (!whole.notes.empty() || ParseHeader(input).status != HeaderStatus::kOk) return;
  CheckWrapped(absl::Base64Escape(input), whole, "base64");
  CheckWrapped(absl::BytesToHexString(input), whole, "hex");
  CheckWrapped(absl::StrCat("HTTP/1.1 200 OK\r\n\r\n", absl::Hex(input.size()), "\r\n", input,
                            "\r\n0\r\n\r\n"),
               whole, "chunked");
  CheckWrapped(absl::StrCat("{\"a\": \"", absl::Base64Escape(input), "\"}"), whole, "json");
}

}  // namespace gotrace::internal
