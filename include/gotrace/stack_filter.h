// Selects stacks by a regular expression.
#ifndef GOTRACE_STACK_FILTER_H_
#define GOTRACE_STACK_FILTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"

namespace gotrace::internal {
class TextPattern;
}  // namespace gotrace::internal

namespace gotrace {

// A condition that a stack meets if one of its frames does. Copies are cheap, and may be used by
// several threads.
class StackFilter {
 public:
  // Makes a condition that every stack meets, also one without frames.
  StackFilter() = default;

  // Makes a condition that a frame meets if `pattern`, an extended regular expression of POSIX,
  // matches a part of its function's name, or of its file and line, as in "/src/main.go:12". The
  // pattern also stands for its own text, and the receiver in the name of a method needs no
  // backslashes: "main.(*Cache).Get". Fails if it is not a regular expression.
  static absl::StatusOr<StackFilter> Parse(absl::string_view pattern);

  // Returns whether there is no condition.
  bool MatchesAll() const { return pattern_ == nullptr; }

  // Return whether a frame, or one of the frames of a stack, meets the condition. Both take some
  // microseconds.
  bool Selects(const StackFrame& frame) const;
  bool Selects(const Stack& stack) const;

 private:
  std::shared_ptr<const internal::TextPattern> pattern_;
};

}  // namespace gotrace

#endif  // GOTRACE_STACK_FILTER_H_
