// Writes summaries of traces as text and as JSON, and reads that JSON again.
#ifndef GOTRACE_SUMMARY_WRITER_H_
#define GOTRACE_SUMMARY_WRITER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/trace_summary.h"

namespace gotrace {

// Returns a page of about 40 lines, of at most `width` columns, as `gotrace-dump summary` prints
// it. Its last part lists possible problems.
std::string FormatSummary(const TraceSummary& summary, size_t width = 100);

// Returns the summary as one JSON object and a newline; docs/summary.schema.json describes it. The
// object has no member for the name of a file.
std::string FormatSummaryJson(const TraceSummary& summary);

// Reads the JSON of a summary, so that it can be merged with others. Accepts an object that has the
// members of FormatSummaryJson(), and any others. Returns kInvalidArgument with the place if one of
// them is missing or invalid, or kNotFound if the object is instead about a trace that could not be
// read.
absl::StatusOr<TraceSummary> ParseSummary(absl::string_view text);

}  // namespace gotrace

#endif  // GOTRACE_SUMMARY_WRITER_H_
