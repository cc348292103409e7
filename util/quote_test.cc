#include "util/quote.h"

#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace quote_test {

std::string Quote(absl::string_view text) {
  TextBuffer out;
  out.Append("before");
  AppendQuoted(text, &out);
  return std::string(out.view().substr(6));
}

// A view of a literal with all of its bytes, including NUL.
template <size_t kSize>
absl::string_view Bytes(const char (&text)[kSize]) {
  return absl::string_view(text, kSize - 1);
}

struct QuoteCase {
  absl::string_view text;
  const char* quoted;
};

// All as Go 1.27's strconv.Quote prints them.
TEST(QuoteTest, QuotesAsGoDoes) {
  const QuoteCase cases[] = {
      {"", R"("")"},
      {"plain text", R"("plain text")"},
      {"\a\b\f\n\r\t\v\\\"'", R"("\a\b\f\n\r\t\v\\\"'")"},
      {Bytes("\x00\x1f\x7f"), R"("\x00\x1f\x7f")"},
      {"\x80\xff", R"("\x80\xff")"},
      {"é世😀", "\"é世😀\""},
      // Spaces and formatting characters of Unicode; a replacement character that is there.
      {"\xc2\xa0\xc2\xad\xe2\x80\xa8\xe3\x80\x80\xef\xbb\xbf\xef\xbf\xbd",
       "\"\\u00a0\\u00ad\\u2028\\u3000\\ufeff\xef\xbf\xbd\""},
      // A surrogate, a cut rune, one beyond the last, an overlong NUL.
      {"\xed\xa0\x80", R"("\xed\xa0\x80")"},
      {"\xe2\x82", R"("\xe2\x82")"},
      {"\xf4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
      {"\xc0\x80", R"("\xc0\x80")"},
      {"\xe2\x80\x8b\xf3\xa0\x80\x81\xf4\x8f\xbf\xbf\xee\x80\x80",
       R"("\u200b\U000e0001\U0010ffff\ue000")"},
      {"\xcd\xb8", R"("\u0378")"},
      {"\xcc\x80", "\"\xcc\x80\""},
      {"\xef\xbf\xbf\xef\xbf\xbe", R"("\uffff\ufffe")"},
      {"\xe1\x9a\x80\xe2\x80\x83\xe2\x80\xaf\xe2\x81\x9f\xc2\x85",
       R"("\u1680\u2003\u202f\u205f\u0085")"},
      // Younger than many tables: of Unicode 16 and 17.
      {"\U0001fae9\U0001f6d8", "\"\U0001fae9\U0001f6d8\""},
  };
  for (const QuoteCase& c : cases) {
    EXPECT_EQ(Quote(c.text), c.quoted);
    std::string back;
    EXPECT_TRUE(AppendUnquoted(c.quoted, &back));
    EXPECT_EQ(back, std::string(c.text));
  }
}

TEST(QuoteTest, PlainTextCanStayAsItIs) {
  EXPECT_EQ(QuotedUnlessPlain("a b/ü.trace"), "a b/ü.trace");
  EXPECT_EQ(QuotedUnlessPlain(""), "");
  for (const absl::string_view text : {"a\nb", "\x1b[31m", "a\"b", "a\\b", "\xff", "\u00a0"}) {
    EXPECT_EQ(QuotedUnlessPlain(text), Quoted(text));
  }
}

TEST(QuoteTest, EveryByteAloneIsQuoted) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string quoted = Quote(absl::string_view(&c, 1));
    const std::string hex =
        absl::StrCat("\"\\x", absl::BytesToHexString(absl::string_view(&c, 1)), "\"");
    if (byte >= 0x80 || byte == 0x7f) {
      EXPECT_EQ(quoted, hex);
    } else if (byte >= ' ' && c != '"' && c != '\\') {
      EXPECT_EQ(quoted, absl::StrCat("\"", absl::string_view(&c, 1), "\""));
    } else if (absl::string_view("\a\b\f\n\r\t\v\\\"").find(c) == absl::string_view::npos) {
      EXPECT_EQ(quoted, hex);
    } else {
      EXPECT_EQ(quoted.size(), 4u) << quoted;
    }
  }
}

