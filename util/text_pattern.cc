#include "util/text_pattern.h"

#include <regex.h>

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

// Returns the pattern with backslashes before the parentheses and the asterisk of a receiver.
// Nothing else can be meant by an asterisk after a parenthesis.
std::string WithReceivers(absl::string_view pattern) {
  std::string text;
  bool is_in_receiver = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      absl::StrAppend(&text, pattern.substr(i, 2));
      ++i;
    } else if (absl::StartsWith(pattern.substr(i), "(*")) {
      text += R"(\(\*)";
      is_in_receiver = true;
      ++i;
    } else if (pattern[i] == ')' && std::exchange(is_in_receiver, false)) {
      text += R"(\))";
    } else {
      text += pattern[i];
    }
  }
  return text;
}

}  // namespace

struct TextPattern::Compiled {
  explicit Compiled(absl::string_view pattern) : text(pattern) {}
  ~Compiled() {
    if (has_regex) regfree(&regex);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  const std::string text;
  regex_t regex;
  bool has_regex = false;
};

absl::StatusOr<TextPattern> TextPattern::Parse(absl::string_view pattern) {
  const auto compiled = std::make_shared<Compiled>(pattern);
  const int error = regcomp(&compiled->regex, WithReceivers(pattern).c_str(), REG_EXTENDED);
  if (error != 0) {
    char reason[256];
    regerror(error, &compiled->regex, reason, sizeof(reason));
    return absl::InvalidArgumentError(absl::StrCat("not a regular expression: ", reason));
  }
  compiled->has_regex = true;
  TextPattern parsed;
  parsed.compiled_ = compiled;
  return parsed;
}

TextPattern TextPattern::ParseOrLiteral(absl::string_view pattern) {
  if (pattern.empty()) return TextPattern();
  absl::StatusOr<TextPattern> parsed = Parse(pattern);
  if (parsed.ok()) return *std::move(parsed);
  TextPattern literal;
  literal.compiled_ = std::make_shared<Compiled>(pattern);
  return literal;
}

bool TextPattern::IsIn(absl::string_view text) const {
  if (compiled_ == nullptr || absl::StrContains(text, compiled_->text)) return true;
  return compiled_->has_regex &&
         regexec(&compiled_->regex, std::string(text).c_str(), 0, nullptr, 0) == 0;
}

bool TextPattern::Matches(absl::string_view text) const {
  if (compiled_ == nullptr || text == compiled_->text) return true;
  if (!compiled_->has_regex) return false;
  // Of the matches that begin first, the longest is found.
  regmatch_t match = {};
  return regexec(&compiled_->regex, std::string(text).c_str(), 1, &match, 0) == 0 &&
         match.rm_so == 0 && static_cast<size_t>(match.rm_eo) == text.size();
}

}  // namespace gotrace::internal
