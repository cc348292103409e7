// Profiles in the format of pprof.
#ifndef GOTRACE_EXPORT_PPROF_PPROF_WRITER_H_
#define GOTRACE_EXPORT_PPROF_PPROF_WRITER_H_

#include <string>

#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"

namespace gotrace::internal {

// Returns the profile as a gzipped message Profile of pprof's profile.proto. The same samples give
// the same bytes: there is no time stamp. The members of a sample's key, except stacks, become
// labels: "state", "reason", "start function", "goroutine", "P", "task", "region".
std::string PprofBytes(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                       const Interner& interner);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_PPROF_WRITER_H_
