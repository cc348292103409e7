#include "gotrace/stack_filter.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "util/text_pattern.h"

namespace gotrace {

absl::StatusOr<StackFilter> StackFilter::Parse(absl::string_view pattern) {
  absl::StatusOr<internal::TextPattern> parsed = internal::TextPattern::Parse(pattern);
  if (!parsed.ok()) return parsed.status();
  StackFilter filter;
  filter.pattern_ = std::make_shared<const internal::TextPattern>(*std::move(parsed));
  return filter;
}

bool StackFilter::Selects(const StackFrame& frame) const {
  return pattern_ == nullptr || pattern_->IsIn(frame.func) ||
         pattern_->IsIn(absl::StrCat(frame.file, ":", frame.line));
}

bool StackFilter::Selects(const Stack& stack) const {
  if (pattern_ == nullptr) return true;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (Selects(stack.frame(i))) return true;
  }
  return false;
}

}  // namespace gotrace
