#include "parser/transport/transport_filters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }
uint32_t JoinSurrogates(uint32_t high, uint32_t low) {
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

// Formats `c` for a message.
std::string Shown(char c) { return Quoted(absl::string_view(&c, 1)); }

class Utf16Filter final : public Filter {
 public:
  explicit Utf16Filter(bool big_endian) : big_endian_(big_endian) {}

  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    size_t pos = 0;
    while (pos + 2 <= input.size()) {
      uint32_t unit = UnitAt(input, pos);
      size_t size = 2;
      if (IsHighSurrogate(unit)) {
        if (pos + 4 > input.size() && !at_end) break;
        const uint32_t low = pos + 4 <= input.size() ? UnitAt(input, pos + 2) : 0;
        size = IsLowSurrogate(low) ? 4 : 2;
        unit = IsLowSurrogate(low) ? JoinSurrogates(unit, low) : kReplacement;
      } else if (IsLowSurrogate(unit)) {
        unit = kReplacement;
      }
      AppendUtf8(unit, output);
      pos += size;
    }
    return pos;
  }

 private:
  uint32_t UnitAt(absl::string_view input, size_t pos) const {
    const uint32_t first = static_cast<uint8_t>(input[pos]);
    const uint32_t second = static_cast<uint8_t>(input[pos + 1]);
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }

  const bool big_endian_;
};

class CodePageFilter final : public Filter {
 public:
  explicit CodePageFilter(CodePage page) : page_(page), encoder_(page) {}

  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    size_t pos = 0;
    while (pos < input.size()) {
      if (static_cast<uint8_t>(input[pos]) < 0x80) {
        output->push_back(input[pos++]);
        continue;
      }
      int size = 0;
      const uint32_t character = DecodeRune(input.substr(pos), &size);
      const int byte = encoder_.ByteOf(character);
      if (byte >= 0) {
        output->push_back(static_cast<char>(byte));
        pos += size;
        continue;
      }
      constexpr size_t kMaxCharacterSize = 4;
      const bool is_cut = size == 1 && input.size() - pos < kMaxCharacterSize;
      if (is_cut && !at_end) break;
      // A character that is cut off at the end of the input is ignored.
      if (is_cut && IsUtf8Prefix(input.substr(pos))) return input.size();
      Fail(absl::StrCat("expected a character of ", CodePageName(page_), " in UTF-8, found ",
                        Quoted(input.substr(pos, size))));
      break;
    }
    return pos;
  }

 private:
  // Returns whether `bytes` are the beginning of a character.
  static bool IsUtf8Prefix(absl::string_view bytes) {
    const uint8_t first = static_cast<uint8_t>(bytes[0]);
    const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    return first >= 0xc2 && first < 0xf5 && bytes.size() < size &&
           std::all_of(bytes.begin() + 1, bytes.end(),
                       [](char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; });
  }

  const CodePage page_;
  const CodePageEncoder encoder_;
};

class ChunkedFilter final : public Filter {
 public:
  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    if (left_ > 0) {
      const absl::string_view data = input.substr(0, std::min<uint64_t>(left_, input.size()));
      output->append(data.data(), data.size());
      left_ -= data.size();
      behind_data_ = true;
      return data.size();
    }
    size_t pos = 0;
    if (behind_data_) {
      if (input.substr(0, 2) == "\r" && !at_end) return 0;
      if (!SkipLineEnd(input, &pos)) {
        if (!input.empty() && input != "\r") {
          Fail(absl::StrCat("expected the end of a line after a chunk, found ", Shown(input[0])));
        }
        return 0;
      }
    }
    const size_t end = input.find('\n', pos);
    if (end == input.npos) {
      if (input.size() - pos > kMaxLine) Fail("expected a chunk size, found a long line");
      return 0;
    }
    if (!ParseSize(input.substr(pos, end - pos))) {
      Fail(absl::StrCat("expected a chunk size, found ",
                        Quoted(input.substr(pos, std::min<size_t>(end - pos, 40)))));
      return 0;
    }
    behind_data_ = false;
    // Only trailers follow the last chunk.
    if (left_ == 0) Finish();
    return end + 1;
  }

 private:
  static constexpr size_t kMaxLine = 16 << 10;

  static bool SkipLineEnd(absl::string_view input, size_t* pos) {
    const absl::string_view at_first = input;
    absl::ConsumePrefix(&input, "\r");
    if (!absl::ConsumePrefix(&input, "\n")) return false;
    *pos = at_first.size() - input.size();
    return true;
  }

  // Reads "1a2b; extension" into left_.
  bool ParseSize(absl::string_view line) {
    constexpr size_t kMaxDigits = 15;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find(';')));
    uint64_t size = 0;
    if (line.empty()) return false;
    while (line.size() > 1 && line[0] == '0') line.remove_prefix(1);
    if (line.size() > kMaxDigits) return false;
    for (const char c : line) {
      if (HexDigit(c) < 0) return false;
      size = size << 4 | static_cast<uint64_t>(HexDigit(c));
    }
    left_ = size;
    return true;
  }

  uint64_t left_ = 0;  // The number of bytes left in the current chunk.
  bool behind_data_ = false;
};

