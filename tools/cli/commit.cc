// Bazel compiles this each time that it links a program, with the macros BUILD_SCM_REVISION and
// BUILD_SCM_STATUS from workspace_status.sh, or with "0" and "redacted" unless the program has
// `stamp = 1`. Other builds may define GOTRACE_COMMIT as the text to return.
#include "tools/cli/commit.h"

namespace gotrace::internal {

const char* Commit() {
#if defined(GOTRACE_COMMIT)
  return GOTRACE_COMMIT;
#elif defined(BUILD_SCM_REVISION)
  constexpr bool kIsKnown = sizeof(BUILD_SCM_REVISION) > sizeof("0");
  constexpr bool kIsModified = sizeof(BUILD_SCM_STATUS) > sizeof("");
  if (!kIsKnown) return "";
  return kIsModified ? BUILD_SCM_REVISION ", modified" : BUILD_SCM_REVISION;
#else
  return "";
#endif
}

}  // namespace gotrace::internal
