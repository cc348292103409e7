// Cuts texts where neither a character nor an escape is cut in two.
#ifndef GOTRACE_UTIL_CUT_TEXT_H_
#define GOTRACE_UTIL_CUT_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns the beginning of `text` of at most `size` bytes that ends between characters, if it is
// UTF-8.
absl::string_view WholePrefix(absl::string_view text, size_t size);

// Returns Quoted(WholePrefix(text, size)), and an ellipsis if that is not all of `text`.
std::string QuotedPrefix(absl::string_view text, size_t size);

// Returns the length of the first character of `shown`, which must not be empty, or of the first
// escape that AppendQuoted() writes. To cut a text that is quoted already.
size_t ShownCharacterSize(absl::string_view shown);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_CUT_TEXT_H_
