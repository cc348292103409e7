// Profiles: the stacks in which goroutines spent their time, by state and by what they waited for.
#ifndef GOTRACE_PROFILE_H_
#define GOTRACE_PROFILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace::internal {
class ProfileSums;
}  // namespace gotrace::internal

namespace gotrace {

// The type of a profile: the time or events that its samples stand for.
enum class ProfileType : uint8_t {
  kWall,      // All time of all goroutines.
  kOffCpu,    // All time except the time on a P.
  kOnCpu,     // The time on a P, by the stacks of CPU samples.
  kNet,       // Waiting for the network.
  kSync,      // Waiting for channels, select, and package sync.
  kSyscall,   // In syscalls.
  kSched,     // Waiting for a P, by what made the goroutine ready.
  kWakeup,    // Waiting, by where the goroutine waited and what woke it.
  kCreate,    // How many goroutines were created, and where.
  kGcAssist,  // In assists of the garbage collector.
};

// The properties of a type.
struct ProfileTypeInfo {
  ProfileType type;
  absl::string_view name;        // "gc-assist"
  absl::string_view help;        // A sentence.
  absl::string_view count_name;  // The name of a sample's count: "contentions".
  absl::string_view time_name;   // The name of its time: "delay"; "" if its samples have no time.
  bool is_of_go;                 // Whether Go's tools, and so GoCompatibleProfile, have it.
};

// Return all types, in the order of ProfileType, and the properties of one type. Static lifetime.
absl::Span<const ProfileTypeInfo> ProfileTypes();
const ProfileTypeInfo& InfoOf(ProfileType type);

// The key by which samples are added up.
struct ProfileKey {
  StackId stack = StackId::kNone;  // Whose time it is; kNone if the trace does not say.

  // kWakeup: the kind of the waker, and the waker's stack if it was another goroutine.
  CauseKind woken_by = CauseKind::kUnknown;
  StackId waker = StackId::kNone;

  GoState state = GoState::kUndetermined;  // kUndetermined if it does not apply.
  StringId reason = StringId::kEmpty;      // As GoInterval::reason.
  StringId start = StringId::kEmpty;       // The function that the goroutine started in.
  GoId goroutine = GoId::kNone;            // kNone unless asked for.
  ProcId proc = ProcId::kNone;             // kNone unless asked for, or if it had none.
  TaskId task = TaskId::kNone;             // Of the innermost region; kNone unless asked for.
  StringId region = StringId::kEmpty;      // Its type; kEmpty unless asked for.
  StringId label = StringId::kEmpty;       // Of the goroutine; kEmpty unless asked for.

  friend bool operator==(const ProfileKey&, const ProfileKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const ProfileKey& key) {
    return H::combine(std::move(h), key.stack, key.woken_by, key.waker, key.state, key.reason,
                      key.start, key.goroutine, key.proc, key.task, key.region, key.label);
  }
};

// The sum of the samples with one key.
struct ProfileValue {
  uint64_t count = 0;
  int64_t time = 0;  // In nanoseconds.

  friend bool operator==(const ProfileValue&, const ProfileValue&) = default;
};

// A row of a profile.
struct ProfileSample {
  ProfileKey key;
  ProfileValue value;
};

// Computes a profile. Intervals that the ends of the trace or of the window cut count only for the
// part inside. Memory is in proportion to the distinct samples, and to the goroutines that exist at
// a time.
class Profile final : public MergeableAnalysis<Profile> {
 public:
  // What to compute.
  struct Options {
    ProfileType type = ProfileType::kWall;

    // Whether to separate samples by goroutine, and by P.
    bool by_goroutine = false;
    bool by_proc = false;

    // Only goroutines that started in a function whose whole name this matches: an extended
    // regular expression of POSIX, or the name itself; "" for all.
    std::string start;

    // Only goroutines that the filter selects. Samples of events, such as CPU samples, are limited
    // to its `times`. If it selects Ps or threads, only what goroutines do on these, running or in
    // a syscall; then the type must be kWall, kOnCpu or kSyscall. Only samples of which its
    // `stacks` select the stack or that of the waker.
    EventFilter filter = {};
  };

  // `*interner` must outlive this object.
  Profile(Interner* interner, Options options);
  ~Profile() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(Profile&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the result, after Finish(): one sample for each key, by time and then by count, largest
  // first. Equal samples are in the order of their texts.
  absl::Span<const ProfileSample> samples() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  const std::unique_ptr<internal::ProfileSums> impl_;
};

// A profile that separates samples by task, region or label, or that has only the samples of one
// task or one type of region. It cannot be merged, since a part of a trace does not have the
// regions that began before it.
class RegionProfile final : public Analysis {
 public:
  // What to compute. `type` must not be kCreate if has_parts().
  struct Options : Profile::Options {
    // Whether to separate samples by task, and by type of region. Both are those of the innermost
    // region that the goroutine is in.
    bool by_task = false;
    bool by_region = false;

    // Whether to separate samples by the label that the goroutine was given: "GC (dedicated)". A
    // label counts from where it was set in the trace.
    bool by_label = false;

    // Only the time that goroutines spend in regions of this task, and in regions of this type;
    // nullopt and "" for any. A region counts if its begin is in the trace. If the task has no
    // regions, and `region` is "", only the time of the goroutine that began it, until it ends.
    std::optional<TaskId> task = std::nullopt;
    std::string region = {};

    // Whether any of these is set. If not, the result is that of Profile.
    bool has_parts() const {
      return by_task || by_region || by_label || task.has_value() || !region.empty();
    }
  };

  // `*interner` must outlive this object.
  RegionProfile(Interner* interner, Options options);
  ~RegionProfile() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // As Profile::samples().
  absl::Span<const ProfileSample> samples() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Computes a profile of kNet, kSync, kSyscall or kSched exactly as `go tool trace -pprof` of Go
// 1.27 does; analysis/DIVERGENCES.md lists the time that Go leaves out. Keys have only stacks. For
// comparison with Go's tools: Profile is right, and faster.
//
// Memory is in proportion to the samples before they are added up.
class GoCompatibleProfile final : public Analysis {
 public:
  // `*interner` must outlive this object. Unless `start` is "", only goroutines that started in the
  // function `start` are counted.
  GoCompatibleProfile(Interner* interner, ProfileType type, std::string start);
  ~GoCompatibleProfile() override;

  void AddEvents(absl::Span<const Event> events) override;
  void Finish(int64_t end) override;

  // As Profile::samples().
  absl::Span<const ProfileSample> samples() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_PROFILE_H_
