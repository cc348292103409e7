// What is left of a batch in which a trace ends.
#ifndef GOTRACE_PARSER_FRAMING_CUT_BATCH_H_
#define GOTRACE_PARSER_FRAMING_CUT_BATCH_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// How many of the first bytes of `payload` are worth reading, where it is the beginning of an
// ordinary batch's payload (FORMAT.md §4) and the rest is lost: those of whole events. 0 if none is
// whole, or something cannot stand in such a batch of any version, so that it is probably none. Of
// a sync batch, which tells little unless it is whole, it is 0 too.
size_t SizeOfWholeEvents(absl::string_view payload);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_CUT_BATCH_H_
