#include "gotrace/transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_check.h"
#include "parser/source/code_page.h"
#include "parser/transport/transport_filters.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "testing/undone_input.h"

namespace gotrace::internal {
namespace transport_test {

// Returns bytes in pieces of random sizes, most of them small.
class SmallPieces final : public ByteStream {
 public:
  explicit SmallPieces(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    size = std::min({size, bytes_.size(), size_t{1} + random_() % 700});
    bytes_.copy(buffer, size);
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  absl::string_view bytes_;
  std::minstd_rand random_{1};
};

Undone Undo(absl::string_view bytes, const ReaderLimits& limits = {}) {
  return UndoAndRead(SourceFromBytes(bytes, limits), limits);
}

Undone UndoInPieces(absl::string_view bytes) {
  return UndoAndRead(SourceFromStream(std::make_unique<SmallPieces>(bytes)));
}

std::vector<std::string> NamesOf(const Undone& undone) {
  std::vector<std::string> names;
  for (const TransportNote& note : undone.notes) names.emplace_back(SpecOf(note.kind).name);
  return names;
}

// A change to the bytes of a trace.
using Change = std::function<std::string(absl::string_view)>;

std::string Crlf(absl::string_view bytes) { return absl::StrReplaceAll(bytes, {{"\n", "\r\n"}}); }

// Converts like a converter that leaves "\r\n" alone.
std::string CrlfUnlessThere(absl::string_view bytes) {
  return Crlf(absl::StrReplaceAll(bytes, {{"\r\n", "\n"}}));
}

// Returns the character of each byte in a code page.
std::vector<uint32_t> CharactersOf(CodePage page) {
  const CodePageEncoder encoder(page);
  std::vector<uint32_t> characters(256, 0);
  for (uint32_t character = 0xffff; character-- > 0;) {
    const int byte = encoder.ByteOf(character);
    // A control character takes precedence over its glyph.
    if (byte >= 0) characters[byte] = character;
  }
  return characters;
}

std::vector<uint32_t> Latin1Characters() {
  std::vector<uint32_t> characters;
  for (uint32_t i = 0; i < 256; ++i) characters.push_back(i);
  return characters;
}

std::vector<uint32_t> Windows1252Characters() {
  std::vector<uint32_t> characters = Latin1Characters();
  const CodePageEncoder encoder(CodePage::kWindows1252);
  for (uint32_t character = 0x100; character < 0x2700; ++character) {
    if (encoder.ByteOf(character) >= 0) characters[encoder.ByteOf(character)] = character;
  }
  return characters;
}

Change Utf8(const std::vector<uint32_t>& characters) {
  return [characters](absl::string_view bytes) {
    std::string text;
    for (const char c : bytes) AppendUtf8(characters[static_cast<uint8_t>(c)], &text);
    return text;
  };
}

Change Utf16(const std::vector<uint32_t>& characters, bool big_endian) {
  return [=](absl::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      const uint32_t unit = characters[static_cast<uint8_t>(c)];
      text.push_back(static_cast<char>(big_endian ? unit >> 8 : unit));
      text.push_back(static_cast<char>(big_endian ? unit : unit >> 8));
    }
    return text;
  };
}

Change Before(std::string before) {
  return [before](absl::string_view bytes) { return absl::StrCat(before, bytes); };
}

Change Between(std::string before, std::string after) {
  return [=](absl::string_view bytes) { return absl::StrCat(before, bytes, after); };
}

// Applies one change after the other.
Change Chain(std::vector<Change> changes) {
  return [changes](absl::string_view bytes) {
    std::string changed(bytes);
    for (const Change& change : changes) changed = change(changed);
    return changed;
  };
}

Change Chunked(size_t chunk, std::string extension, std::string end) {
  return [=](absl::string_view bytes) {
    std::string text;
    for (size_t pos = 0; pos < bytes.size(); pos += chunk) {
      const absl::string_view piece = bytes.substr(pos, chunk);
      absl::StrAppend(&text, absl::Hex(piece.size()), extension, "\r\n", piece, "\r\n");
    }
    return absl::StrCat(text, end);
  };
}

std::string Wrap(absl::string_view text, size_t width, absl::string_view line_end) {
  std::string wrapped;
  for (size_t pos = 0; pos < text.size(); pos += width) {
    absl::StrAppend(&wrapped, text.substr(pos, width), line_end);
  }
  return wrapped;
}

std::string Base64(absl::string_view bytes) { return absl::Base64Escape(bytes); }

Change WrappedBase64(size_t width, std::string line_end) {
  return [=](absl::string_view bytes) { return Wrap(Base64(bytes), width, line_end); };
}

std::string Hex(absl::string_view bytes) { return absl::BytesToHexString(bytes); }
std::string UpperHex(absl::string_view bytes) { return absl::AsciiStrToUpper(Hex(bytes)); }

// Writes each byte between `before` and `after`, in lines of twelve.
Change HexList(std::string before, std::string after) {
  return [=](absl::string_view bytes) {
    std::string text;
    for (size_t i = 0; i < bytes.size(); ++i) {
      absl::StrAppend(&text, before, Hex(bytes.substr(i, 1)), after, i % 12 == 11 ? "\n" : "");
    }
    return text;
  };
}

std::string Printable(absl::string_view bytes) {
  std::string text(bytes);
  for (char& c : text) c = absl::ascii_isprint(static_cast<unsigned char>(c)) ? c : '.';
  return text;
}

std::string Xxd(absl::string_view bytes) {
  std::string text;
  for (size_t pos = 0; pos < bytes.size(); pos += 16) {
    const absl::string_view line = bytes.substr(pos, 16);
    std::string numbers;
    for (size_t i = 0; i < line.size(); i += 2) {
      absl::StrAppend(&numbers, i == 0 ? "" : " ", Hex(line.substr(i, 2)));
    }
    absl::StrAppendFormat(&text, "%08x: %-39s  %s\n", pos, numbers, Printable(line));
  }
  return text;
}

// Writes lines of 16 bytes with `format_line`; repeated lines are abbreviated as "*".
std::string Dump(absl::string_view bytes, const std::function<std::string(uint64_t)>& offset,
                 const Change& format_line) {
  std::string text;
  absl::string_view last;
  bool squeezed = false;
  for (size_t pos = 0; pos < bytes.size(); pos += 16) {
    const absl::string_view line = bytes.substr(pos, 16);
    const bool same = line == last;
    if (!same) absl::StrAppend(&text, offset(pos), format_line(line), "\n");
    if (same && !squeezed) absl::StrAppend(&text, "*\n");
    squeezed = same;
    last = line;
  }
  return absl::StrCat(text, offset(bytes.size()), "\n");
}

std::string Spaced(absl::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    absl::StrAppend(&text, i == 8 ? "  " : " ", Hex(line.substr(i, 1)));
  }
  return text;
}

std::string HexdumpC(absl::string_view bytes) {
  return Dump(
      bytes, [](uint64_t offset) { return absl::StrFormat("%08x", offset); },
      [](absl::string_view line) {
        return absl::StrFormat(" %-50s |%s|", Spaced(line), Printable(line));
      });
}

// od -t x1, with -A of o, d or x.
Change Od(char base) {
  return [base](absl::string_view bytes) {
    return Dump(
        bytes,
        [base](uint64_t offset) {
          if (base == 'x') return absl::StrFormat("%06x", offset);
          return base == 'd' ? absl::StrFormat("%07d", offset) : absl::StrFormat("%07o", offset);
        },
        [](absl::string_view line) {
          std::string text;
          for (size_t i = 0; i < line.size(); ++i)
            absl::StrAppend(&text, " ", Hex(line.substr(i, 1)));
          return text;
        });
  };
}

// hexdump without options, and od -x: numbers of two bytes, the second byte first.
std::string Words(absl::string_view bytes, const char* offset_format) {
  return Dump(
      bytes,
      [=](uint64_t offset) {
        char text[32];
        std::snprintf(text, sizeof(text), offset_format, static_cast<unsigned long>(offset));
        return std::string(text);
      },
      [](absl::string_view line) {
        std::string text;
        for (size_t i = 0; i < line.size(); i += 2) {
          const std::string high = i + 1 < line.size() ? Hex(line.substr(i + 1, 1)) : "00";
          absl::StrAppend(&text, " ", high, Hex(line.substr(i, 1)));
        }
        return text;
      });
}

// Writes the inside of a JSON string, with characters beyond ASCII escaped or not.
Change JsonString(bool escaped) {
  return [escaped](absl::string_view bytes) {
    std::string text = "\"";
    for (const char c : bytes) {
      const uint8_t byte = static_cast<uint8_t>(c);
      if (c == '"' || c == '\\') {
        absl::StrAppend(&text, "\\", std::string(1, c));
      } else if (c == '\n') {
        absl::StrAppend(&text, "\\n");
      } else if (byte < 0x20 || (escaped && byte >= 0x7f)) {
        absl::StrAppendFormat(&text, "\\u%04x", byte);
      } else {
        AppendUtf8(byte, &text);
      }
    }
    return text + "\"";
  };
}

constexpr char kHttpHead[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nDate: Mon, 01 Jan 2024 00:00:00 "
    "GMT\r\n\r\n";
constexpr char kKubectl[] = "Defaulted container \"app\" out of: app, istio-proxy\n";

std::string Multipart(absl::string_view bytes) {
  return absl::StrCat(
      "--XyZ\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nas of today\r\n--XyZ\r\n"
      "Content-Disposition: form-data; name=\"f\"; filename=\"trace.out\"\r\n"
      "Content-Type: application/octet-stream\r\n\r\n",
      bytes, "\r\n--XyZ--\r\n");
}

std::string ZstdOf(absl::string_view bytes) { return Zstd(bytes); }
std::string GzipOf(absl::string_view bytes) { return Gzip(bytes); }

struct ChangeCase {
  std::string name;
  Change change;
  std::vector<std::string> notes;  // The names of the kinds that must be found.
  // Whether the trace can be recognised only once much of the input is there.
  bool shows_late = false;
};

std::vector<ChangeCase> AllChanges() {
  const std::vector<uint32_t> latin1 = Latin1Characters();
  const std::vector<uint32_t> windows1252 = Windows1252Characters();
  const std::vector<uint32_t> oem437 = CharactersOf(CodePage::kOem437);
  const std::vector<uint32_t> oem850 = CharactersOf(CodePage::kOem850);
  std::vector<ChangeCase> cases;
  const auto add = [&](std::string name, std::vector<Change> changes,
                       std::vector<std::string> notes, bool shows_late = false) {
    cases.push_back({std::move(name), Chain(std::move(changes)), std::move(notes), shows_late});
  };
  struct Page {
    std::string name;
    const std::vector<uint32_t>& characters;
  };
  for (const Page& page : {Page{"latin1", latin1}, Page{"1252", windows1252}, Page{"437", oem437},
                           Page{"850", oem850}}) {
    const std::string bom16le("\xff\xfe");
    add("utf8 " + page.name, {Utf8(page.characters)}, {"transport-utf8"});
    add("utf8 twice " + page.name, {Utf8(page.characters), Utf8(page.characters)},
        {"transport-utf8", "transport-utf8"});
    add("utf8 mark " + page.name, {Utf8(page.characters), Before("\xef\xbb\xbf")},
        {"transport-utf8"});
    add("utf8 crlf " + page.name, {Crlf, Utf8(page.characters)},
        {"transport-utf8", "transport-crlf"});
    for (const bool big : {false, true}) {
      const std::string order = big ? "be " : "le ";
      add("utf16" + order + page.name, {Utf16(page.characters, big)}, {"transport-utf16"});
      add("utf16 mark " + order + page.name,
          {Utf16(page.characters, big), Before(big ? "\xfe\xff" : "\xff\xfe")},
          {"transport-utf16"});
      add("utf16 crlf " + order + page.name,
          {Crlf, Utf16(page.characters, big), Before(big ? "\xfe\xff" : "\xff\xfe")},
          {"transport-utf16", "transport-crlf"});
    }
    add("powershell " + page.name,
        {Crlf, Between("", "\r\n"), Utf16(page.characters, false), Before("\xff\xfe")},
        {"transport-utf16", "transport-crlf"});
  }
  add("crlf", {Crlf}, {"transport-crlf"});
  add("crlf twice", {Crlf, Crlf}, {"transport-crlf", "transport-crlf"});
  add("http head", {Before(kHttpHead)}, {"transport-http-header"});
  add("http head, lf", {Before("HTTP/2 200\ncontent-type: x\n\n")}, {"transport-http-header"});
  add("http request", {Before("POST /up HTTP/1.1\r\nHost: a\r\n\r\n")}, {"transport-http-header"});
  add("two heads", {Before(kHttpHead), Before("HTTP/1.1 100 Continue\r\n\r\n")},
      {"transport-http-header", "transport-http-header"});
  add("chunks", {Chunked(4096, "", "0\r\n\r\n")}, {"transport-chunked"});
  add("small chunks", {Chunked(3, "", "0\r\n\r\n")}, {"transport-chunked"});
  add("large chunks", {Chunked(1 << 20, "", "0\r\n\r\n")}, {"transport-chunked"});
  add("chunks, extensions, trailers",
      {Chunked(1000, ";name=\"value\"", "000;last\r\nExpires: 0\r\n\r\n")}, {"transport-chunked"});
  add("chunks, cut", {Chunked(1000, "", "")}, {"transport-chunked"});
  add("http and chunks", {Chunked(2048, "", "0\r\n\r\n"), Before(kHttpHead)},
      {"transport-http-header", "transport-chunked"});
  add("http and gzip", {GzipOf, Before(kHttpHead)}, {"transport-http-header"});
  add("http, chunks and gzip", {GzipOf, Chunked(100, "", "0\r\n\r\n"), Before(kHttpHead)},
      {"transport-http-header", "transport-chunked"});
  add("multipart", {Multipart}, {"transport-multipart"});
  add("multipart in http", {Multipart, Before(kHttpHead)},
      {"transport-http-header", "transport-multipart"});
  add("multipart, lf", {Between("--b\n\n", "\n--b--\n")}, {"transport-multipart"});
  add("multipart, base64",
      {WrappedBase64(76, "\r\n"),
       Between("--b\r\nContent-Transfer-Encoding: base64\r\n\r\n", "\r\n--b--\r\n")},
      {"transport-multipart", "transport-base64"});
  add("base64", {Base64}, {"transport-base64"});
  add("base64, 76", {WrappedBase64(76, "\n")}, {"transport-base64"});
  add("base64, 64 crlf", {WrappedBase64(64, "\r\n")}, {"transport-base64"});
  add("base64, 5", {WrappedBase64(5, "\n")}, {"transport-base64"});
  add("base64 url", {[](absl::string_view bytes) { return absl::WebSafeBase64Escape(bytes); }},
      {"transport-base64"});
  add("base64 data url", {Base64, Before("data:application/octet-stream;base64,")},
      {"transport-base64"});
  add("base64 as in PEM",
      {WrappedBase64(64, "\n"), Between("-----BEGIN TRACE-----\n", "-----END TRACE-----\n")},
      {"transport-text-before", "transport-base64"});
  add("base64 of gzip", {GzipOf, WrappedBase64(76, "\n")}, {"transport-base64"});
  add("base64 of zstd", {ZstdOf, WrappedBase64(76, "\n")}, {"transport-base64"}, true);
  add("base64 twice", {Base64, Base64}, {"transport-base64", "transport-base64"});
  add("base64 after a line", {WrappedBase64(76, "\n"), Before(kKubectl)},
      {"transport-text-before", "transport-base64"});
  add("base64 in utf-16", {WrappedBase64(76, "\r\n"), Utf16(latin1, false), Before("\xff\xfe")},
      {"transport-utf16", "transport-base64"});
  add("hex", {Hex}, {"transport-hex"});
  add("upper hex", {UpperHex}, {"transport-hex"});
  add("xxd -p", {Hex, [](absl::string_view hex) { return Wrap(hex, 60, "\n"); }},
      {"transport-hex"});
  add("hex, crlf", {Hex, [](absl::string_view hex) { return Wrap(hex, 60, "\r\n"); }},
      {"transport-hex"});
  add("spaced hex", {HexList("", " ")}, {"transport-hex"});
  add("0x list", {HexList("0x", ", ")}, {"transport-hex"});
  add("xxd -i",
      {HexList("0x", ", "),
       Between("unsigned char trace_out[] = {\n", "};\nunsigned int trace_out_len = 1;\n")},
      {"transport-text-before", "transport-hex"});
  add("escaped hex", {HexList("\\x", "")}, {"transport-hex"});
  add("xxd", {Xxd}, {"transport-hex"});
  add("xxd, crlf", {Xxd, Crlf}, {"transport-hex"});
  add("xxd of gzip", {GzipOf, Xxd}, {"transport-hex"});
  add("xxd -u", {Xxd, [](absl::string_view dump) { return absl::AsciiStrToUpper(dump); }},
      {"transport-hex"});
  add("xxd in utf-16", {Xxd, Crlf, Utf16(latin1, false), Before("\xff\xfe")},
      {"transport-utf16", "transport-hex"});
  add("xxd after a line", {Xxd, Before("$ xxd trace.out\n")},
      {"transport-text-before", "transport-hex"});
  add("hexdump -C", {HexdumpC}, {"transport-hex"});
  add("od -tx1", {Od('o')}, {"transport-hex"});
  add("od -Ad -tx1", {Od('d')}, {"transport-hex"});
  add("od -Ax -tx1", {Od('x')}, {"transport-hex"});
  add("hexdump", {[](absl::string_view bytes) { return Words(bytes, "%07lx"); }},
      {"transport-hex"});
  add("od -x", {[](absl::string_view bytes) { return Words(bytes, "%07lo"); }}, {"transport-hex"});
  for (const bool escaped : {false, true}) {
    const std::string how = escaped ? " escaped" : "";
    add("json" + how, {JsonString(escaped)}, {"transport-json"});
    add("json object" + how,
        {JsonString(escaped), Between("{\"name\": \"a long enough name\", \"trace\": ", "}\n")},
        {"transport-json"});
  }
  add("json base64", {Base64, Between("{\"Trace\":\"", "\",\"OK\":true}")},
      {"transport-json", "transport-base64"});
  add("json base64 of gzip in chunks",
      {GzipOf, Base64, Between("{\"Trace\":\"", "\"}"), Chunked(77, "", "0\r\n\r\n")},
      {"transport-chunked", "transport-json", "transport-base64"});
  add("a line", {Before(kKubectl)}, {"transport-text-before"});
  add("text without an end", {Before("progress: 12%")}, {"transport-text-before"});
  add("much text", {Before(std::string(65535, 'x'))}, {"transport-text-before"}, true);
  add("a line, crlf", {Before(kKubectl), Crlf}, {"transport-text-before", "transport-crlf"});
  add("a line, utf16", {Before(kKubectl), Crlf, Utf16(oem437, false), Before("\xff\xfe")},
      {"transport-utf16", "transport-text-before", "transport-crlf"});
  add("gzip twice", {GzipOf, GzipOf}, {"transport-compressed"});
  add("gzip around base64", {Base64, GzipOf}, {"transport-base64"});
  return cases;
}

void PrintTo(const ChangeCase& change, std::ostream* out) { *out << change.name; }

class TransportTest : public testing::TestWithParam<ChangeCase> {};

// Sanitizers are slow: with them, each change is tried only with every seventh trace.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr size_t kStep = 7;
#else
constexpr size_t kStep = 1;
#endif

TEST_P(TransportTest, IsUndoneForEveryTrace) {
  for (size_t i = GetParam().name.size() % kStep; i < TestTraces().size(); i += kStep) {
    const TestTrace& test = TestTraces()[i];
    const std::string trace = ReadTestTrace(test.name);
    const std::string changed = GetParam().change(trace);
    // The change has no effect on this trace.
    if (changed == trace) continue;
    const Undone undone = Undo(changed);
    ASSERT_TRUE(undone.status.ok()) << test.name << ": " << undone.status;
    ASSERT_EQ(NamesOf(undone), GetParam().notes) << test.name;
    ASSERT_TRUE(undone.bytes == trace) << test.name;
    // Large traces take long in small pieces, and test nothing more.
    if (trace.size() > 16'000) continue;
    const Undone in_pieces = UndoInPieces(changed);
    ASSERT_TRUE(in_pieces.status.ok()) << test.name << ": " << in_pieces.status;
    ASSERT_EQ(NamesOf(in_pieces), GetParam().notes) << test.name;
    ASSERT_TRUE(in_pieces.bytes == trace) << test.name;
  }
}

// Wherever an input is cut off, everything before that is decoded.
TEST_P(TransportTest, ReturnsTheBeginningOfACutInput) {
  std::minstd_rand random(1);
  for (const absl::string_view name : {"go1.22-gc.trace", "go1.26-annotations.trace"}) {
    const std::string trace = ReadTestTrace(name);
    const std::string changed = GetParam().change(trace);
    for (size_t i = 0; i < TestRounds(10); ++i) {
      const size_t least = changed.size() / 4;
      const std::string cut = changed.substr(0, least + random() % (changed.size() - least));
      const Undone undone = Undo(cut);
      // There is nothing to decode yet.
      if (undone.notes.empty() && GetParam().shows_late) continue;
      EXPECT_EQ(NamesOf(undone), GetParam().notes) << name << ' ' << cut.size();
      // The last bytes may be half of the encoding of one byte.
      ASSERT_LE(undone.bytes.size(), trace.size() + 2);
      const size_t sure = std::max<size_t>(undone.bytes.size(), 2) - 2;
      ASSERT_TRUE(undone.bytes.substr(0, sure) == trace.substr(0, sure))
          << name << ' ' << cut.size();
    }
  }
}

std::string TestName(const testing::TestParamInfo<ChangeCase>& info) {
  std::string name;
  for (const char c : info.param.name) {
    name.push_back(absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_');
  }
  return absl::StrCat(name, "_", info.index);
}

INSTANTIATE_TEST_SUITE_P(Changes, TransportTest, testing::ValuesIn(AllChanges()), TestName);

// If several choices decode, another one than the original may be found; they differ in few bytes.
TEST(TransportTest, FindsAReadingOfLineEndsThatWereLeftAlone) {
  int traces = 0;
  int same = 0;
  for (const TestTrace& test : TestTraces()) {
    const std::string trace = ReadTestTrace(test.name);
    const std::string changed = CrlfUnlessThere(trace);
    if (changed == Crlf(trace)) continue;
    const Undone undone = Undo(changed);
    ASSERT_TRUE(undone.status.ok()) << test.name << ": " << undone.status;
    ASSERT_EQ(NamesOf(undone), std::vector<std::string>({"transport-crlf"})) << test.name;
    ASSERT_EQ(undone.bytes.size(), trace.size()) << test.name;
    EXPECT_FALSE(WalkBatches(undone.bytes, /*whole=*/true).failed) << test.name;
    EXPECT_TRUE(UndoInPieces(changed).bytes == undone.bytes) << test.name;
    ++traces;
    same += undone.bytes == trace ? 1 : 0;
  }
  EXPECT_GT(traces, 10);
  EXPECT_GE(2 * same, traces);
}

TEST(TransportTest, LeavesTracesAlone) {
  for (const TestTrace& test : TestTraces()) {
    const std::string trace = ReadTestTrace(test.name);
    absl::StatusOr<UndoneInput> input = UndoTransport(*SourceFromBytes(trace));
    ASSERT_TRUE(input.ok()) << test.name;
    EXPECT_TRUE(input->notes.empty()) << test.name;
    EXPECT_NE(input->source->Fork(0), nullptr) << test.name;
    EXPECT_EQ(input->source->offset(), 0u);
  }
}

TEST(TransportTest, LeavesDamagedTracesAlone) {
  std::minstd_rand random(1);
  for (const TestTrace& test : TestTraces()) {
    const std::string trace = ReadTestTrace(test.name);
    for (int i = 0; i < 10; ++i) {
      std::string damaged = trace;
      for (int j = 0; j < 20; ++j) {
        damaged[kHeaderSize + random() % (damaged.size() - kHeaderSize)] =
            static_cast<char>(random());
      }
      damaged.resize(kHeaderSize + random() % (damaged.size() - kHeaderSize));
      const Undone undone = Undo(damaged);
      EXPECT_TRUE(undone.status.ok()) << test.name << ": " << undone.status;
      EXPECT_TRUE(undone.notes.empty()) << test.name << ' ' << undone.notes[0].detail;
      EXPECT_TRUE(undone.bytes == damaged) << test.name;
    }
  }
}

TEST(TransportTest, LeavesInputThatIsNotATraceAlone) {
  std::string words;
  while (words.size() < 300'000) words += "0000000 {\"a\": [\"67 6f\"]}\nZ28gMS4 --b\r\n\r\n";
  const std::string inputs[] = {
      "",
      "x",
      "go 1.2",
      "<!DOCTYPE html><html></html>\n",
      "{\"error\": \"a message that is long enough to be tried\"}",
      "HTTP/1.1 404 Not Found\r\n\r\n404 page not found\n",
      "deadbeefdeadbeefdeadbeef",
      "aGVsbG8sIHdvcmxkISBoZWxsbyE=",
      std::string(300'000, '0'),
      std::string(300'000, '{'),
      std::string(300'000, '"'),
      std::string(300'000, '\n'),
      std::string(300'000, '\xff'),
      std::string(300'000, '\0'),
      words,
  };
  for (const std::string& input : inputs) {
    for (const Undone& undone : {Undo(input), UndoInPieces(input)}) {
      EXPECT_TRUE(undone.status.ok()) << undone.status;
      EXPECT_TRUE(undone.notes.empty()) << input.substr(0, 40);
      EXPECT_TRUE(undone.bytes == input) << input.substr(0, 40);
    }
  }
}

TEST(TransportTest, ReportsBytesThatWereReplaced) {
  for (const absl::string_view name : {"go1.22-gc.trace", "go1.27-annotations.trace"}) {
    std::string replaced;
    for (const char c : ReadTestTrace(name)) {
      static_cast<uint8_t>(c) < 0x80 ? replaced.push_back(c) : AppendUtf8(0xfffd, &replaced);
    }
    const std::string inputs[] = {replaced, Crlf(replaced), absl::StrCat(kKubectl, replaced),
                                  absl::StrCat("\"", replaced.substr(0, 60), "\"")};
    for (const std::string& input : inputs) {
      const std::optional<Fault> fault = FaultOf(Undo(input).status);
      ASSERT_TRUE(fault.has_value()) << name;
      EXPECT_EQ(fault->id, FaultId::kBytesReplaced) << name;
    }
  }
}

// Endless layers are examined up to a fixed depth.
TEST(TransportTest, StopsAtADepth) {
  const std::string trace = ReadTestTrace("go1.22-oddstrings.trace");
  std::string wrapped = trace;
  for (int depth = 1; depth <= 10; ++depth) {
    wrapped = Base64(wrapped);
    const Undone undone = Undo(wrapped);
    EXPECT_TRUE(undone.status.ok()) << undone.status;
    EXPECT_EQ(undone.notes.size(), depth <= 8 ? static_cast<size_t>(depth) : 0) << depth;
    EXPECT_TRUE(undone.bytes == (depth <= 8 ? trace : wrapped)) << depth;
  }
}

// An abbreviated repetition, and highly compressed data, return no more than is allowed.
TEST(TransportTest, ObeysTheLimitOfBytes) {
  const std::string header = MakeHeader(Version::kGo122);
  ReaderLimits limits;
  limits.decompressed_bytes = 100'000;
  const std::string bomb = absl::StrCat("00000000: ", Hex(header), "\n*\nffffffffffff:\n");
  const std::string zeros = Gzip(absl::StrCat(header, std::string(1'000'000, '\0')));
  for (const std::string& input : {bomb, Base64(zeros)}) {
    const Undone undone = Undo(input, limits);
    const std::optional<Fault> fault = FaultOf(undone.status);
    ASSERT_TRUE(fault.has_value()) << undone.status;
    EXPECT_EQ(fault->id, FaultId::kLimitDecompressedBytes);
    EXPECT_EQ(undone.bytes.size(), limits.decompressed_bytes);
  }
}

// Everything before damage is returned, and then the place of the damage.
TEST(TransportTest, ReportsDamageOfLayersAroundTheTrace) {
  const std::string trace = ReadTestTrace("go1.22-gc.trace");
  struct Damaged {
    std::string input;
    size_t offset;  // The offset of the damage in the damaged layer.
  };
  std::string base64 = Base64(trace);
  base64[60'000] = '!';
  std::string hex = Hex(trace);
  hex[60'000] = 'x';
  std::string chunks = Chunked(1000, "", "0\r\n\r\n")(trace);
  chunks[chunks.find("\r\n3e8\r\n", 50'000) + 2] = 'x';
  for (const Damaged& damaged : {Damaged{base64, 60'000}, Damaged{hex, 60'000},
                                 Damaged{chunks, chunks.find("\r\nxe8\r\n")}}) {
    const Undone undone = Undo(damaged.input);
    const std::optional<Fault> fault = FaultOf(undone.status);
    ASSERT_TRUE(fault.has_value()) << undone.status;
    EXPECT_EQ(fault->id, FaultId::kTransportCorrupt);
    EXPECT_TRUE(absl::StrContains(fault->message, absl::StrCat(" at its byte ", damaged.offset)))
        << fault->message;
    EXPECT_GT(undone.bytes.size(), 20'000u);
    EXPECT_TRUE(absl::StartsWith(trace, undone.bytes));
  }
}

}  // namespace transport_test
}  // namespace gotrace::internal
