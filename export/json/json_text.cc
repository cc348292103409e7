#include "export/json/json_text.h"

#include "absl/strings/escaping.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

bool IsPlain(char c) {
  return static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 0x7F && c != '"' &&
         c != '\\';
}

void AppendControl(uint32_t c, TextBuffer* out) {
  constexpr char kHex[] = "0123456789abcdef";
  out->Append("\\u00");
  out->Append(kHex[c >> 4]);
  out->Append(kHex[c & 0xF]);
}

}  // namespace

void AppendJsonString(absl::string_view text, TextBuffer* out) {
  out->Append('"');
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out->Append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    int size = 0;
    const uint32_t rune = DecodeRune(text, &size);
    if (rune == '"' || rune == '\\') {
      out->Append('\\');
      out->Append(text[0]);
    } else if (rune == '\n') {
      out->Append("\\n");
    } else if (rune == '\t') {
      out->Append("\\t");
    } else if (rune < ' ' || rune == 0x7F) {
      AppendControl(rune, out);
    } else if (size == 1) {
      out->Append("\xEF\xBF\xBD");
    } else {
      out->Append(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  out->Append('"');
}

void AppendFileMembers(absl::string_view name, JsonWriter* json) {
  json->Member("file", name);
  if (!IsUtf8(name)) json->Member("file_base64", absl::string_view(absl::Base64Escape(name)));
}

}  // namespace gotrace::internal
