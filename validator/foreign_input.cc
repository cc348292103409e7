#include "validator/foreign_input.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "parser/framing/printed_text.h"
#include "util/cut_text.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// How many consecutive bytes must be text for it not to be a coincidence.
constexpr size_t kMinText = 8;

// The maximum size of text in a message, in bytes.
constexpr size_t kMaxShown = 120;

bool IsTextByte(char c) {
  return absl::ascii_isprint(static_cast<unsigned char>(c)) || c == '\n' || c == '\r' ||
         c == '\t' || static_cast<unsigned char>(c) >= 0x80;
}

size_t TextLength(absl::string_view bytes) {
  return std::find_if_not(bytes.begin(), bytes.end(), IsTextByte) - bytes.begin();
}

// Returns the UTF-8 text at the beginning of `bytes`, up to slightly more than a message shows: it
// may be as long as the file.
absl::string_view TextAtFront(absl::string_view bytes) {
  size_t size = 0;
  while (size <= kMaxShown) {
    const size_t character = TextCharacterSize(bytes.substr(size));
    if (character == 0) break;
    size += character;
  }
  return bytes.substr(0, size);
}

// Returns whether `text`, a result of TextAtFront(), looks like output of a program: complete
// lines, or a long one. Names in the strings of a trace may be anywhere if sizes are damaged, and
// numbers may look like text by coincidence, but hardly like words.
bool IsPrinted(absl::string_view text) {
  if (text.find('\n') == text.npos && text.size() <= kMaxShown) return false;
  const auto count = std::count_if(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == ' ';
  });
  return 3 * static_cast<size_t>(count) >= text.size();
}

std::string ShownText(absl::string_view text) { return QuotedPrefix(text, kMaxShown); }

struct Magic {
  size_t offset;
  absl::string_view bytes;
  CheckId check;
  absl::string_view what;
};
constexpr Magic kMagics[] = {
    {0, absl::string_view("PK\x03\x04", 4), CheckId::kInputZip, "a zip archive"},
    {0, absl::string_view("PK\x05\x06", 4), CheckId::kInputZip, "an empty zip archive"},
    {257, "ustar", CheckId::kInputTar, "a tar archive"},
    {0,
     "\x7f"
     "ELF",
     CheckId::kInputElf, "an ELF file"},
    {0, "\x1f\x8b", CheckId::kInputCompressed, "data compressed with gzip"},
    {0, "\x28\xb5\x2f\xfd", CheckId::kInputCompressed, "data compressed with zstd"},
    {0, absl::string_view("\x10\x00\x04\x46\x78\x54\x16\x00", 8), CheckId::kFaultNotATrace,
     "an FXT file"},
    {0, "BZh", CheckId::kInputCompressed, "data compressed with bzip2"},
    {0,
     "\xfd"
     "7zXZ",
     CheckId::kInputCompressed, "data compressed with xz"},
    {0, "\x04\x22\x4d\x18", CheckId::kInputCompressed, "data compressed with lz4"},
};

// A profile begins with its sample types: submessages of two small numbers each.
bool IsPprof(absl::string_view begin) {
  constexpr char kSampleType = 0x0a;
  constexpr char kTypeField = 0x08;
  size_t pos = 0;
  for (int i = 0; i < 2; ++i) {
    if (begin.size() < pos + 3 || begin[pos] != kSampleType) return i > 0;
    const size_t size = static_cast<unsigned char>(begin[pos + 1]);
    if (size < 2 || size > 12 || begin[pos + 2] != kTypeField) return false;
    pos += 2 + size;
  }
  return true;
}

bool IsHtml(absl::string_view text) {
  constexpr absl::string_view kBegins[] = {"<!doctype", "<html", "<head", "<body", "<?xml", "<!--"};
  return std::any_of(std::begin(kBegins), std::end(kBegins), [&](absl::string_view begin) {
    return absl::StartsWithIgnoreCase(text, begin);
  });
}