class DelimitedFilter final : public Filter {
 public:
  explicit DelimitedFilter(std::string delimiter) : delimiter_(std::move(delimiter)) {}

  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    size_t size = input.find(delimiter_);
    if (size != input.npos) {
      Finish();
    } else {
      size = input.size();
      // The delimiter may be cut off at the end of the input.
      size_t overlap = std::min(delimiter_.size() - 1, size);
      while (!absl::StartsWith(delimiter_, input.substr(size - overlap))) --overlap;
      // A single line end may also be data.
      if (!at_end || overlap > kLineEnd) size -= overlap;
    }
    output->append(input.data(), size);
    return size;
  }

 private:
  static constexpr size_t kLineEnd = 2;

  const std::string delimiter_;
};

class JsonFilter final : public Filter {
 public:
  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    size_t pos = 0;
    while (pos < input.size()) {
      const size_t plain = std::min(input.find_first_of("\\\"", pos), input.size());
      output->append(input.data() + pos, plain - pos);
      pos = plain;
      if (pos == input.size()) break;
      if (input[pos] == '"') {
        Finish();
        break;
      }
      const size_t size = Unescape(input.substr(pos), at_end, output);
      if (size == 0) break;
      pos += size;
    }
    return pos;
  }

 private:
  static constexpr size_t kUnicodeSize = 6;  // The size of "\u1234".

  // Returns the size of the escape at the beginning of `input`, or 0 if it is invalid or
  // incomplete.
  size_t Unescape(absl::string_view input, bool at_end, std::string* output) {
    if (input.size() < 2) return 0;
    constexpr absl::string_view kNames = "\"\\/bfnrt";
    constexpr absl::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const size_t which = kNames.find(input[1]); which != kNames.npos) {
      output->push_back(kValues[which]);
      return 2;
    }
    uint32_t unit = 0;
    if (input.size() < kUnicodeSize && input[1] == 'u') return 0;
    if (!ParseUnicode(input, &unit)) {
      Fail(absl::StrCat("expected a JSON escape sequence, found ",
                        Quoted(input.substr(0, kUnicodeSize))));
      return 0;
    }
    if (IsHighSurrogate(unit)) {
      const absl::string_view next = input.substr(kUnicodeSize);
      if (next.size() < kUnicodeSize && !at_end && absl::StartsWith("\\u", next.substr(0, 2))) {
        return 0;
      }
      uint32_t low = 0;
      if (ParseUnicode(next, &low) && IsLowSurrogate(low)) {
        AppendUtf8(JoinSurrogates(unit, low), output);
        return 2 * kUnicodeSize;
      }
    }
    AppendUtf8(IsHighSurrogate(unit) || IsLowSurrogate(unit) ? kReplacement : unit, output);
    return kUnicodeSize;
  }

  static bool ParseUnicode(absl::string_view input, uint32_t* unit) {
    if (!absl::StartsWith(input, "\\u") || input.size() < kUnicodeSize) return false;
    *unit = 0;
    for (const char c : input.substr(2, kUnicodeSize - 2)) {
      if (HexDigit(c) < 0) return false;
      *unit = *unit << 4 | static_cast<uint32_t>(HexDigit(c));
    }
    return true;
  }
};

