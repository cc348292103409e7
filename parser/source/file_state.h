// Detects that a file that is read several times was changed in between.
//
// This compares the file's metadata, which costs nothing, so reading may end anywhere. SteadyInput
// compares the bytes instead, which requires reading to the end, and ignores data that is appended.
#ifndef GOTRACE_PARSER_SOURCE_FILE_STATE_H_
#define GOTRACE_PARSER_SOURCE_FILE_STATE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_limits.h"

namespace gotrace::internal {

// The metadata that shows whether a file was changed. All inputs that are not regular files are
// equal.
struct FileState {
  uint64_t device = 0;
  uint64_t number = 0;
  int64_t size = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};
FileState StateOf(const std::string& path);

// Returns the error kAborted if the file has changed, so that the results of reading it several
// times do not fit together.
absl::Status CheckUnchanged(const std::string& path, const FileState& before);

// The same after `size` bytes were read. A file that grows and shrinks again within a tick of the
// file system's clock has the same metadata as before, but may have had other bytes meanwhile.
absl::Status CheckUnchanged(const std::string& path, const FileState& before, uint64_t size);

// Opens the file as OpenSource() does, but fails with kAborted if it has changed. If it changes
// later, reading the source fails with the same error.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenUnchanged(const std::string& path,
                                                          const ReaderLimits& limits,
                                                          const FileState& before);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_FILE_STATE_H_
