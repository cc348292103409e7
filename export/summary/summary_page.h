// Summaries of traces as a page of text.
#ifndef GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_
#define GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/trace_summary.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Returns where most of the cost is: a place in the program or, if Ps were missing, the function in
// which goroutines started that waited for them. Empty if unknown.
TraceSummary::Suspicion::Part MainPlaceOf(const TraceSummary::Suspicion& suspicion);

// Returns what was found, with its numbers, the place and the victims, as one or more sentences.
// `summary` is the one that has the suspicion.
std::string SuspicionText(const TraceSummary::Suspicion& suspicion, const TraceSummary& summary);

// Appends the suspicions of `summary`, most of the cost first, each with its cost for each second
// of the trace and the command that shows more.
void AppendSuspicionRows(absl::Span<const TraceSummary::Suspicion> suspicions,
                         const TraceSummary& summary, size_t width, TextBuffer* out);

// Appends a page of about 40 lines, of at most `width` columns.
void AppendSummaryPage(const TraceSummary& summary, size_t width, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_
