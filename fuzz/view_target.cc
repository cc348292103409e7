// Fuzzes the requests of a viewer, which any page of a browser could send: lines of the input are
// requests to a TraceView, and the whole input is the head of an HTTP request.
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/synthetic_traces.h"
#include "fuzz/target.h"
#include "gotrace/byte_source.h"
#include "gotrace/trace_view.h"
#include "testing/json_value.h"
#include "tools/serve/http_request.h"
#include "tools/serve/page_server.h"

namespace gotrace::internal {
namespace {

// A small trace of several generations, opened once.
const TraceView& View() {
  static const std::string* const bytes = [] {
    TraceMaker maker({.threads = 3, .goroutines = 12, .generations = 4, .events = 200});
    auto* const all = new std::string();
    for (absl::string_view next = maker.NextGeneration(); !next.empty();
         next = maker.NextGeneration()) {
      absl::StrAppend(all, next);
    }
    return all;
  }();
  static TraceView* const view = [] {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(*bytes);
    FUZZ_CHECK(source.ok(), source.status().ToString());
    TraceViewOptions options;
    options.reader.jobs = 1;
    // So small that generations are decoded again and again.
    options.cache_bytes = 1;
    absl::StatusOr<std::unique_ptr<TraceView>> opened =
        TraceView::Open(*std::move(source), std::move(options));
    FUZZ_CHECK(opened.ok(), opened.status().ToString());
    const absl::Status read = (*opened)->Read();
    FUZZ_CHECK(read.ok(), read.ToString());
    return opened->release();
  }();
  return *view;
}

void CheckRequest(absl::string_view request) {
  const ViewAnswer answer = View().Answer(request);
  FUZZ_CHECK(answer.status == 200 || answer.status == 400 || answer.status == 404,
             absl::StrCat(answer.status, ": ", answer.body));
  FUZZ_CHECK(CheckJson(answer.body).empty(), absl::StrCat(request, ": ", answer.body));
  FUZZ_CHECK(View().Answer(request).body == answer.body, request);
}

// A request without the token gets nothing.
void CheckHead(absl::string_view head) {
  const std::optional<HttpRequest> request = ParseHttpRequest(head);
  if (!request.has_value()) return;
  FUZZ_CHECK(FindHttpHead(head) != 0, "");
  const PageServer server("0123456789abcdef0123456789abcdef", {},
                          [](absl::string_view, const auto&) {
                            return ViewAnswer{200, "text/plain", "secret"};
                          });
  const HttpAnswer answer = server.Answer(*request);
  FUZZ_CHECK(answer.status != 200 ||
                 absl::string_view(head).find("0123456789abcdef") != absl::string_view::npos,
             answer.body);
}

}  // namespace

void RunTarget(absl::string_view input) {
  constexpr size_t kMaxRequests = 20;
  size_t count = 0;
  for (const absl::string_view line : absl::StrSplit(input, '\n')) {
    if (++count > kMaxRequests) break;
    CheckRequest(line);
  }
  CheckHead(input);
}

}  // namespace gotrace::internal
