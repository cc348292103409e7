// Ids that follow from content, and so are the same wherever they are computed.
#ifndef GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
#define GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"

namespace gotrace::internal {

// A hash of the bytes that is greater than 0. It has 53 bits, so that a double holds it exactly: to
// pandas, JavaScript and jq, numbers are doubles, or become some where a column has NULL.
int64_t ContentHash(absl::string_view bytes);

// The same of all bytes of a stream.
absl::StatusOr<int64_t> ContentHash(ByteStream& stream);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
