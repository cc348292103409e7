// Answers requests of the viewer with the output of the program's own commands.
#ifndef GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_
#define GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

  // Reads another trace from now on. Call it while no other function runs.
  void SetFile(std::string file) {
    file_ = std::move(file);
    last_profile_ = nullptr;
  }

  // As TraceViewOptions::answer_more. Runs one command at a time.
  ViewAnswer Answer(absl::string_view path, absl::Span<const ViewParameter> parameters,
                    const std::function<bool()>& keep_going = nullptr) const;

 private:
  struct Result {
    absl::Status status;
    std::string bytes;
  };
  class Turn;

  // Runs a command line. If the trace is broken, the output is that of everything before the fault.
  Result Run(std::vector<std::string> words, const std::function<bool()>& keep_going) const;

  // Returns the command and the flags for parameters with the same names.
  absl::StatusOr<std::vector<std::string>> WordsFor(
      absl::string_view command, absl::Span<const ViewParameter> parameters) const;

  // Answers with the output of a command, which gets the words `more`, too.
  ViewAnswer AnswerOf(absl::string_view command, absl::Span<const ViewParameter> parameters,
                      absl::Span<const absl::string_view> more, absl::string_view media_type,
                      const std::function<bool()>& keep_going) const;

  // Returns the stacks of a profile. Those of the last one are kept: the page asks for callers and
  // for callees.
  ViewAnswer ProfileOf(const std::vector<ViewParameter>& parameters,
                       const std::function<bool()>& keep_going) const;
  ViewAnswer AnswerFlame(absl::Span<const ViewParameter> parameters,
                         const std::function<bool()>& keep_going) const;
  ViewAnswer AnswerTime(absl::Span<const ViewParameter> parameters) const;
  ViewAnswer AnswerSql(absl::Span<const ViewParameter> parameters,
                       const std::function<bool()>& keep_going) const;
  ViewAnswer AnswerSave(absl::Span<const ViewParameter> parameters,
                        const std::function<bool()>& keep_going) const;

  std::string file_;
  const std::string name_;

  // Whether a command runs.
  mutable std::mutex mutex_;
  mutable std::condition_variable has_ended_;
  mutable bool is_running_ = false;

  struct KeptProfile {
    std::vector<ViewParameter> parameters;
    ViewAnswer answer;
  };
  mutable std::mutex profile_mutex_;
  mutable std::shared_ptr<const KeptProfile> last_profile_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_COMMAND_ANSWERS_H_
