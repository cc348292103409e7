// Finds what may make a program slow, from the places where its goroutines waited.
#ifndef GOTRACE_ANALYSIS_SUMMARY_SUSPICIONS_H_
#define GOTRACE_ANALYSIS_SUMMARY_SUSPICIONS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "gotrace/interner.h"
#include "gotrace/leak_stats.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// The functions in which goroutines started, each with one in which goroutines started that these
// created.
using Creations = absl::flat_hash_set<std::pair<StringId, StringId>>;

// What is known of one trace or window, for FindCandidates().
struct CandidateInput {
  absl::Span<const WaitGroup> waits;
  absl::Span<const WaitHolder> holders;
  absl::Span<const WaitTask> tasks;
  absl::Span<const BlockedGoroutine> blocked;
  const Creations& creations;
  int64_t begin = 0;
  int64_t duration = 0;
};

// Returns all places that can be suspected of something in this trace or together with others, each
// once, in no particular order.
std::vector<TraceSummary::Suspicion> FindCandidates(const CandidateInput& input,
                                                    const Interner& interner);

// Returns whether a candidate of a summary is above all thresholds.
bool IsRaised(const TraceSummary::Suspicion& candidate, const TraceSummary& summary);

// Removes waits for answers of the program itself, by the network or not, if another suspicion
// names the function in which those that answer spend most of the time; and pools if goroutines
// that started elsewhere have what the others wait for, which are suspected as well.
void DropExplained(std::vector<TraceSummary::Suspicion>* raised);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_SUSPICIONS_H_