// Whether `text` looks like the beginning of a JSON object or array.
bool IsJson(absl::string_view text) {
  const bool is_object = absl::ConsumePrefix(&text, "{");
  if (!is_object && !absl::ConsumePrefix(&text, "[")) return false;
  text = absl::StripLeadingAsciiWhitespace(text);
  if (is_object) return absl::StartsWith(text, "\"") || absl::StartsWith(text, "}");
  return !text.empty() && absl::string_view("{[]\"-0123456789tfn").find(text[0]) != text.npos;
}

ForeignInput RecogniseText(absl::string_view begin) {
  absl::string_view text = begin;
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // A byte order mark.
  text = absl::StripLeadingAsciiWhitespace(text);
  const auto found = [&](CheckId check, absl::string_view what) {
    return ForeignInput{check,
                        absl::StrCat("expected a trace, found ", what, ": ", ShownText(text)),
                        std::string(what)};
  };
  if (absl::StartsWith(text, "HTTP/")) return found(CheckId::kInputHttp, "an HTTP response");
  if (IsHtml(text)) return found(CheckId::kInputHtml, "HTML");
  if (IsJson(text)) return found(CheckId::kInputJson, "JSON");
  if (absl::StartsWith(text, "Trace Go1.")) {
    return found(CheckId::kInputTraceText, "the text form of a trace");
  }
  return found(CheckId::kInputText, "text");
}

// Whether `bytes` begin with a trace header of any version: "go 1.22 trace" and zeros.
bool IsHeader(absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, "go 1.")) return false;
  while (!bytes.empty() && absl::ascii_isdigit(static_cast<unsigned char>(bytes[0]))) {
    bytes.remove_prefix(1);
  }
  return absl::StartsWith(bytes, absl::string_view(" trace\0", 7));
}

}  // namespace

std::optional<ForeignInput> RecogniseInput(absl::string_view begin) {
  if (begin.empty()) {
    return ForeignInput{CheckId::kInputEmpty, "expected a trace, found an empty input", ""};
  }
  if (absl::StartsWith(begin, "go 1.")) return std::nullopt;
  for (const Magic& magic : kMagics) {
    if (begin.size() < magic.offset || !absl::StartsWith(begin.substr(magic.offset), magic.bytes)) {
      continue;
    }
    return ForeignInput{magic.check, absl::StrCat("expected a trace, found ", magic.what),
                        std::string(magic.what)};
  }
  if (IsPprof(begin)) {
    return ForeignInput{CheckId::kInputPprof, "expected a trace, found a pprof profile",
                        "a pprof profile"};
  }
  begin = begin.substr(0, kRecognisedBytes);
  if (begin.size() < kMinText || TextLength(begin) < begin.size()) return std::nullopt;
  return RecogniseText(begin);
}

std::optional<ForeignInput> RecogniseInTrace(absl::string_view bytes) {
  if (IsHeader(bytes)) {
    return ForeignInput{
        CheckId::kSecondTrace,
        absl::StrCat("expected a batch, found the header ",
                     ShownText(bytes.substr(0, bytes.find('\0'))), " of another trace"),
        ""};
  }
  const absl::string_view text = TextAtFront(bytes);
  if (text.size() < kMinText || !IsPrinted(text)) return std::nullopt;
  return ForeignInput{CheckId::kFaultTextInTrace,
                      absl::StrCat("expected a batch, found the text ", ShownText(text)), ""};
}

std::optional<ForeignInput> RecogniseInPayload(absl::string_view bytes, size_t position,
                                               bool among_strings) {
  constexpr size_t kMinTextInPayload = 16;
  size_t begin = position;
  if (!among_strings) {
    while (begin > 0 && absl::ascii_isprint(static_cast<unsigned char>(bytes[begin - 1]))) --begin;
  }
  const absl::string_view text = TextAtFront(bytes.substr(begin));
  if (text.size() < kMinTextInPayload || begin + text.size() <= position) return std::nullopt;
  if (!IsPrinted(text) || (among_strings && text.find('\n') == text.npos)) return std::nullopt;
  return ForeignInput{CheckId::kFaultTextInTrace,
                      absl::StrCat("expected an event, found the text ", ShownText(text)), ""};
}

}  // namespace gotrace::internal
