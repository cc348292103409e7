// The code pages in which programs interpret bytes as text.
#ifndef GOTRACE_PARSER_SOURCE_CODE_PAGE_H_
#define GOTRACE_PARSER_SOURCE_CODE_PAGE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A code page of 256 characters.
enum class CodePage : uint8_t {
  kWindows1252,  // Also Latin-1: each only has characters that the other lacks.
  kOem437,
  kOem850,
};
inline constexpr CodePage kCodePages[] = {CodePage::kWindows1252, CodePage::kOem437,
                                          CodePage::kOem850};

// Returns the name of a code page: "code page 437". Static lifetime.
absl::string_view CodePageName(CodePage page);

// Converts characters back to the bytes of a code page.
class CodePageEncoder {
 public:
  explicit CodePageEncoder(CodePage page);

  // Returns the byte for `character`, or -1 if there is none.
  int ByteOf(uint32_t character) const { return character < kEnd ? bytes_[character] : kNone; }

 private:
  static constexpr uint32_t kEnd = 0x2700;  // Greater than every character of the code pages.
  static constexpr int16_t kNone = -1;

  std::vector<int16_t> bytes_;  // By character.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_CODE_PAGE_H_
