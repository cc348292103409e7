// The ways over a whole trace whose speed is measured.
#ifndef GOTRACE_BENCH_PASSES_H_
#define GOTRACE_BENCH_PASSES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/read_mode.h"

namespace gotrace::internal {

// What a way met.
struct PassCounts {
  uint64_t events = 0;
  uint64_t bytes = 0;  // Of the trace, not compressed.
};

// Each goes over all of `source`, which must stand at its beginning, and fails where the trace is
// broken or cannot be read.

// Decodes every event as it stands on the wire, framing and tables too, without order or meaning:
// those of threads by the decoder that a Reader uses, the others as RawReader does it. Counts the
// same events as RawReader.
absl::StatusOr<PassCounts> DecodePass(std::unique_ptr<ByteSource> source);

// Gives the events in order, one by one; with two cores or more by ReadHalves().
absl::StatusOr<PassCounts> ReadPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);

// Reads and judges them, as `gotrace-dump validate` does. Errors that it finds are a failure;
// warnings are none.
absl::StatusOr<PassCounts> ValidatePass(std::unique_ptr<ByteSource> source,
                                        const ReaderOptions& options);

// Make the text that `gotrace-dump events` prints, and that with --format=json, in blocks that are
// thrown away.
absl::StatusOr<PassCounts> TextPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);
absl::StatusOr<PassCounts> JsonPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);

// Reads them one by one, and turns them into the intervals of a StateTracker, which are thrown
// away.
absl::StatusOr<PassCounts> TrackPass(std::unique_ptr<ByteSource> source,
                                     const ReaderOptions& options);

// One of the above.
enum class PassKind : uint8_t { kDecode, kRead, kValidate, kText, kJson, kTrack };
inline constexpr const char* kPassNames[] = {"decode", "read", "validate", "text", "json", "track"};

// Finds the one called `name` in kPassNames. Returns false if there is none.
bool FindPass(absl::string_view name, PassKind* kind);

// Does the one called `kind`. `options` are for those that have a Reader of their own.
absl::StatusOr<PassCounts> RunPass(PassKind kind, std::unique_ptr<ByteSource> source,
                                   const ReaderOptions& options);

// All bytes of the file at `path`, decompressed if need be. "-" is the standard input.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_PASSES_H_
