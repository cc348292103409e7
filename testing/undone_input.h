// Reads all that UndoTransport() makes of an input, for tests.
#ifndef GOTRACE_TESTING_UNDONE_INPUT_H_
#define GOTRACE_TESTING_UNDONE_INPUT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/transport.h"

namespace gotrace::internal {

struct Undone {
  absl::Status status;  // Of undoing, or of reading the result.
  std::string bytes;
  std::vector<TransportNote> notes;
};

// Undoes what happened to the bytes of `source` on their way, and reads the result to its end or to
// the first error. An error in place of a source becomes the status.
Undone UndoAndRead(absl::StatusOr<std::unique_ptr<ByteSource>> source,
                   const ReaderLimits& limits = {});

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_UNDONE_INPUT_H_
