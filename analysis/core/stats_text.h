// Statistics as text, for tests, in the format in which testdata/goroutine_stats prints Go's.
#ifndef GOTRACE_ANALYSIS_CORE_STATS_TEXT_H_
#define GOTRACE_ANALYSIS_CORE_STATS_TEXT_H_

#include <string>

#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/task_stats.h"

namespace gotrace::internal {

// Return one line each, with a line break at its end.
std::string TextOf(const Interner& interner, const GoroutineSpan& span);
std::string TextOf(const Interner& interner, const RegionSpan& region);
std::string TextOf(const Interner& interner, const TaskSpan& task);

// Returns the number, the sums and the quantiles of the group.
std::string TextOf(const Interner& interner, const GoroutineGroup& group);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_STATS_TEXT_H_
