// Summaries of traces as JSON, which can be read again and merged.
#ifndef GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_
#define GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Appends the members of the open object that docs/summary.schema.json describes.
void AppendSummaryMembers(const TraceSummary& summary, JsonWriter* json);

// Reads an object that has these members, and any others. Returns an error with the place if one of
// them is missing or invalid, or NotFoundError if the object is instead about a trace that could
// not be read.
absl::StatusOr<TraceSummary> ParseSummary(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUMMARY_JSON_H_
