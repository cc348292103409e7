// Chooses the answers of a viewer that a report holds.
#ifndef GOTRACE_TOOLS_SERVE_REPORT_ANSWERS_H_
#define GOTRACE_TOOLS_SERVE_REPORT_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/trace_view.h"

namespace gotrace::internal {

struct ReportOptions {
  // The window of tables and profiles, since the begin of the trace.
  int64_t from = 0;
  int64_t to = 0;

  bool is_whole = true;   // Whether that is the whole trace.
  uint64_t max_size = 0;  // Of the result, in bytes, at most.
};

// Returns a JSON object with answers: the names of its members are the requests as the page makes
// them, and the values are the answers, compressed by gzip, in Base64. `ask` is called for each, as
// TraceView::Answer(). What matters most comes first: all tables and profiles, the timeline of the
// whole trace, then the places that the summary names with all their details, and at last the
// timeline of the window, deeper and deeper until there is no more room. The same trace gives the
// same text, which can be in a script of a page.
std::string ReportAnswers(const std::function<ViewAnswer(absl::string_view request)>& ask,
                          const ReportOptions& options);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_REPORT_ANSWERS_H_
