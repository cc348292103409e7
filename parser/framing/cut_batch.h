// The remains of a batch inside which a trace ends.
#ifndef GOTRACE_PARSER_FRAMING_CUT_BATCH_H_
#define GOTRACE_PARSER_FRAMING_CUT_BATCH_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns the total size of the complete events at the beginning of `payload`, which is the
// beginning of an ordinary batch's payload (FORMAT.md §4) whose rest is lost. Returns 0 if no event
// is complete; if something in it cannot be in such a batch of any version, so that it is probably
// not a batch; and for a sync batch, which is of little use unless it is complete.
size_t SizeOfWholeEvents(absl::string_view payload);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_CUT_BATCH_H_
