// The document of all checks, made from their tables.
#ifndef GOTRACE_VALIDATOR_CHECK_DOCS_H_
#define GOTRACE_VALIDATOR_CHECK_DOCS_H_

#include <string>

namespace gotrace {

// The content of docs/checks.md.
std::string CheckDocs();

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_CHECK_DOCS_H_
