// The frames of a profile's sample.
#ifndef GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_
#define GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"

namespace gotrace::internal {

// A frame of a stack, or what takes the place of one where the trace has no stack: the function
// that a goroutine started in, or "[woken by the network]".
struct ProfileFrame {
  std::optional<FrameId> id;
  absl::string_view name;  // Of the function. Valid as long as the interner.
};

// Sets `*frames` to those of the sample, the innermost first. A waker's are on top.
void SetProfileFrames(const ProfileKey& key, const Interner& interner,
                      std::vector<ProfileFrame>* frames);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_
