// Profiles as trees, for flame graphs.
#ifndef GOTRACE_TOOLS_SERVE_FLAME_H_
#define GOTRACE_TOOLS_SERVE_FLAME_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct FlameOptions {
  bool inverted = false;  // Whether callers are below their callees.
  uint64_t max_nodes = 5000;
  absl::string_view unit = "nanoseconds";
};

// Returns the JSON object that docs/serve-api.md describes, for a profile in the folded form: a
// line for each stack, "main.main;main.work 12", outermost function first.
std::string FlameJson(absl::string_view folded, const FlameOptions& options);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_FLAME_H_
