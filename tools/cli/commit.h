#ifndef GOTRACE_TOOLS_CLI_COMMIT_H_
#define GOTRACE_TOOLS_CLI_COMMIT_H_

namespace gotrace::internal {

// Returns the commit that the program was built from, as in "1a2b3c4d5e6f" or, if tracked files
// were changed since, "1a2b3c4d5e6f, modified". Returns "" if it was not built in a git checkout.
const char* Commit();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_COMMIT_H_
