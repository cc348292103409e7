// Profiles as collapsed stacks, the text format from which flame graphs are made.
#ifndef GOTRACE_EXPORT_PPROF_FOLDED_H_
#define GOTRACE_EXPORT_PPROF_FOLDED_H_

#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends a line for each stack: its functions, outermost first and separated by ";", a space, and
// its time in nanoseconds, or its count if `form` has no time. Lines are in alphabetical order. A
// sample without a stack is "[unknown]".
void AppendFolded(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                  const Interner& interner, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_FOLDED_H_
