// Stops a command that another one runs.
#ifndef GOTRACE_TOOLS_CLI_KEEP_GOING_H_
#define GOTRACE_TOOLS_CLI_KEEP_GOING_H_

#include <functional>

namespace gotrace::internal {

// While an object exists, commands that its thread runs end soon after `keep_going` returns false,
// and do not report that as an error.
class KeepGoingScope {
 public:
  // `keep_going` may be empty, and must outlive this object. Other threads may call it.
  explicit KeepGoingScope(const std::function<bool()>& keep_going);
  ~KeepGoingScope();
  KeepGoingScope(const KeepGoingScope&) = delete;
  KeepGoingScope& operator=(const KeepGoingScope&) = delete;

  // Returns the function of the scope that this thread is in, or an empty one.
  static std::function<bool()> Current();

 private:
  const std::function<bool()>* const outer_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_KEEP_GOING_H_
