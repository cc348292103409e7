// Formats validation reports as text and as JSON.
#ifndef GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_
#define GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/trace_list.h"
#include "gotrace/validate.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends one or more lines for each finding, one line for each check with more findings than were
// kept, and the verdict with the amount of the trace that is good. Every line that is not indented
// begins with `name`, the name of the file. Unless `with_notes`, notes are only counted, on one
// line.
void AppendReport(absl::string_view name, const ValidationReport& report, bool with_notes,
                  TextBuffer* out);

// Appends the report as one JSON object on a line: docs/validate.schema.json describes it.
void AppendReportJson(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// Appends a line for a file in a directory that is skipped, with ValidationReport::WhySkipped().
void AppendSkipped(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// Appends the report of a skipped file like AppendReportJson(), with the verdict "skipped".
void AppendSkippedJson(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// The same for a file that has no trace with the selected number. In JSON the verdict is
// "no-such-trace". Requires that the report's status is an InvalidArgumentError, which becomes the
// member "error".
void AppendNoSuchTraceJson(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// Adds the member "traces" to an object, unless there are none.
void AppendTracesJson(const std::vector<TraceSpan>& traces, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_
