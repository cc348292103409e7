// Distinguishes functions of the runtime from functions of the program.
#ifndef GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
#define GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns whether the function is in package runtime, or in a package below it.
inline bool IsOfRuntime(absl::string_view function) {
  return absl::StartsWith(function, "runtime.") || absl::StartsWith(function, "runtime/");
}

// Returns whether the function belongs to the runtime, or to a package between it and programs:
// package sync, and packages below internal/.
inline bool IsOfLibrary(absl::string_view function) {
  return IsOfRuntime(function) || absl::StartsWith(function, "sync.") ||
         absl::StartsWith(function, "internal/");
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
