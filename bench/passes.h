// Passes over a whole trace whose speed is measured.
#ifndef GOTRACE_BENCH_PASSES_H_
#define GOTRACE_BENCH_PASSES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"

namespace gotrace::internal {

// The size of what a pass processed.
struct PassCounts {
  uint64_t events = 0;
  uint64_t bytes = 0;  // The size of the decompressed trace.
};

// Each function processes all of `source`, which must be at its beginning, and returns an error if
// the trace is broken or cannot be read.

// Decodes every event in the form on the wire, including framing and tables, but does not order or
// interpret events. Events of threads are decoded with the decoder that a Reader uses, the others
// as RawReader decodes them. Counts the same events as RawReader.
absl::StatusOr<PassCounts> DecodePass(std::unique_ptr<ByteSource> source);

// Returns the events in order, one by one; with at least two cores, with ReadParallel().
absl::StatusOr<PassCounts> ReadPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);

// Reads and validates the events, as `gotrace-dump validate` does. Returns an error if there are
// findings that are errors; warnings are ignored.
absl::StatusOr<PassCounts> ValidatePass(std::unique_ptr<ByteSource> source,
                                        const ReaderOptions& options);

// Format the output of `gotrace-dump events`, as text or with --format=json, in blocks that are
// discarded.
absl::StatusOr<PassCounts> TextPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);
absl::StatusOr<PassCounts> JsonPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options);

// Reads the events one by one, and turns them into the intervals of a StateTracker, which are
// discarded.
absl::StatusOr<PassCounts> TrackPass(std::unique_ptr<ByteSource> source,
                                     const ReaderOptions& options);

// One of the passes above.
enum class PassKind : uint8_t { kDecode, kRead, kValidate, kText, kJson, kTrack };
inline constexpr const char* kPassNames[] = {"decode", "read", "validate", "text", "json", "track"};

// Sets `*kind` to the pass called `name` in kPassNames. Returns false if there is none.
bool FindPass(absl::string_view name, PassKind* kind);

// Runs the pass `kind`. `options` are used by passes that create a Reader.
absl::StatusOr<PassCounts> RunPass(PassKind kind, std::unique_ptr<ByteSource> source,
                                   const ReaderOptions& options);

// Returns all bytes of the file at `path`, decompressed if necessary. "-" is the standard input.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_PASSES_H_
