// Filters that undo damage in transport, one for each kind.
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

// Converts UTF-16, without a byte order mark, to UTF-8.
std::unique_ptr<Filter> MakeUtf16Filter(bool big_endian);

// Converts UTF-8 to the bytes of its characters in `page`.
std::unique_ptr<Filter> MakeCodePageFilter(CodePage page);

// Converts the body of an HTTP message in chunked encoding to the contents of the chunks.
std::unique_ptr<Filter> MakeChunkedFilter();

// Returns everything before the first `delimiter`.
std::unique_ptr<Filter> MakeDelimitedFilter(std::string delimiter);

// Converts the inside of a JSON string, starting after its opening quote, to its content in UTF-8.
// A surrogate without its other half becomes U+FFFD.
std::unique_ptr<Filter> MakeJsonFilter();

// Decodes base64, in the standard or the URL alphabet. White space is skipped. Ends at padding, a
// quote, or a line that begins with "-----".
std::unique_ptr<Filter> MakeBase64Filter();

// Decodes consecutive bytes in hexadecimal: "676f20", "67 6f 20", "0x67, 0x6f, 0x20",
// "\x67\x6f\x20". Ends at a brace or a quote.
std::unique_ptr<Filter> MakeHexFilter();

// The layout of the lines of a hex dump.
struct HexDumpForm {
  int offset_base = 16;        // 8, 10 or 16.
  bool colon = false;          // Whether a colon follows the offset, and two spaces precede text.
  size_t word_size = 1;        // The number of bytes in each number.
  bool little_endian = false;  // Whether the first of these bytes is printed last.
};

// Returns the layout of the hex dump with which `begin` begins, or nullopt if it is not a hex dump.
// Looks at no more than the first two lines.
std::optional<HexDumpForm> FindHexDumpForm(absl::string_view begin);

// Decodes a hex dump as printed by xxd, hexdump, od and Go's encoding/hex. Repeated lines, which
// are abbreviated as "*", are restored.
std::unique_ptr<Filter> MakeHexDumpFilter(const HexDumpForm& form);

// Returns the value of a hexadecimal digit, or -1.
int HexDigit(char c);

// Appends `character` in UTF-8.
void AppendUtf8(uint32_t character, std::string* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_TRANSPORT_TRANSPORT_FILTERS_H_
