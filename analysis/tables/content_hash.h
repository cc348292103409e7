// Ids that follow from content, and so are the same wherever they are computed.
#ifndef GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
#define GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "parser/source/file_state.h"

namespace gotrace::internal {

// A hash of the bytes that is greater than 0. It has 53 bits, so that a double holds it exactly: to
// pandas, JavaScript and jq, numbers are doubles, or become some where a column has NULL.
int64_t ContentHash(absl::string_view bytes);

// The same of all bytes of a file. Sets `*state` to what shows whether it is changed later, and
// fails with kAborted if it is changed now.
absl::StatusOr<int64_t> ContentHashOfFile(const std::string& path, FileState* state);

// The id of the `number`th trace, counted from 1, of an input whose bytes have the hash `input_id`.
int64_t IdOfTrace(int64_t input_id, uint64_t number);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
