// Notices that a file which is read several times was changed in between.
//
// This compares what the file system says, which costs nothing, for readings that may end anywhere.
// SteadyInput compares the bytes of readings that go on to the end, and ignores what is added.
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

// What shows whether a file was changed. All inputs that are not regular files are equal.
struct FileState {
  uint64_t device = 0;
  uint64_t number = 0;
  int64_t size = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};
FileState StateOf(const std::string& path);

// Returns the error kAborted if the file is no longer as it was: what several readings of it found
// does not belong together.
absl::Status CheckUnchanged(const std::string& path, const FileState& before);

// The same for a reading that found `size` bytes. A file that grows and shrinks again within a tick
// of the file system's clock looks as before, but may have had other bytes meanwhile.
absl::Status CheckUnchanged(const std::string& path, const FileState& before, uint64_t size);

// Opens the file as OpenSource() does, with the same error if it is no longer as it was. Reading
// the source fails with it as well, if the file changes later.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenUnchanged(const std::string& path,
                                                          const ReaderLimits& limits,
                                                          const FileState& before);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_FILE_STATE_H_
