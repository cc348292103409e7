// A validation report as text and as JSON.
#ifndef GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_
#define GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/trace_list.h"
#include "gotrace/validate.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends a line or more for each finding, one for each check that has more findings than were
// kept, and the verdict with how much of the trace is good. Every line of its own begins with
// `name`, that of the file.
void AppendReport(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// Appends the report as one JSON object on a line: docs/validate.schema.json describes it.
void AppendReportJson(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// The same for a file that nobody called a trace and that is none, as ValidationReport::foreign
// tells: one line says what it is, and its JSON has the verdict "skipped".
void AppendSkipped(absl::string_view name, const ValidationReport& report, TextBuffer* out);
void AppendSkippedJson(absl::string_view name, const ValidationReport& report, TextBuffer* out);

// Adds the member "traces" to an object, unless there are none.
void AppendTracesJson(const std::vector<TraceSpan>& traces, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_REPORT_REPORT_TEXT_H_
