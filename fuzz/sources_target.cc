// Fuzzes sources: however the bytes of a trace arrive, its events must be the same.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/memory_file.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"
#include "testing/test_util.h"

namespace gotrace::internal {

void RunTarget(absl::string_view input) {
  // A source removes only one layer of compression.
  if (FindCompression(input) != Compression::kNone) return;
  const auto read = [](absl::StatusOr<std::unique_ptr<ByteSource>> source) {
    return source.ok() ? ReadAll(Reader::FromSource(*std::move(source)))
                       : Outcome{{}, source.status()};
  };
  const Outcome expected = read(SourceFromBytes(input));
  CheckStatus(expected.status, input.size());
  const auto check = [&](absl::StatusOr<std::unique_ptr<ByteSource>> source,
                         absl::string_view what) {
    const Outcome found = read(std::move(source));
    CheckSameEvents(expected.events, found.events, what);
    FUZZ_CHECK(expected.status == found.status,
               absl::StrCat(what, ": ", expected.status.ToString(), "; ", found.status.ToString()));
  };
  const MemoryFile file(input);
  check(OpenSource(file.path()), "file");
  check(SourceFromStream(std::make_unique<RandomPieces>(input)), "in pieces");
  const std::string zstd = Zstd(input);
  check(SourceFromBytes(zstd), "zstd");
  check(SourceFromStream(std::make_unique<RandomPieces>(zstd)), "zstd in pieces");
  const std::string gzip = Gzip(input);
  check(SourceFromBytes(gzip), "gzip");
  check(SourceFromStream(std::make_unique<RandomPieces>(gzip)), "gzip in pieces");
}

}  // namespace gotrace::internal