class Base64Filter final : public Filter {
 public:
  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    for (size_t pos = 0; pos < input.size(); ++pos) {
      const char c = input[pos];
      if (IsBlank(c)) {
        line_begins_ |= c == '\n';
        continue;
      }
      // "-----END", as in PEM. In base64 of a trace, no line begins with that many of the highest
      // digit.
      if (c == '-' && line_begins_) {
        constexpr absl::string_view kEnd = "-----";
        const absl::string_view rest = input.substr(pos, kEnd.size());
        if (rest == kEnd) {
          Finish();
          return pos;
        }
        if (rest.size() < kEnd.size() && absl::StartsWith(kEnd, rest) && !at_end) return pos;
      }
      line_begins_ = false;
      const int digit = DigitOf(c);
      if (digit < 0) {
        if (c == '=' || c == '"' || c == '\'' || c == '`') {
          Finish();
        } else {
          Fail(absl::StrCat("expected a base64 digit, found ", Shown(c)));
        }
        return pos;
      }
      bits_ = bits_ << 6 | static_cast<uint32_t>(digit);
      count_ += 6;
      if (count_ < 8) continue;
      count_ -= 8;
      output->push_back(static_cast<char>(bits_ >> count_));
    }
    return input.size();
  }

 private:
  static int DigitOf(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+' || c == '-') return 62;
    if (c == '/' || c == '_') return 63;
    return -1;
  }

  uint32_t bits_ = 0;
  int count_ = 0;  // How many of the lower bits were not output yet.
  bool line_begins_ = false;
};

class HexFilter final : public Filter {
 public:
  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    size_t pos = 0;
    while (pos < input.size()) {
      const char c = input[pos];
      if (IsBlank(c) || c == ',' || c == ';') {
        ++pos;
        continue;
      }
      if (c == '}' || c == ']' || c == ')' || c == '"' || c == '\'') {
        Finish();
        break;
      }
      const size_t prefix = PrefixSize(input.substr(pos));
      const absl::string_view digits = input.substr(pos + prefix, 2);
      if (digits.size() < 2) {
        // Either more input follows, or the input ends inside a number.
        if (at_end) pos = input.size();
        break;
      }
      if (HexDigit(digits[0]) < 0 || HexDigit(digits[1]) < 0) {
        Fail(absl::StrCat("expected two hexadecimal digits, found ", Quoted(digits)));
        break;
      }
      output->push_back(static_cast<char>(HexDigit(digits[0]) << 4 | HexDigit(digits[1])));
      pos += prefix + 2;
    }
    return pos;
  }

 private:
  static size_t PrefixSize(absl::string_view input) {
    for (const absl::string_view prefix : {"0x", "0X", "\\x"}) {
      if (absl::StartsWith(input, prefix)) return prefix.size();
    }
    return 0;
  }
};

// A parsed line of a dump.
struct DumpLine {
  std::optional<uint64_t> offset;
  std::string bytes;
  bool is_squeezed = false;  // Whether the line is "*".
};

int DigitValue(char c, int base) {
  const int value = HexDigit(c);
  return value < base ? value : -1;
}

std::optional<uint64_t> ParseOffset(absl::string_view digits, int base) {
  constexpr size_t kMaxDigits = 16;
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  uint64_t offset = 0;
  for (const char c : digits) {
    if (DigitValue(c, base) < 0) return std::nullopt;
    offset = offset * base + DigitValue(c, base);
  }
  return offset;
}

// Returns the numbers of a line after its offset, without the text column.
std::vector<absl::string_view> NumbersOf(absl::string_view rest, bool colon) {
  absl::ConsumePrefix(&rest, " ");
  if (colon) rest = rest.substr(0, rest.find("  "));
  rest = rest.substr(0, rest.find_first_of("|>"));
  std::vector<absl::string_view> numbers;
  while (true) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (rest.empty()) return numbers;
    numbers.push_back(rest.substr(0, rest.find_first_of(" \t\r")));
    rest.remove_prefix(numbers.back().size());
  }
}