// All runes at once: the number of printable ones and a digest of them (FNV-1a with runes in place
// of bytes), as a loop over Go 1.27's strconv.IsPrint computes them.
TEST(QuoteTest, PrintableRunesAreThoseOfGo) {
  int count = 0;
  uint64_t digest = 14695981039346656037u;
  for (uint32_t rune = 0; rune <= 0x10FFFF; ++rune) {
    if (!IsPrintable(rune)) continue;
    ++count;
    digest = (digest ^ rune) * 1099511628211u;
  }
  EXPECT_EQ(count, 159613);
  EXPECT_EQ(digest, 16037661812989364816u);
  EXPECT_FALSE(IsPrintable(0x110000));
  EXPECT_FALSE(IsPrintable(~uint32_t{0}));
}

TEST(QuoteTest, SpacesAreThoseOfGo) {
  std::string spaces;
  for (uint32_t rune = 0; rune <= 0x10FFFF; ++rune) {
    if (IsSpace(rune)) absl::StrAppend(&spaces, absl::Hex(rune), " ");
  }
  EXPECT_EQ(spaces,
            "9 a b c d 20 85 a0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200a 2028 "
            "2029 202f 205f 3000 ");
}

TEST(QuoteTest, DecodesRunes) {
  struct {
    absl::string_view text;
    uint32_t rune;
    int size;
  } const cases[] = {
      {"a", 'a', 1},
      {Bytes("\0"), 0, 1},
      {"\x7f", 0x7f, 1},
      {"\xc2\x80", 0x80, 2},
      {"\xdf\xbf", 0x7ff, 2},
      {"\xe0\xa0\x80", 0x800, 3},
      {"\xed\x9f\xbf", 0xd7ff, 3},
      {"\xee\x80\x80", 0xe000, 3},
      {"\xef\xbf\xbd", 0xfffd, 3},
      {"\xef\xbf\xbf", 0xffff, 3},
      {"\xf0\x90\x80\x80", 0x10000, 4},
      {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
      {"\xc2\x80more", 0x80, 2},
      // An invalid byte has length 1.
      {"\x80", 0xfffd, 1},
      {"\xbf\xbf", 0xfffd, 1},
      {"\xc0\xaf", 0xfffd, 1},
      {"\xc1\xbf", 0xfffd, 1},
      {"\xc2", 0xfffd, 1},
      {"\xc2\x41", 0xfffd, 1},
      {"\xe0\x9f\xbf", 0xfffd, 1},
      {"\xe2\x82", 0xfffd, 1},
      {"\xe2\x82\x41", 0xfffd, 1},
      {"\xed\xa0\x80", 0xfffd, 1},
      {"\xed\xbf\xbf", 0xfffd, 1},
      {"\xf0\x8f\xbf\xbf", 0xfffd, 1},
      {"\xf0\x9f\x98", 0xfffd, 1},
      {"\xf4\x90\x80\x80", 0xfffd, 1},
      {"\xf5\x80\x80\x80", 0xfffd, 1},
      {"\xff\xbf\xbf\xbf", 0xfffd, 1},
  };
  for (const auto& c : cases) {
    int size = 0;
    EXPECT_EQ(DecodeRune(c.text, &size), c.rune) << absl::CHexEscape(c.text);
    EXPECT_EQ(size, c.size) << absl::CHexEscape(c.text);
  }
}

struct UnquoteCase {
  absl::string_view literal;
  absl::string_view text;
};

// All as Go 1.27's strconv.Unquote reads them.
TEST(QuoteTest, UnquotesAsGoDoes) {
  const UnquoteCase cases[] = {
      {R"("")", ""},
      {R"("a")", "a"},
      {R"("\a\b\f\n\r\t\v\\\"")", "\a\b\f\n\r\t\v\\\""},
      {R"("'")", "'"},
      {R"("\377\000\101")", Bytes("\xff\0A")},
      {R"("\xAB\xab\x00")", Bytes("\xab\xab\0")},
      {R"("\u4e16\u00e9\u0041")", "世éA"},
      {R"("\uD7FF\U0010FFFF")", "\xed\x9f\xbf\xf4\x8f\xbf\xbf"},
      {"\"\t\x7f\"", "\t\x7f"},
      {Bytes("\"\0\""), Bytes("\0")},
      {"\"世\"", "世"},
      // Bytes that are not UTF-8 become replacement characters, but not where escapes make them.
      {"\"\xff\"", "\xef\xbf\xbd"},
      {"\"\\n\xff\"", "\n\xef\xbf\xbd"},
      {"\"a\xe2\x82\"", "a\xef\xbf\xbd\xef\xbf\xbd"},
      {"\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"'\xff'", "\xef\xbf\xbd"},
      {"'a'", "a"},
      {R"('\'')", "'"},
      {R"('"')", "\""},
      {R"('\xff')", "\xff"},
      {R"('\377')", "\xff"},
      {R"('\u4e16')", "世"},
      {"'世'", "世"},
      {"''", ""},
      {"``", ""},
      {"`\\n`", "\\n"},
      {"`a\nb\"'`", "a\nb\"'"},
      {"`a\rb\r`", "ab"},
      {"`\xff`", "\xff"},
  };
  for (const UnquoteCase& c : cases) {
    SCOPED_TRACE(absl::CHexEscape(c.literal));
    std::string text = "before ";
    EXPECT_TRUE(AppendUnquoted(c.literal, &text));
    EXPECT_EQ(text, absl::StrCat("before ", c.text));
  }
}

TEST(QuoteTest, RejectsAnythingThatIsNotALiteral) {
  const absl::string_view cases[] = {
      "",
      "a",
      "\"",
      "'",
      "`",
      "abc",
      "\"a",
      "a\"",
      "\"a'",
      "\"a\" ",
      " \"a\"",
      R"(""a")",
      R"("\")",
      "\"\\",
      "'ab'",
      R"('\"')",
      R"("\'")",
      "'''",
      "`a`b`",
      "\"\n\"",
      "'\n'",
      "\"\\\n\"",
      R"("\q")",
      R"("\e")",
      R"("\07")",
      R"("\08")",
      R"("\0")",
      R"("\400")",
      R"("\777")",
      R"("\8")",
      R"("\x4")",
      R"("\x")",
      R"("\xG0")",
      R"("\XAB")",
      R"("\u12")",
      R"("\u123g")",
      R"("\U1234567")",
      R"("\ud800")",
      R"("\udfff")",
      R"("\U0000d800")",
      R"("\U00110000")",
      R"("\Uffffffff")",
      R"('\')",
      R"('a\')",
      "'世界'",
  };
  for (const absl::string_view literal : cases) {
    std::string text;
    EXPECT_FALSE(AppendUnquoted(literal, &text)) << absl::CHexEscape(literal);
  }
}

TEST(QuoteTest, RandomBytesComeBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 24, '\0');
    // Bytes of every kind, many of them leading or continuing runes.
    for (char& c : text) {
      const uint32_t kind = random() % 4;
      c = static_cast<char>(kind == 0   ? random()
                            : kind == 1 ? 0x80 | random() % 0x40
                            : kind == 2 ? 0xc0 | random() % 0x38
                                        : random() % 0x80);
    }
    const std::string quoted = Quote(text);
    std::string back;
    ASSERT_TRUE(AppendUnquoted(quoted, &back)) << quoted;
    ASSERT_EQ(back, text) << quoted;
    for (const char c : quoted) ASSERT_NE(c, '\n');
  }
}

}  // namespace quote_test
}  // namespace gotrace::internal
