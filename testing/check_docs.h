// Generates docs/checks.md, which describes all checks, from their tables.
#ifndef GOTRACE_TESTING_CHECK_DOCS_H_
#define GOTRACE_TESTING_CHECK_DOCS_H_

#include <string>

#include "absl/status/statusor.h"

namespace gotrace::internal {

// Returns the content of docs/checks.md, with an example of each check: the outcome of the case
// with its name in the folder `findings`, or of its case in synthetic_case.h. Returns an error if a
// check has neither, or if a case cannot be read.
absl::StatusOr<std::string> CheckDocs(const std::string& findings);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_CHECK_DOCS_H_