// Appends the bytes of one number. Returns false if it is not a number.
bool AppendNumber(absl::string_view digits, const HexDumpForm& form, std::string* bytes) {
  const size_t before = bytes->size();
  if (digits.size() % 2 != 0) return false;
  for (size_t i = 0; i < digits.size(); i += 2) {
    if (HexDigit(digits[i]) < 0 || HexDigit(digits[i + 1]) < 0) return false;
    bytes->push_back(static_cast<char>(HexDigit(digits[i]) << 4 | HexDigit(digits[i + 1])));
  }
  if (form.little_endian) std::reverse(bytes->begin() + before, bytes->end());
  return true;
}

// Parses a line, or returns nullopt if it is not part of a dump.
std::optional<DumpLine> ParseDumpLine(absl::string_view line, const HexDumpForm& form) {
  DumpLine parsed;
  line = absl::StripTrailingAsciiWhitespace(line);
  if (line == "*") {
    parsed.is_squeezed = true;
    return parsed;
  }
  const size_t offset_size = line.find_first_of(form.colon ? ":" : " \t");
  if (form.colon && offset_size == line.npos) return std::nullopt;
  parsed.offset = ParseOffset(line.substr(0, offset_size), form.offset_base);
  if (!parsed.offset.has_value()) return std::nullopt;
  if (offset_size == line.npos) return parsed;
  line.remove_prefix(offset_size + (form.colon ? 1 : 0));
  for (const absl::string_view number : NumbersOf(line, form.colon)) {
    if (!AppendNumber(number, form, &parsed.bytes)) return std::nullopt;
  }
  return parsed;
}

