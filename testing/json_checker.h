// Checks whether a text is JSON, independently of the code that writes JSON. For tests.
#ifndef GOTRACE_TESTING_JSON_CHECKER_H_
#define GOTRACE_TESTING_JSON_CHECKER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns "" if `text` is exactly one JSON value as defined by RFC 8259; otherwise what is wrong,
// and at which byte. Stricter than the RFC: names of an object's members must differ, strings must
// be UTF-8 without surrogates, and there must be nothing before or after the value.
std::string CheckJson(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_CHECKER_H_
