#include "export/pprof/profile_frames.h"

#include "absl/strings/str_cat.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace::internal {

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

namespace {

absl::string_view StateName(GoState state) {
  constexpr absl::string_view kNames[] = {"[not in the trace]", "[does not exist]", "[runnable]",
                                          "[running]",          "[waiting]",        "[syscall]"};
  return kNames[static_cast<size_t>(state)];
}

void AppendStack(StackId stack, const Interner& interner, std::vector<ProfileFrame>* frames) {
  for (const FrameId id : interner.Frames(stack)) {
    frames->push_back({id, interner.String(interner.FrameWithIds(id).func)});
  }
}

}  // namespace

std::string StackText(const ProfileKey& key, const Interner& interner) {
  std::vector<ProfileFrame> frames;
  SetProfileFrames({}, key, interner, &frames);
  std::string text;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    absl::StrAppend(&text, text.empty() ? "" : ";", frame->name);
  }
  return text;
}

void SetProfileFrames(const ProfileForm& form, const ProfileKey& key, const Interner& interner,
                      std::vector<ProfileFrame>* frames) {
  frames->clear();
  if (form.shows_states) {
    const absl::string_view reason = interner.String(key.reason);
    if (!reason.empty()) frames->push_back({std::nullopt, reason});
    frames->push_back({std::nullopt, StateName(key.state)});
  }
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

namespace gotrace {

ProfileForm FormOf(ProfileType type) {
  const ProfileTypeInfo& info = InfoOf(type);
  return {.count_name = info.count_name, .time_name = info.time_name};
}

}  // namespace gotrace
