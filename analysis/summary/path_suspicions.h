// Finds what critical paths show: why the slowest tasks took so long, and which goroutines others
// wait for that pass work on to them.
#ifndef GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_
#define GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "analysis/summary/suspicions.h"
#include "analysis/tasks/slow_spans.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Returns the types of tasks, regions and requests that can be suspected of slow-tasks, in a trace
// of this length.
std::vector<TraceSummary::Suspicion> FindSlowTasks(absl::Span<const SlowSpans::Type> types,
                                                   int64_t duration, const Interner& interner);

// Returns what goroutines did while others waited for them: their state, or the reason why they
// waited or stopped, as Part::reason has it.
std::string DoingOf(const WaitHolder& holder, const Interner& interner);

// Returns the same as a culprit.
TraceSummary::Suspicion::Part CulpritOf(const WaitHolder& holder, const Interner& interner);

// What is known of one trace or window, for FindStages().
struct StageInput {
  absl::Span<const WaitHolder> holders;
  absl::Span<const WaitGroup> waits;
  absl::Span<const GoroutineGroup> goroutines;
  const Creations& creations;
  int64_t duration = 0;
};

// Returns the functions whose goroutines others wait for, to send to a channel or to receive:
// stages of pipelines, and pools of workers. Evidence is that others wait to send, since all
// receivers of an idle program wait.
std::vector<TraceSummary::Suspicion> FindStages(const StageInput& input, const Interner& interner);

// Returns whether a candidate of these kinds is above the thresholds that only its kind has.
bool IsPathRaised(const TraceSummary::Suspicion& candidate, const TraceSummary& summary);

// Removes regions that are slow if tasks are, of which they are parts.
void DropRegionsOfTasks(std::vector<TraceSummary::Suspicion>* raised);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_PATH_SUSPICIONS_H_
