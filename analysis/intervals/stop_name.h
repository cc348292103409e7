// The name of a stop of the world, where it is a state of goroutines.
#ifndef GOTRACE_ANALYSIS_INTERVALS_STOP_NAME_H_
#define GOTRACE_ANALYSIS_INTERVALS_STOP_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns "world stopped (GC mark termination)".
inline std::string StopName(absl::string_view reason) {
  return absl::StrCat("world stopped (", reason, ")");
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_STOP_NAME_H_
