// Finds what critical paths show: why the slowest tasks took so long.
#ifndef GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_
#define GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "analysis/tasks/slow_spans.h"
#include "gotrace/interner.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Returns the types of tasks, regions and requests that can be suspected of slow-tasks, in a trace
// of this length.
std::vector<TraceSummary::Suspicion> FindSlowTasks(absl::Span<const SlowSpans::Type> types,
                                                   int64_t duration, const Interner& interner);

// Returns whether a candidate of this kind is above the thresholds that only its kind has.
bool IsPathRaised(const TraceSummary::Suspicion& candidate, const TraceSummary& summary);

// Removes regions that are slow if tasks are, of which they are parts.
void DropRegionsOfTasks(std::vector<TraceSummary::Suspicion>* raised);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_
