// Checks traces in the event format of Git's Trace2. For tests.
#ifndef GOTRACE_TESTING_TRACE2_CHECKER_H_
#define GOTRACE_TESTING_TRACE2_CHECKER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Checks that each line of `trace`, the whole trace of one run, has what
// git-ecosystem/trace2receiver requires of its event, and that the events of each thread fit
// together: what does not, it leaves out. The error has the line.
absl::Status CheckTrace2Events(absl::string_view trace);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_TRACE2_CHECKER_H_
