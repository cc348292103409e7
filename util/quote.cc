#include "util/quote.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/ascii.h"

namespace gotrace::internal {
namespace {

constexpr uint32_t kRuneError = 0xFFFD;
constexpr uint32_t kMaxRune = 0x10FFFF;
constexpr char kHexDigits[] = "0123456789abcdef";

struct RuneRange {
  uint32_t first;
  uint32_t last;
};
constexpr RuneRange kPrintable[] = {
#include "util/printable.inc"
};

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

bool IsSurrogate(uint32_t rune) { return rune >= 0xD800 && rune <= 0xDFFF; }

void AppendHexDigits(uint32_t value, int digits, TextBuffer* out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out->Append(kHexDigits[value >> shift & 0xF]);
  }
}

void AppendUtf8(uint32_t rune, std::string* out) {
  if (rune < 0x80) {
    out->push_back(static_cast<char>(rune));
    return;
  }
  const int continuations = rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out->push_back(static_cast<char>(kLead[continuations] | rune >> (6 * continuations)));
  for (int i = continuations - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | (rune >> (6 * i) & 0x3F)));
  }
}

// The one-letter escapes and their bytes.
struct Escape {
  char letter;
  char byte;
};
constexpr Escape kEscapes[] = {{'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'},
                               {'r', '\r'}, {'t', '\t'}, {'v', '\v'}, {'\\', '\\'}};

void AppendEscaped(uint32_t rune, TextBuffer* out) {
  for (const Escape& escape : kEscapes) {
    if (rune == static_cast<uint8_t>(escape.byte)) {
      out->Append('\\');
      out->Append(escape.letter);
      return;
    }
  }
  if (rune < ' ' || rune == 0x7F) {
    out->Append("\\x");
    AppendHexDigits(rune, 2, out);
  } else if (rune < 0x10000) {
    out->Append("\\u");
    AppendHexDigits(rune, 4, out);
  } else {
    out->Append("\\U");
    AppendHexDigits(rune, 8, out);
  }
}

// The bytes that need no escape in quotes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain = {};
  for (int byte = ' '; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

// Returns the length of the longest prefix of `text` whose bytes need no escape.
size_t PlainPrefix(absl::string_view text) {
  size_t size = 0;
  while (size < text.size() && kPlain[static_cast<uint8_t>(text[size])]) ++size;
  return size;
}

// Appends the first rune of `text`, escaped if necessary, and returns its length in bytes.
int AppendRune(absl::string_view text, TextBuffer* out) {
  int size = 0;
  const uint32_t rune = DecodeRune(text, &size);
  if (size == 1 && rune == kRuneError) {
    out->Append("\\x");
    AppendHexDigits(static_cast<uint8_t>(text[0]), 2, out);
  } else if (rune == '"') {
    out->Append("\\\"");
  } else if (rune != '\\' && IsPrintable(rune)) {
    out->Append(text.substr(0, size));
  } else {
    AppendEscaped(rune, out);
  }
  return size;
}

// Removes `digits` digits of `base` from the front of `*text`. Returns false if there are fewer.
bool TakeDigits(int digits, uint32_t base, absl::string_view* text, uint32_t* value) {
  if (text->size() < static_cast<size_t>(digits)) return false;
  *value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = absl::ascii_tolower((*text)[i]);
    const char* digit = std::find(kHexDigits, kHexDigits + base, c);
    if (digit == kHexDigits + base) return false;
    *value = *value * base + static_cast<uint32_t>(digit - kHexDigits);
  }
  text->remove_prefix(digits);
  return true;
}

