// The document of all checks, made from their tables.
#ifndef GOTRACE_TESTING_CHECK_DOCS_H_
#define GOTRACE_TESTING_CHECK_DOCS_H_

#include <string>

#include "absl/status/statusor.h"

namespace gotrace::internal {

// The content of docs/checks.md, with an example of each check: what the case of its name in the
// folder `findings` shows, or what synthetic_case.h has. Fails if a check has neither, or a case
// cannot be read.
absl::StatusOr<std::string> CheckDocs(const std::string& findings);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_CHECK_DOCS_H_
