// Answers requests of the viewer with the output of the program's own commands.
#ifndef GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_
#define GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_

#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/trace_view.h"

namespace gotrace::internal {

class CommandAnswers {
 public:
  // `file` is the trace that the commands read, which can be opened any number of times, and `name`
  // what its answers call it.
  CommandAnswers(std::string file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  // As TraceViewOptions::answer_more. Runs one command at a time.
  ViewAnswer Answer(absl::string_view path, absl::Span<const ViewParameter> parameters) const;

 private:
  const std::string file_;
  const std::string name_;
  mutable std::mutex mutex_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_
