// Finds the existing name that was probably meant by a misspelled one.
#ifndef GOTRACE_TOOLS_CLI_NEAREST_NAME_H_
#define GOTRACE_TOOLS_CLI_NEAREST_NAME_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gotrace::internal {

// Returns the element of `names` that differs least from `name`, in at most a third of its
// characters; two swapped characters count as one difference. Returns "" if there is none, or if
// `name` has less than three characters.
absl::string_view NearestName(absl::string_view name, absl::Span<const absl::string_view> names);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_NEAREST_NAME_H_
