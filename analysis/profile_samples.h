// What Profile and GoCompatibleProfile share: which times the samples of each type are, and their
// order.
#ifndef GOTRACE_ANALYSIS_PROFILE_SAMPLES_H_
#define GOTRACE_ANALYSIS_PROFILE_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Where the samples of a type come from.
enum class SampleSource : uint8_t {
  kIntervals,   // The stays in `states`.
  kWakeUps,     // Those that something known ended.
  kCpuSamples,  // The samples of the CPU profiler, weighted with the stays in `states`.
  kCreations,   // Goroutines that begin.
  kAssists,     // Ranges of the garbage collector.
};

struct ProfileRow {
  ProfileTypeInfo info;
  SampleSource source;
  uint32_t states;                       // A bit for each GoState.
  bool (*is_reason)(absl::string_view);  // Which reasons count; nullptr for all.
  bool is_cause;  // Whether the stack is that of what began the state, if there is one.

  bool HasState(GoState state) const { return (states >> static_cast<unsigned>(state) & 1) != 0; }
};

const ProfileRow& RowOf(ProfileType type);

using SampleMap = absl::flat_hash_map<ProfileKey, ProfileValue>;

// Compares the texts of the frames of two stacks, from the outermost on. Less than 0, 0, or more
// than 0, as for strings.
int CompareStacks(const Interner& interner, StackId a, StackId b);

// Returns the samples in the order that Profile::samples() promises.
std::vector<ProfileSample> SortedSamples(const SampleMap& samples, const Interner& interner);

// Sorts them so again.
void SortSamples(const Interner& interner, std::vector<ProfileSample>* samples);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_PROFILE_SAMPLES_H_
