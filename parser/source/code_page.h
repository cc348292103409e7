// The code pages as which programs take bytes for text.
#ifndef GOTRACE_PARSER_SOURCE_CODE_PAGE_H_
#define GOTRACE_PARSER_SOURCE_CODE_PAGE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Each stands for 256 characters.
enum class CodePage : uint8_t {
  kWindows1252,  // Latin-1 too: the two differ only in characters that the other one lacks.
  kOem437,
  kOem850,
};
inline constexpr CodePage kCodePages[] = {CodePage::kWindows1252, CodePage::kOem437,
                                          CodePage::kOem850};

// "code page 437". Static lifetime.
absl::string_view CodePageName(CodePage page);

// Turns characters back into the bytes that a code page has for them.
class CodePageEncoder {
 public:
  explicit CodePageEncoder(CodePage page);

  // The byte that stands for `character`, or -1 if none does.
  int ByteOf(uint32_t character) const { return character < kEnd ? bytes_[character] : kNone; }

 private:
  static constexpr uint32_t kEnd = 0x2700;  // No code page has a character from here on.
  static constexpr int16_t kNone = -1;

  std::vector<int16_t> bytes_;  // By character.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_CODE_PAGE_H_
