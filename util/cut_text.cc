#include "util/cut_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace::internal {

absl::string_view WholePrefix(absl::string_view text, size_t size) {
  if (text.size() <= size) return text;
  constexpr size_t kLongest = 4;
  for (size_t begin = size - std::min(size, kLongest - 1); begin < size; ++begin) {
    int length = 0;
    DecodeRune(text.substr(begin), &length);
    if (begin + static_cast<size_t>(length) > size) return text.substr(0, begin);
  }
  return text.substr(0, size);
}

std::string QuotedPrefix(absl::string_view text, size_t size) {
  const absl::string_view prefix = WholePrefix(text, size);
  return absl::StrCat(Quoted(prefix), prefix.size() < text.size() ? "…" : "");
}

size_t ShownCharacterSize(absl::string_view shown) {
  if (shown.front() != '\\') {
    int size = 0;
    DecodeRune(shown, &size);
    return static_cast<size_t>(size);
  }
  const char letter = shown.size() > 1 ? shown[1] : '\0';
  const size_t size = letter == 'x' ? 4 : letter == 'u' ? 6 : letter == 'U' ? 10 : 2;
  return std::min(size, shown.size());
}

}  // namespace gotrace::internal
