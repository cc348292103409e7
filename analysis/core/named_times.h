// Changes NamedTimes as a whole.
#ifndef GOTRACE_ANALYSIS_CORE_NAMED_TIMES_H_
#define GOTRACE_ANALYSIS_CORE_NAMED_TIMES_H_

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "analysis/core/time_sums.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// Returns the times with the ids of their names mapped to another Interner.
inline NamedTimes WithIds(const InternerMap& ids, const NamedTimes& times) {
  std::vector<NamedTime> mapped(times.begin(), times.end());
  for (NamedTime& time : mapped) time.name = ids(time.name);
  return NamedTimes(std::move(mapped));
}

inline void SortByName(const Interner& interner, NamedTimes* times) {
  std::vector<NamedTime> sorted(times->begin(), times->end());
  absl::c_sort(sorted, [&](const NamedTime& a, const NamedTime& b) {
    return interner.String(a.name) < interner.String(b.name);
  });
  *times = NamedTimes(std::move(sorted));
}

inline void SubtractTimes(const NamedTimes& before, NamedTimes* times) {
  for (const NamedTime& time : before) times->Add(time.name, Between(time.time, 0));
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_NAMED_TIMES_H_