// Reads the escape after a backslash, in a literal that `quote` closes.
bool TakeEscape(char quote, absl::string_view* text, std::string* out) {
  if (text->empty()) return false;
  const char letter = text->front();
  uint32_t value = 0;
  if (letter >= '0' && letter <= '7') {
    if (!TakeDigits(3, 8, text, &value) || value > 0xFF) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  text->remove_prefix(1);
  if (letter == 'x') {
    if (!TakeDigits(2, 16, text, &value)) return false;
    out->push_back(static_cast<char>(value));
    return true;
  }
  if (letter == 'u' || letter == 'U') {
    if (!TakeDigits(letter == 'u' ? 4 : 8, 16, text, &value)) return false;
    if (value > kMaxRune || IsSurrogate(value)) return false;
    AppendUtf8(value, out);
    return true;
  }
  if (letter == quote) {
    out->push_back(letter);
    return true;
  }
  for (const Escape& escape : kEscapes) {
    if (letter == escape.letter) {
      out->push_back(escape.byte);
      return true;
    }
  }
  return false;
}

// Reads one character of a literal that `quote` closes.
bool TakeCharacter(char quote, absl::string_view* text, std::string* out) {
  const char c = text->front();
  if (c == '\n' || c == quote) return false;
  if (c == '\\') {
    text->remove_prefix(1);
    return TakeEscape(quote, text, out);
  }
  // Bytes that are not UTF-8 become U+FFFD, as in Go; only an escape can produce such bytes.
  int size = 0;
  AppendUtf8(DecodeRune(*text, &size), out);
  text->remove_prefix(size);
  return true;
}

}  // namespace

bool IsPrintable(uint32_t rune) {
  if (rune < 0x7F) return rune >= ' ';
  const auto* range = std::lower_bound(
      std::begin(kPrintable), std::end(kPrintable), rune,
      [](const RuneRange& candidate, uint32_t value) { return candidate.last < value; });
  return range != std::end(kPrintable) && rune >= range->first;
}

uint32_t DecodeRune(absl::string_view text, int* size) {
  *size = 1;
  const uint8_t lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return lead;
  const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < static_cast<size_t>(length)) return kRuneError;
  uint32_t rune = lead & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return kRuneError;
    rune = rune << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (rune < kSmallest[length] || rune > kMaxRune || IsSurrogate(rune)) return kRuneError;
  *size = length;
  return rune;
}

bool IsSpace(uint32_t rune) {
  return (rune >= '\t' && rune <= '\r') || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
         rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 ||
         rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

void AppendQuoted(absl::string_view text, TextBuffer* out) {
  size_t plain = PlainPrefix(text);
  if (plain == text.size()) {
    out->Append('"', text, '"');
    return;
  }
  out->Append('"', text.substr(0, plain));
  while (plain < text.size()) {
    text.remove_prefix(plain);
    text.remove_prefix(AppendRune(text, out));
    plain = PlainPrefix(text);
    out->Append(text.substr(0, plain));
  }
  out->Append('"');
}

std::string Quoted(absl::string_view text) {
  TextBuffer out;
  AppendQuoted(text, &out);
  return std::string(out.view());
}

std::string QuotedUnlessPlain(absl::string_view text) {
  std::string quoted = Quoted(text);
  return quoted.size() == text.size() + 2 ? std::string(text) : quoted;
}

bool AppendUnquoted(absl::string_view literal, std::string* out) {
  if (literal.size() < 2 || literal.front() != literal.back()) return false;
  const char quote = literal.front();
  absl::string_view text = literal.substr(1, literal.size() - 2);
  if (quote == '`') {
    if (text.find('`') != absl::string_view::npos) return false;
    // Go drops carriage returns from raw strings.
    std::copy_if(text.begin(), text.end(), std::back_inserter(*out),
                 [](char c) { return c != '\r'; });
    return true;
  }
  if (quote != '"' && quote != '\'') return false;
  while (!text.empty()) {
    if (!TakeCharacter(quote, &text, out)) return false;
    if (quote == '\'' && !text.empty()) return false;
  }
  return true;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    int size = 0;
    // U+FFFD itself takes three bytes.
    if (DecodeRune(text, &size) == kRuneError && size == 1) return false;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

void AppendValidUtf8(absl::string_view text, std::string* out) {
  while (!text.empty()) {
    int size = 0;
    const bool is_valid = DecodeRune(text, &size) != kRuneError || size > 1;
    const absl::string_view rune = text.substr(0, static_cast<size_t>(size));
    const absl::string_view appended = is_valid ? rune : "\xEF\xBF\xBD";
    out->append(appended.data(), appended.size());
    text.remove_prefix(rune.size());
  }
}

absl::string_view ValidUtf8(absl::string_view text, std::string* storage) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  storage->clear();
  AppendValidUtf8(text, storage);
  return *storage;
}

}  // namespace gotrace::internal
