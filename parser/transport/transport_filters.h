// Filters that undo what the way of a trace did to its bytes, one for each kind.
#ifndef GOTRACE_PARSER_TRANSPORT_TRANSPORT_FILTERS_H_
#define GOTRACE_PARSER_TRANSPORT_TRANSPORT_FILTERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "parser/source/code_page.h"
#include "parser/source/filter_stream.h"

namespace gotrace::internal {

// UTF-16 to UTF-8. The byte order mark must be gone.
std::unique_ptr<Filter> MakeUtf16Filter(bool big_endian);

// UTF-8 to the bytes that `page` has for its characters.
std::unique_ptr<Filter> MakeCodePageFilter(CodePage page);

// The body of an HTTP message in chunks to what they hold.
std::unique_ptr<Filter> MakeChunkedFilter();

// What stands before the first `delimiter`.
std::unique_ptr<Filter> MakeDelimitedFilter(std::string delimiter);

// The inside of a JSON string, from behind its first quote on, to its content in UTF-8. A surrogate
// without its other half becomes U+FFFD.
std::unique_ptr<Filter> MakeJsonFilter();

// Base64, of the standard alphabet or the one for URLs, to bytes. White space is left out. It ends
// with its padding, with a quote, or with a line that begins with "-----".
std::unique_ptr<Filter> MakeBase64Filter();

// Bytes in hexadecimal, one after the other: "676f20", "67 6f 20", "0x67, 0x6f, 0x20",
// "\x67\x6f\x20". It ends with a brace or a quote.
std::unique_ptr<Filter> MakeHexFilter();

// How the lines of a dump show their offsets and bytes.
struct HexDumpForm {
  int offset_base = 16;        // 8, 10 or 16.
  bool colon = false;          // Whether one stands behind the offset, and two spaces before text.
  size_t word_size = 1;        // Bytes of a number, of which
  bool little_endian = false;  // the first one stands last if there are several.
};

// The form of the dump that `begin` begins with, or nullopt if it is none. More than the first two
// lines are not looked at.
std::optional<HexDumpForm> FindHexDumpForm(absl::string_view begin);

// A dump in hexadecimal, as xxd, hexdump, od and Go's encoding/hex print it. Lines left out, for
// which a "*" stands, are put back.
std::unique_ptr<Filter> MakeHexDumpFilter(const HexDumpForm& form);

// The value of a hexadecimal digit, or -1.
int HexDigit(char c);

// Appends `character` in UTF-8.
void AppendUtf8(uint32_t character, std::string* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_TRANSPORT_TRANSPORT_FILTERS_H_