class HexDumpFilter final : public Filter {
 public:
  explicit HexDumpFilter(const HexDumpForm& form) : form_(form) {}

  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    if (repeat_to_ > offset_) {
      Repeat(output);
      return 0;
    }
    const size_t end = input.find('\n');
    if (input.empty()) {
      if (at_end) Emit(std::exchange(pending_, ""), output);
      return 0;
    }
    if (end == input.npos && !at_end) {
      if (input.size() > kMaxLine) Fail("expected a line of a hex dump, found a long one");
      return 0;
    }
    const absl::string_view line = input.substr(0, end);
    const size_t size = end == input.npos ? input.size() : end + 1;
    if (absl::StripAsciiWhitespace(line).empty()) {
      Emit(std::exchange(pending_, ""), output);
      return size;
    }
    std::optional<DumpLine> parsed = ParseDumpLine(line, form_);
    // If the input ends inside a line, the last number may be cut off.
    for (size_t cut = line.size(); !parsed.has_value() && at_end && end == input.npos && cut > 0;) {
      cut = line.find_last_of(" :", cut - 1);
      if (cut == line.npos) break;
      parsed = ParseDumpLine(line.substr(0, cut), form_);
    }
    if (!parsed.has_value()) {
      Fail(absl::StrCat("expected a line of a hex dump, found ",
                        Quoted(line.substr(0, std::min<size_t>(line.size(), 60)))));
      return 0;
    }
    Take(*std::move(parsed), output);
    return size;
  }

 private:
  static constexpr size_t kMaxLine = 4096;

  void Emit(absl::string_view bytes, std::string* output) {
    output->append(bytes.data(), bytes.size());
    offset_ += bytes.size();
  }

  void Take(DumpLine line, std::string* output) {
    if (line.is_squeezed) {
      Emit(pending_, output);
      if (!pending_.empty()) repeated_ = std::move(pending_);
      pending_.clear();
      is_squeezed_ = true;
      return;
    }
    const uint64_t begin = *line.offset - first_offset_.value_or(*line.offset);
    if (!first_offset_.has_value()) first_offset_ = line.offset;
    // With words of two bytes, a dump of an odd number of bytes shows one byte too many. The last
    // line, which has only an offset, gives the real size.
    if (!pending_.empty() && line.bytes.empty() && begin > offset_ &&
        begin - offset_ < pending_.size()) {
      pending_.resize(begin - offset_);
    }
    Emit(pending_, output);
    pending_ = std::move(line.bytes);
    if (is_squeezed_ && begin > offset_ && !repeated_.empty()) {
      repeat_to_ = begin;
      Repeat(output);
    }
    is_squeezed_ = false;
  }

  // Outputs some of the repeated lines.
  void Repeat(std::string* output) {
    constexpr size_t kMaxAtOnce = 64 << 10;
    while (offset_ < repeat_to_ && output->size() < kMaxAtOnce) {
      Emit(absl::string_view(repeated_).substr(0, repeat_to_ - offset_), output);
    }
  }

  const HexDumpForm form_;
  std::optional<uint64_t> first_offset_;
  uint64_t offset_ = 0;     // The number of bytes output so far.
  uint64_t repeat_to_ = 0;  // The offset up to which the last line before a "*" is repeated.
  std::string repeated_;    // The repeated line.
  std::string pending_;     // The last line, which the next one may shorten.
  bool is_squeezed_ = false;
};

}  // namespace

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(uint32_t character, std::string* out) {
  if (character < 0x80) {
    out->push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    out->push_back(static_cast<char>(0xc0 | character >> 6));
    out->push_back(static_cast<char>(0x80 | (character & 0x3f)));
  } else if (character < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | character >> 12));
    out->push_back(static_cast<char>(0x80 | (character >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (character & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | character >> 18));
    out->push_back(static_cast<char>(0x80 | (character >> 12 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (character >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (character & 0x3f)));
  }
}

std::unique_ptr<Filter> MakeUtf16Filter(bool big_endian) {
  return std::make_unique<Utf16Filter>(big_endian);
}

std::unique_ptr<Filter> MakeCodePageFilter(CodePage page) {
  return std::make_unique<CodePageFilter>(page);
}

std::unique_ptr<Filter> MakeChunkedFilter() { return std::make_unique<ChunkedFilter>(); }

std::unique_ptr<Filter> MakeDelimitedFilter(std::string delimiter) {
  return std::make_unique<DelimitedFilter>(std::move(delimiter));
}

std::unique_ptr<Filter> MakeJsonFilter() { return std::make_unique<JsonFilter>(); }

std::unique_ptr<Filter> MakeBase64Filter() { return std::make_unique<Base64Filter>(); }

std::unique_ptr<Filter> MakeHexFilter() { return std::make_unique<HexFilter>(); }

std::optional<HexDumpForm> FindHexDumpForm(absl::string_view begin) {
  const size_t first_end = begin.find('\n');
  const absl::string_view first = absl::StripTrailingAsciiWhitespace(begin.substr(0, first_end));
  const absl::string_view rest = first_end == begin.npos ? "" : begin.substr(first_end + 1);
  const absl::string_view second =
      absl::StripTrailingAsciiWhitespace(rest.substr(0, rest.find('\n')));
  const size_t offset_size = first.find_first_of(": \t");
  constexpr size_t kMinDigits = 4;
  if (offset_size == first.npos || offset_size < kMinDigits) return std::nullopt;
  HexDumpForm form;
  form.colon = first[offset_size] == ':';
  const std::optional<uint64_t> offset = ParseOffset(first.substr(0, offset_size), 16);
  if (offset != uint64_t{0}) return std::nullopt;
  const std::vector<absl::string_view> numbers =
      NumbersOf(first.substr(offset_size + (form.colon ? 1 : 0)), form.colon);
  if (numbers.empty()) return std::nullopt;
  form.word_size = numbers[0].size() / 2;
  // The first two bytes of a trace ("go"), gzip and zstd, swapped.
  constexpr absl::string_view kSwapped[] = {"6f67", "8b1f", "b528"};
  const std::string number = absl::AsciiStrToLower(numbers[0]);
  form.little_endian = std::any_of(
      std::begin(kSwapped), std::end(kSwapped),
      [&](absl::string_view end) { return number.size() > 2 && absl::EndsWith(number, end); });
  const std::optional<DumpLine> line = ParseDumpLine(first, form);
  if (!line.has_value() || line->bytes.empty()) return std::nullopt;
  const absl::string_view second_offset = second.substr(0, second.find_first_of(": \t"));
  for (const int base : {16, 8, 10}) {
    if (ParseOffset(second_offset, base) == line->bytes.size()) {
      form.offset_base = base;
      return form;
    }
  }
  return form;
}

std::unique_ptr<Filter> MakeHexDumpFilter(const HexDumpForm& form) {
  return std::make_unique<HexDumpFilter>(form);
}

}  // namespace gotrace::internal
