#include "analysis/profile/profile_samples.h"

#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"

namespace gotrace {
namespace internal {
int CompareStacks(const Interner& interner, StackId a, StackId b) {
  if (a == b) return 0;
  const absl::Span<const FrameId> frames_a = interner.Frames(a);
  const absl::Span<const FrameId> frames_b = interner.Frames(b);
  for (size_t i = 1; i <= frames_a.size() && i <= frames_b.size(); ++i) {
    const StackFrame x = interner.Frame(frames_a[frames_a.size() - i]);
    const StackFrame y = interner.Frame(frames_b[frames_b.size() - i]);
    if (const int order = x.func.compare(y.func); order != 0) return order;
    if (const int order = x.file.compare(y.file); order != 0) return order;
    const std::tuple place_x(x.line, x.pc);
    const std::tuple place_y(y.line, y.pc);
    if (place_x != place_y) return place_x < place_y ? -1 : 1;
  }
  return frames_a.size() < frames_b.size() ? -1 : frames_a.size() > frames_b.size() ? 1 : 0;
}

namespace {

constexpr uint32_t Bit(GoState state) { return uint32_t{1} << static_cast<unsigned>(state); }

constexpr uint32_t kOffCpuStates =
    Bit(GoState::kRunnable) | Bit(GoState::kWaiting) | Bit(GoState::kSyscall);

bool IsNetwork(absl::string_view reason) { return reason == "network"; }

bool IsSync(absl::string_view reason) {
  return absl::StrContains(reason, "chan") || absl::StrContains(reason, "sync") ||
         absl::StrContains(reason, "select");
}

// In the order of ProfileType.
constexpr ProfileRow kRows[] = {
    {{ProfileType::kWall, "wall",
      "the time of all goroutines in all states; running goroutines have no stack, and are shown "
      "in the function that they started in",
      "intervals", "time", false},
     SampleSource::kIntervals,
     kOffCpuStates | Bit(GoState::kRunning),
     nullptr,
     false},
    {{ProfileType::kOffCpu, "offcpu",
      "the time of goroutines that do not run: they wait, are in a syscall, or are ready to run",
      "intervals", "time", false},
     SampleSource::kIntervals,
     kOffCpuStates,
     nullptr,
     false},
    {{ProfileType::kOnCpu, "oncpu",
      "the time of goroutines that run, divided among the CPU samples of all goroutines that "
      "started in the same function; without samples, only that function is shown",
      "samples", "time", false},
     SampleSource::kCpuSamples,
     Bit(GoState::kRunning),
     nullptr,
     false},
    {{ProfileType::kNet, "net", "waiting for the network", "contentions", "delay", true},
     SampleSource::kIntervals,
     Bit(GoState::kWaiting),
     IsNetwork,
     false},
    {{ProfileType::kSync, "sync", "waiting for channels, select, and package sync", "contentions",
      "delay", true},
     SampleSource::kIntervals,
     Bit(GoState::kWaiting),
     IsSync,
     false},
    {{ProfileType::kSyscall, "syscall", "in syscalls", "contentions", "delay", true},
     SampleSource::kIntervals,
     Bit(GoState::kSyscall),
     nullptr,
     false},
    {{ProfileType::kSched, "sched",
      "waiting for a P to run on, with the stack of the goroutine that created it or woke it up, "
      "or else of the goroutine itself",
      "contentions", "delay", true},
     SampleSource::kIntervals,
     Bit(GoState::kRunnable),
     nullptr,
     true},
    {{ProfileType::kWakeup, "wakeup",
      "waits that ended: the stack of the goroutine that waited, and on top of it the stack of the "
      "goroutine that woke it up",
      "wakeups", "delay", false},
     SampleSource::kWakeUps,
     Bit(GoState::kWaiting),
     nullptr,
     false},
    {{ProfileType::kCreate, "create", "how many goroutines were created, and where", "goroutines",
      "", false},
     SampleSource::kCreations,
     0,
     nullptr,
     true},
    {{ProfileType::kGcAssist, "gc-assist", "the time in assists of the garbage collector",
      "assists", "delay", false},
     SampleSource::kAssists,
     0,
     nullptr,
     false},
};

bool IsBefore(const Interner& interner, const ProfileSample& a, const ProfileSample& b) {
  if (a.value.time != b.value.time) return a.value.time > b.value.time;
  if (a.value.count != b.value.count) return a.value.count > b.value.count;
  if (const int order = CompareStacks(interner, a.key.stack, b.key.stack); order != 0) {
    return order < 0;
  }
  if (const int order = CompareStacks(interner, a.key.waker, b.key.waker); order != 0) {
    return order < 0;
  }
  const auto rest = [&](const ProfileKey& key) {
    return std::tuple(interner.String(key.start), key.state, interner.String(key.reason),
                      key.woken_by, key.goroutine.value, key.proc.value, key.task.value,
                      interner.String(key.region), interner.String(key.label));
  };
  return rest(a.key) < rest(b.key);
}

}  // namespace

const ProfileRow& RowOf(ProfileType type) { return kRows[static_cast<size_t>(type)]; }

void SortSamples(const Interner& interner, std::vector<ProfileSample>* samples) {
  absl::c_sort(*samples, [&](const ProfileSample& a, const ProfileSample& b) {
    return IsBefore(interner, a, b);
  });
}

std::vector<ProfileSample> SortedSamples(const SampleMap& samples, const Interner& interner) {
  std::vector<ProfileSample> sorted;
  sorted.reserve(samples.size());
  for (const auto& [key, value] : samples) sorted.push_back({key, value});
  SortSamples(interner, &sorted);
  return sorted;
}

}  // namespace internal

absl::Span<const ProfileTypeInfo> ProfileTypes() {
  static const std::vector<ProfileTypeInfo>& types = *[] {
    auto* const infos = new std::vector<ProfileTypeInfo>;
    for (const internal::ProfileRow& row : internal::kRows) infos->push_back(row.info);
    return infos;
  }();
  return types;
}

const ProfileTypeInfo& InfoOf(ProfileType type) { return internal::RowOf(type).info; }

}  // namespace gotrace
