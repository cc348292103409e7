// Profiles as collapsed stacks, the text that flame graphs are made of.
#ifndef GOTRACE_EXPORT_PPROF_FOLDED_H_
#define GOTRACE_EXPORT_PPROF_FOLDED_H_

#include <string>

#include "absl/types/span.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends a line for each stack: its functions from the outermost on with ";" between them, a
// space, and its time in nanoseconds, or its count if `type` has no time. Lines are in alphabetical
// order. A sample without a stack is "[unknown]".
void AppendFolded(ProfileType type, absl::Span<const ProfileSample> samples,
                  const Interner& interner, TextBuffer* out);

// Returns the functions of a sample, the outermost first, with ";" between them.
std::string StackText(const ProfileKey& key, const Interner& interner);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_FOLDED_H_
