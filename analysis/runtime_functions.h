// Which functions belong to the runtime rather than to the program.
#ifndef GOTRACE_ANALYSIS_RUNTIME_FUNCTIONS_H_
#define GOTRACE_ANALYSIS_RUNTIME_FUNCTIONS_H_

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Whether the function is in package runtime, or in a package below it.
inline bool IsOfRuntime(absl::string_view function) {
  return absl::StartsWith(function, "runtime.") || absl::StartsWith(function, "runtime/");
}

// Whether the function is of the runtime, or of what lies between it and programs: package sync,
// and packages below internal/.
inline bool IsOfLibrary(absl::string_view function) {
  return IsOfRuntime(function) || absl::StartsWith(function, "sync.") ||
         absl::StartsWith(function, "internal/");
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_RUNTIME_FUNCTIONS_H_
