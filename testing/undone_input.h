// Reads everything that UndoTransport() makes of an input. For tests.
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
  absl::Status status;  // The status of undoing, or of reading the result.
  std::string bytes;
  std::vector<TransportNote> notes;
};

// Undoes damage in transport to the bytes of `source`, and reads the result to its end or to the
// first error. If `source` is an error, returns that.
Undone UndoAndRead(absl::StatusOr<std::unique_ptr<ByteSource>> source,
                   const ReaderLimits& limits = {});

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_UNDONE_INPUT_H_
