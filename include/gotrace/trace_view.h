// Answers what a viewer of a trace asks: what lanes did in a window of time, at any zoom, and why.
#ifndef GOTRACE_TRACE_VIEW_H_
#define GOTRACE_TRACE_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"

namespace gotrace {

// The answer to a request.
struct ViewAnswer {
  int status = 200;        // As in HTTP: 200, 400, 404, 500 or 503.
  std::string media_type;  // "application/json".
  std::string body;
  std::string file_name = "";  // If it is to be saved: how the file is called.
};

// A parameter of a request: its name, and its value without the encoding of URLs.
using ViewParameter = std::pair<std::string, std::string>;

// What could be saved of a broken trace.
struct RepairedTrace {
  std::unique_ptr<ByteSource> source;  // Of a sound trace, which can be read from any place.
  std::string remark;                  // What is missing, for the person who looks at it.
};

struct TraceViewOptions {
  // How to read the trace. All cores by default; keep_going can stop TraceView::Read().
  ReaderOptions reader;

  // The name of the trace in answers.
  std::string name;

  // A remark on the trace for the person who looks at it; "" for none.
  std::string note;

  // How much memory the generations that were looked at last may take, in bytes. The latest one is
  // always kept.
  size_t cache_bytes = size_t{128} << 20;

  // Called by TraceView::Read() if the trace has a fault: returns what can be saved, which is then
  // shown instead of the trace. If it is not set or fails, everything before the fault is shown.
  std::function<absl::StatusOr<RepairedTrace>()> repair;

  // Answers requests that need more than this library: tables, profiles, events and the like.
  // `path` is that of the request, and `parameters` are among those that TraceView::Requests()
  // lists; "from", "to" and "at" are times of the trace's clock, after an @. If it is not set, such
  // requests have the status 404. `keep_going` is that of TraceView::Answer(). Called by several
  // threads at once.
  std::function<ViewAnswer(absl::string_view path, absl::Span<const ViewParameter> parameters,
                           const std::function<bool()>& keep_going)>
      answer_more;
};

// One trace, opened to be looked at. A request is a path with parameters, such as
// "lanes?ids=p:0,p:1&from=0&to=1200335745"; docs/serve-api.md describes all of them. Knows nothing
// of how requests and answers are transported.
//
// Memory is in proportion to the Ps, to the functions in which goroutines started, to the number of
// goroutines, and to the intervals that cross from one generation to another; and
// TraceViewOptions::cache_bytes.
class TraceView {
 public:
  // A request that Answer() knows.
  struct Request {
    absl::string_view path;                     // "lanes".
    std::vector<absl::string_view> parameters;  // "ids", "from".
    bool needs_more = false;                    // Whether TraceViewOptions::answer_more answers it.
  };

  // Opens the trace in `source`, and finds its generations. Fails as TraceIndex::Build() does: with
  // kUnavailable if the bytes can be read only once.
  static absl::StatusOr<std::unique_ptr<TraceView>> Open(std::unique_ptr<ByteSource> source,
                                                         TraceViewOptions options);

  ~TraceView();
  TraceView(const TraceView&) = delete;
  TraceView& operator=(const TraceView&) = delete;

  // Reads the whole trace once, on all cores, and again what is repaired. Meanwhile, Answer() knows
  // the strip, the lanes of Ps and groups, and the marks of what is read so far, in less detail;
  // and little else. Returns the status of reading the trace itself. Call it once.
  absl::Status Read();

  // Answers a request. Every text is allowed, also nonsense. `keep_going` may be empty; otherwise
  // it is called now and then, also by other threads, and once it returns false, the answer is
  // given up, with the status 503. It must not return true again. May be called by several threads
  // at once, also during Read().
  ViewAnswer Answer(absl::string_view request,
                    const std::function<bool()>& keep_going = nullptr) const;

  // Returns all requests that there are, in the order of docs/serve-api.md.
  static std::vector<Request> Requests();

 private:
  class Impl;
  explicit TraceView(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_VIEW_H_
