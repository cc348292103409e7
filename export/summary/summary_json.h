// The members of a summary of traces in JSON.
#ifndef GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_
#define GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_

#include "absl/types/span.h"
#include "export/json/json_text.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Appends the members of the open object that docs/summary.schema.json describes.
void AppendSummaryMembers(const TraceSummary& summary, JsonWriter* json);

// Appends the suspicions of `summary` as an array of objects, as that schema has them.
void AppendSuspicions(absl::Span<const TraceSummary::Suspicion> suspicions,
                      const TraceSummary& summary, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_
