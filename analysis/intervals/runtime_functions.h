// Distinguishes functions of the runtime from functions of the program.
#ifndef GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
#define GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gotrace::internal {

// Returns whether the text begins with one of the prefixes.
inline bool StartsWithAny(absl::string_view text, absl::Span<const absl::string_view> prefixes) {
  return absl::c_any_of(prefixes,
                        [&](absl::string_view prefix) { return absl::StartsWith(text, prefix); });
}

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
  return StartsWithAny(start, kOthers);
}

// Returns whether the function belongs to the runtime, or to a package between it and programs:
// package sync, and packages below internal/.
inline bool IsOfLibrary(absl::string_view function) {
  return IsOfRuntime(function) || absl::StartsWith(function, "sync.") ||
         absl::StartsWith(function, "internal/");
}

// The function in which mark workers of the garbage collector start.
inline constexpr absl::string_view kMarkWorkerStart = "runtime.gcBgMarkWorker";

// Returns whether the tracer stops the world for this reason.
inline bool IsStopOfTracer(absl::string_view reason) {
  return reason == "start trace" || reason == "stop trace" || reason == "stop tracing";
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_RUNTIME_FUNCTIONS_H_
