// Whether a text is JSON, judged by nothing of what wrote it. For tests.
#ifndef GOTRACE_TESTING_JSON_CHECKER_H_
#define GOTRACE_TESTING_JSON_CHECKER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns "" if `text` is exactly one JSON value as RFC 8259 has it, and else what is wrong at
// which byte. Stricter than the RFC: no two members of an object have the same name, strings are
// UTF-8 without surrogates, and nothing stands around the value.
std::string CheckJson(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_CHECKER_H_
