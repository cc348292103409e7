// The frames of a profile's samples, and how they are shown.
#ifndef GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_
#define GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/profile_writer.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// A frame of a stack, or a substitute where the trace has no stack: the function that a goroutine
// started in, or "[woken by the network]".
struct ProfileFrame {
  std::optional<FrameId> id;
  absl::string_view name;  // Of the function. Valid as long as the interner.
};

// Returns the name of the frame between the stack of a waiting goroutine and the stack of its
// waker, or in place of the latter; "" if nothing woke it up. Static lifetime.
absl::string_view WakerName(CauseKind woken_by);

// Sets `*frames` to the frames of the sample, innermost first. The frames of a waker are inside the
// others.
void SetProfileFrames(const ProfileForm& form, const ProfileKey& key, const Interner& interner,
                      std::vector<ProfileFrame>* frames);

// Returns the functions of the sample, outermost first and separated by ";", without states.
std::string StackText(const ProfileKey& key, const Interner& interner);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_PROFILE_FRAMES_H_
