// Answers HTTP requests with the page and with what it asks for, and refuses all others.
#ifndef GOTRACE_TOOLS_SERVE_PAGE_SERVER_H_
#define GOTRACE_TOOLS_SERVE_PAGE_SERVER_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/trace_view.h"
#include "tools/serve/http_request.h"
#include "tools/serve/http_server.h"
#include "web/page_files.h"

namespace gotrace::internal {

// Other programs of this machine, and pages of other sites that the browser shows, can reach the
// port, too. So a request must name this machine as its host, since a name that somebody else
// controls could stand for its address; and one for anything of the trace must have the token,
// which only the person who started the program knows.
class PageServer {
 public:
  // Answers what follows /api/ in a target, as TraceView::Answer() does.
  using AnswerFunction =
      std::function<ViewAnswer(absl::string_view request, const std::function<bool()>& keep_going)>;

  // `files` must outlive this object.
  PageServer(std::string token, absl::Span<const PageFile> files, AnswerFunction answer)
      : token_(std::move(token)), files_(files), answer_(std::move(answer)) {}

  // As HttpServer::Handler.
  HttpAnswer Answer(const HttpRequest& request,
                    const std::function<bool()>& keep_going = nullptr) const;

 private:
  HttpAnswer FileAt(absl::string_view path) const;

  const std::string token_;
  const absl::Span<const PageFile> files_;
  const AnswerFunction answer_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_PAGE_SERVER_H_
