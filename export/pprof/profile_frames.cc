#include "export/pprof/profile_frames.h"

#include "gotrace/state_tracker.h"

namespace gotrace::internal {
namespace {

// Between the stack of a goroutine that waits and that of the one that wakes it up, or in place of
// the latter; "" if nothing woke it up.
absl::string_view WakerName(CauseKind woken_by) {
  switch (woken_by) {
    case CauseKind::kUnknown:
      return "";
    case CauseKind::kItself:
      return "[woken by itself]";
    case CauseKind::kScheduler:
      return "[woken by the scheduler]";
    case CauseKind::kGoroutine:
      return "[woken by a goroutine]";
    case CauseKind::kNetwork:
      return "[woken by the network]";
    case CauseKind::kTimer:
      return "[woken by a timer]";
    case CauseKind::kGc:
      return "[woken by the garbage collector]";
    case CauseKind::kSyscall:
      return "[woken by a syscall]";
  }
  return "";
}

void AppendStack(StackId stack, const Interner& interner, std::vector<ProfileFrame>* frames) {
  for (const FrameId id : interner.Frames(stack)) {
    frames->push_back({id, interner.String(interner.FrameWithIds(id).func)});
  }
}

}  // namespace

void SetProfileFrames(const ProfileKey& key, const Interner& interner,
                      std::vector<ProfileFrame>* frames) {
  frames->clear();
  if (const absl::string_view waker = WakerName(key.woken_by); !waker.empty()) {
    AppendStack(key.waker, interner, frames);
    frames->push_back({std::nullopt, waker});
  }
  AppendStack(key.stack, interner, frames);
  if (key.stack == StackId::kNone && key.start != StringId::kEmpty) {
    frames->push_back({std::nullopt, interner.String(key.start)});
  }
}

}  // namespace gotrace::internal
