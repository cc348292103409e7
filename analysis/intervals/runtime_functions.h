// Distinguishes functions of the runtime from functions of the program.
#ifndef GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
#define GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns whether the function is in package runtime, or in a package below it.
inline bool IsOfRuntime(absl::string_view function) {
  return absl::StartsWith(function, "runtime.") || absl::StartsWith(function, "runtime/");
}

// Returns whether goroutines that started in the function belong to the runtime or to whatever
// records the trace, rather than to the program.
inline bool IsOfSystem(absl::string_view start) {
  // Package runtime, and the packages below it that trace and profile, have functions of the
  // program only below runtime.main.
  if (IsOfRuntime(start)) return start != "runtime.main";
  constexpr absl::string_view kOthers[] = {
      "os/signal.loop",           // Waits for signals.
      "golang.org/x/exp/trace.",  // The flight recorder of Go 1.22 to 1.24.
  };
  return absl::c_any_of(kOthers,
                        [&](absl::string_view other) { return absl::StartsWith(start, other); });
}

// Returns whether the function belongs to the runtime, or to a package between it and programs:
// package sync, and packages below internal/.
inline bool IsOfLibrary(absl::string_view function) {
  return IsOfRuntime(function) || absl::StartsWith(function, "sync.") ||
         absl::StartsWith(function, "internal/");
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
