// Commands that another command runs.
#ifndef GOTRACE_TOOLS_CLI_INNER_COMMAND_H_
#define GOTRACE_TOOLS_CLI_INNER_COMMAND_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// While an object exists, commands that its thread runs report to it and not on the standard error,
// and end soon after `keep_going` returns false.
class InnerCommand {
 public:
  // `keep_going` may be empty, and must outlive this object. Other threads may call it.
  explicit InnerCommand(const std::function<bool()>& keep_going);
  ~InnerCommand();
  InnerCommand(const InnerCommand&) = delete;
  InnerCommand& operator=(const InnerCommand&) = delete;

  // Returns the object of this thread, or nullptr.
  static InnerCommand* Current();

  // Returns the `keep_going` of this thread's object, or an empty function.
  static std::function<bool()> KeepGoing();

  void Report(absl::string_view message);

  // Returns what was reported.
  const std::string& messages() const { return messages_; }

 private:
  const std::function<bool()>& keep_going_;
  InnerCommand* const outer_;
  std::string messages_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_INNER_COMMAND_H_
