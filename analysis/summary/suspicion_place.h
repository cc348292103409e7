// The place of a suspicion that is in one line of the program.
#ifndef GOTRACE_ANALYSIS_SUMMARY_SUSPICION_PLACE_H_
#define GOTRACE_ANALYSIS_SUMMARY_SUSPICION_PLACE_H_

#include <string>

#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Sets the place of a suspicion, with all of its cost there. Call it after `lost` is complete.
inline void SetPlace(const WaitPlace& place, const Interner& interner,
                     TraceSummary::Suspicion* suspicion) {
  const auto text = [&](StringId id) { return std::string(interner.String(id)); };
  suspicion->function = text(place.function);
  suspicion->library = text(place.library);
  suspicion->line = place.line;
  suspicion->places.push_back({suspicion->function, suspicion->library, text(place.file),
                               place.line, suspicion->lost.count(), suspicion->Cost()});
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_SUSPICION_PLACE_H_
