// Finds what kept goroutines that were ready from running, and what the garbage collector and stops
// of the world cost.
#ifndef GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_
#define GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gotrace/event_filter.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/proc_stats.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// What is known of one trace or window, for FindProcCandidates().
struct ProcCandidateInput {
  const ProcStats& procs;
  const GcStats& gc;
  absl::Span<const GoroutineGroup> goroutines;
  EventFilter::Times window;
  int64_t duration = 0;
};

// Returns what can be suspected of few-ps, idle-ps, hog, assists, gc and stopped, in this trace or
// together with others: at most one of each, except for hog, which has one for each function in
// which such goroutines started.
std::vector<TraceSummary::Suspicion> FindProcCandidates(const ProcCandidateInput& input,
                                                        const Interner& interner);

// Returns whether a candidate of these kinds is above the thresholds that only its kind has.
bool IsProcRaised(const TraceSummary::Suspicion& candidate, const TraceSummary& summary);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_
