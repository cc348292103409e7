// Summaries of traces as a page of text.
#ifndef GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_
#define GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/trace_summary.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// A problem of the Ps, the collector or the scheduler that a summary may show.
struct Hint {
  std::string what;           // A sentence.
  absl::string_view command;  // Shows more. Without the names of the program and the file.
};

// Returns possible problems, worst first: too few Ps, Ps that are idle while goroutines wait,
// goroutines that keep a P, slow stops of the world, a busy garbage collector.
std::vector<Hint> FindHints(const TraceSummary& summary);

// Returns what was found, with its numbers, the place and the victims, as one or more sentences.
std::string SuspicionText(const TraceSummary::Suspicion& suspicion);

// Appends a page of about 40 lines, of at most `width` columns.
void AppendSummaryPage(const TraceSummary& summary, size_t width, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUMMARY_PAGE_H_
