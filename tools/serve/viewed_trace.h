// A trace that is opened to be looked at, with the answers of the library and of commands.
#ifndef GOTRACE_TOOLS_SERVE_VIEWED_TRACE_H_
#define GOTRACE_TOOLS_SERVE_VIEWED_TRACE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gotrace/trace_view.h"
#include "tools/cli/shared_flags.h"
#include "tools/serve/command_answers.h"
#include "tools/serve/seekable_trace.h"

namespace gotrace::internal {

class ViewedTrace {
 public:
  // Opens the trace in `file`; notes on it go to the standard error. A broken trace is repaired
  // while it is read. Reading ends early once `keep_going`, which may be empty, returns false.
  // `cache_bytes` are those of the TraceView.
  static absl::StatusOr<std::unique_ptr<ViewedTrace>> Open(
      const std::string& file, const InputFlags& input, const std::function<bool()>& keep_going,
      size_t cache_bytes = TraceViewOptions().cache_bytes);

  TraceView& view() { return *view_; }
  const CommandAnswers& commands() const { return commands_; }

 private:
  ViewedTrace(const std::string& path, const std::string& name) : commands_(path, name) {}

  CommandAnswers commands_;
  std::unique_ptr<TraceView> view_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_VIEWED_TRACE_H_
