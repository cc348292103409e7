// Compares Chrome JSON with that of `go tool trace`. For tests.
#ifndef GOTRACE_TESTING_CHROME_VIEW_H_
#define GOTRACE_TESTING_CHROME_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns the events of `json`, which is what `go tool trace` returns for /jsontrace?QUERY or what
// gotrace writes instead, each as a line of text, sorted. Stacks are written out; the beginning and
// the end of an arrow, and of a region, are one line. Leaves out where both are known to differ,
// see export/chrome/DIVERGENCES.md, as well as colors, and the numbers of arrows and the order of
// lanes, which mean nothing.
absl::StatusOr<std::vector<std::string>> ComparableChromeEvents(absl::string_view json,
                                                                absl::string_view query);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_CHROME_VIEW_H_
