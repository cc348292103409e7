// Ids that are hashes of content, and so are the same wherever they are computed.
#ifndef GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
#define GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "parser/source/file_state.h"

namespace gotrace::internal {

// Returns a hash of the bytes that is greater than 0. It has 53 bits, so that a double holds it
// exactly: JavaScript and jq store numbers as doubles, and pandas does so in columns with NULL.
int64_t ContentHash(absl::string_view bytes);

// Returns the hash of all bytes of a file. Sets `*state` for noticing later changes, and fails with
// kAborted if the file changes meanwhile.
absl::StatusOr<int64_t> ContentHashOfFile(const std::string& path, FileState* state);

// Returns the id of the `number`th trace, counted from 1, of an input whose bytes have the hash
// `input_id`.
int64_t IdOfTrace(int64_t input_id, uint64_t number);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
