// Go string literals: the counterparts of strconv.Quote and strconv.Unquote. Both the text form
// (FORMAT.md §12) and the text of events use them.
#ifndef GOTRACE_UTIL_QUOTE_H_
#define GOTRACE_UTIL_QUOTE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends `text` in double quotes. Printable runes are copied; others, and bytes that are not
// UTF-8, are escaped as by strconv.Quote of Go 1.27.
void AppendQuoted(absl::string_view text, TextBuffer* out);

// Returns `text` in double quotes, for messages, since a name from a trace may contain anything.
std::string Quoted(absl::string_view text);

// Returns `text` unchanged, or Quoted(text) if that has escapes, so that it cannot break the line
// or send escape sequences to a terminal. For file names in messages.
std::string QuotedUnlessPlain(absl::string_view text);

// Appends the value of the Go literal `literal`: a string in double quotes or back quotes, or one
// rune in single quotes (or none, which Go also accepts). Bytes that are not UTF-8 become U+FFFD
// except in back quotes. Returns false, with `*out` unspecified, if it is not such a literal.
bool AppendUnquoted(absl::string_view literal, std::string* out);

// Returns whether Go 1.27 considers `rune` printable (strconv.IsPrint): letters, marks, numbers,
// punctuation, symbols, and the space U+0020.
bool IsPrintable(uint32_t rune);

// Returns the first rune of `text`, which must not be empty, and stores its length in bytes. A byte
// that does not begin valid UTF-8 gives U+FFFD with a length of 1, as in Go's utf8.DecodeRune.
uint32_t DecodeRune(absl::string_view text, int* size);

// Returns whether all bytes of `text` are UTF-8.
bool IsUtf8(absl::string_view text);

// Appends `text`, with U+FFFD for each byte that is not UTF-8.
void AppendValidUtf8(absl::string_view text, std::string* out);

// Returns `text` with U+FFFD for each byte that is not UTF-8: `text` itself, or `*storage`, which
// it then sets.
absl::string_view ValidUtf8(absl::string_view text, std::string* storage);

// Returns whether Go's unicode.IsSpace holds for `rune`.
bool IsSpace(uint32_t rune);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_QUOTE_H_
