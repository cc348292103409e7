// The parts that Profile and GoCompatibleProfile share: the times that each type of profile
// samples, and the order of samples.
#ifndef GOTRACE_ANALYSIS_PROFILE_PROFILE_SAMPLES_H_
#define GOTRACE_ANALYSIS_PROFILE_PROFILE_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// The source of the samples of a type.
enum class SampleSource : uint8_t {
  kIntervals,   // The intervals in `states`.
  kWakeUps,     // The intervals in `states` that ended for a known cause.
  kCpuSamples,  // The samples of the CPU profiler, weighted with the intervals in `states`.
  kCreations,   // Goroutines that begin.
  kAssists,     // Ranges of the garbage collector.
};

struct ProfileRow {
  ProfileTypeInfo info;
  SampleSource source;
  uint32_t states;                       // A bit for each GoState.
  bool (*is_reason)(absl::string_view);  // Whether a reason counts; nullptr if all do.
  bool is_cause;  // Whether to use the stack of the cause of the state, if there is one.

  bool HasState(GoState state) const { return (states >> static_cast<unsigned>(state) & 1) != 0; }
};

const ProfileRow& RowOf(ProfileType type);

using SampleMap = absl::flat_hash_map<ProfileKey, ProfileValue>;

// Compares the texts of the frames of two stacks, from the outermost on. Less than 0, 0, or more
// than 0, as for strings.
int CompareStacks(const Interner& interner, StackId a, StackId b);

// Returns the samples in the order of Profile::samples().
std::vector<ProfileSample> SortedSamples(const SampleMap& samples, const Interner& interner);

// Sorts samples in the same order.
void SortSamples(const Interner& interner, std::vector<ProfileSample>* samples);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_PROFILE_PROFILE_SAMPLES_H_
