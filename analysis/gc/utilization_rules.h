// What MutatorUtilization and GoCompatibleUtilization have in common.
#ifndef GOTRACE_ANALYSIS_GC_UTILIZATION_RULES_H_
#define GOTRACE_ANALYSIS_GC_UTILIZATION_RULES_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/mutator_utilization.h"

namespace gotrace::internal {

// More Ps than any machine has. A trace that states more is damaged.
inline constexpr uint64_t kMaxUtilizationProcs = 1 << 12;

// The maximum length of a series, 146 years, so that its times can be subtracted.
inline constexpr uint64_t kMaxUtilizationDuration = uint64_t{1} << 62;

// Returns whether the world is stopped for the GC.
inline bool IsGcStop(const Event& stop) {
  return absl::StrContains(stop.range_parts().reason, "GC");
}

// Returns whether the label belongs to a mark worker that takes a P from the program.
inline bool IsWorker(absl::string_view label, const MutatorUtilization::Options& options) {
  if (!options.background || !absl::StartsWith(label, "GC ") || label == "GC (idle)") return false;
  return !options.per_proc || label != "GC (dedicated)";
}

// Returns the utilization while `busy` of `procs` Ps work for the GC.
inline double UtilizationOf(size_t busy, size_t procs) {
  return 1 - static_cast<double>(busy) / static_cast<double>(procs);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GC_UTILIZATION_RULES_H_
