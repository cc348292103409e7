// Writes profiles for other tools: for pprof, and as collapsed stacks.
//
//   auto profile = gotrace::Analyze<gotrace::Profile>(*std::move(source));
//   const std::string bytes =
//       gotrace::FormatPprof(gotrace::FormOf(gotrace::ProfileType::kWall), profile->samples(),
//                            profile.interner());
#ifndef GOTRACE_PROFILE_WRITER_H_
#define GOTRACE_PROFILE_WRITER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"

namespace gotrace {

// How the samples of a profile are shown.
struct ProfileForm {
  absl::string_view count_name;  // The name of a sample's count: "contentions".
  absl::string_view time_name;   // The name of its time: "delay"; "" if its samples have no time.

  // Whether the innermost frames show the state of the goroutine and its reason: "[waiting]",
  // "network".
  bool shows_states = false;

  // Whether frames have their file and line in collapsed stacks: "main.work main.go:12".
  bool shows_lines = false;
};

// Returns the form of profiles computed by Profile.
ProfileForm FormOf(ProfileType type);

// Returns the profile as a gzipped message Profile of pprof's profile.proto. The same samples give
// the same bytes: there is no time stamp. The members of a sample's key, except stacks, become
// labels: "state", "reason", "start function", "goroutine", "P", "task", "region". `interner` must
// be that of the samples.
std::string FormatPprof(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                        const Interner& interner);

// Returns the profile as collapsed stacks, the text format from which flame graphs are made: a line
// for each stack, with its functions, outermost first and separated by ";", a space, and its time
// in nanoseconds, or its count if `form` has no time. Lines are in alphabetical order. A sample
// without a stack is "[unknown]". `interner` must be that of the samples.
std::string FormatFolded(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                         const Interner& interner);

}  // namespace gotrace

#endif  // GOTRACE_PROFILE_WRITER_H_
