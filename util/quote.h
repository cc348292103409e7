// Strings as Go writes them in its source: what strconv.Quote and strconv.Unquote do. Both the text
// form (FORMAT.md §12) and the text of events use them.
#ifndef GOTRACE_UTIL_QUOTE_H_
#define GOTRACE_UTIL_QUOTE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends `text` in double quotes. Printable runes stand as they are; others, and bytes that are
// not UTF-8, become escapes, the same ones as strconv.Quote of Go 1.27 chooses.
void AppendQuoted(absl::string_view text, TextBuffer* out);

// The same as a string, for messages: a name from a trace may hold anything.
std::string Quoted(absl::string_view text);

// `text` as it is, or Quoted() if that has escapes, so that it breaks no line and tells a terminal
// nothing: for names of files in messages, which may hold anything but mostly are plain.
std::string QuotedUnlessPlain(absl::string_view text);

// Appends what the Go literal `literal` stands for: a string in double quotes or in back quotes, or
// in single quotes one rune, or none, which Go accepts too. Bytes that are not UTF-8 become U+FFFD
// except in back quotes. Returns false, with `*out` unspecified, if it is not such a literal.
bool AppendUnquoted(absl::string_view literal, std::string* out);

// Whether Go 1.27 calls `rune` printable (strconv.IsPrint): letters, marks, numbers, punctuation,
// symbols, and the space U+0020.
bool IsPrintable(uint32_t rune);

// Reads the first rune of `text`, which must not be empty, and stores its length in bytes. A byte
// that begins no valid UTF-8 gives U+FFFD with a length of 1, as Go's utf8.DecodeRune does.
uint32_t DecodeRune(absl::string_view text, int* size);

// Whether Go's unicode.IsSpace holds for `rune`.
bool IsSpace(uint32_t rune);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_QUOTE_H_
