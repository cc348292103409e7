// Patterns with which people select names.
#ifndef GOTRACE_UTIL_TEXT_PATTERN_H_
#define GOTRACE_UTIL_TEXT_PATTERN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// An extended regular expression of POSIX. It also stands for its own text, and the receiver in the
// name of a method is taken as it is, so that names of Go's functions need no backslashes:
// main.(*Cache).Get. Copies share the compiled expression, and may be used by several threads.
class TextPattern {
 public:
  // Matches every text.
  TextPattern() = default;

  // Fails if `pattern` is not a regular expression.
  static absl::StatusOr<TextPattern> Parse(absl::string_view pattern);

  // Returns the pattern, or if it is not a regular expression one that only stands for its text. ""
  // matches every text.
  static TextPattern ParseOrLiteral(absl::string_view pattern);

  bool MatchesAll() const { return compiled_ == nullptr; }

  // Returns whether the pattern matches a part of `text`.
  bool IsIn(absl::string_view text) const;

  // Returns whether the pattern matches all of `text`.
  bool Matches(absl::string_view text) const;

 private:
  struct Compiled;

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_TEXT_PATTERN_H_
