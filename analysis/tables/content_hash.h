// Ids that follow from content, and so are the same wherever they are computed.
#ifndef GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
#define GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A hash of the bytes that is greater than 0. It has 63 bits, so that engines without unsigned
// integers can hold it.
int64_t ContentHash(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
