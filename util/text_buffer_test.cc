#include "util/text_buffer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace text_buffer_test {

TEST(TextBufferTest, BeginsEmpty) {
  TextBuffer buffer;
  EXPECT_EQ(buffer.view(), "");
  EXPECT_EQ(buffer.size(), 0u);
  buffer.Append("");
  buffer.clear();
  EXPECT_EQ(buffer.view(), "");
}

TEST(TextBufferTest, AppendsTextAndCharacters) {
  TextBuffer buffer;
  buffer.Append("one");
  buffer.Append(' ');
  buffer.Append(absl::string_view("t\0o", 3));
  EXPECT_EQ(buffer.view(), absl::string_view("one t\0o", 7));
  EXPECT_EQ(buffer.size(), 7u);
}

TEST(TextBufferTest, AppendsNumbers) {
  TextBuffer buffer;
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{42}, INT64_MAX, INT64_MIN}) {
    buffer.Append(number);
    buffer.Append(' ');
  }
  buffer.Append(UINT64_MAX);
  EXPECT_EQ(buffer.view(), "0 -1 42 9223372036854775807 -9223372036854775808 18446744073709551615");
  buffer.clear();
  buffer.AppendHex(0);
  buffer.Append(' ');
  buffer.AppendHex(0xabc);
  buffer.Append(' ');
  buffer.AppendHex(UINT64_MAX);
  EXPECT_EQ(buffer.view(), "0 abc ffffffffffffffff");
}

TEST(TextBufferTest, GrowsByPiecesOfEverySize) {
  for (const size_t piece :
       {size_t{1}, size_t{7}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{100000}}) {
    TextBuffer buffer;
    std::string expected;
    while (expected.size() < 300000) {
      const std::string text(piece, static_cast<char>('a' + expected.size() % 26));
      buffer.Append(text);
      expected += text;
    }
    EXPECT_EQ(std::string(buffer.view()), expected) << piece;
  }
}

TEST(TextBufferTest, GrowsByNumbersAtEveryPosition) {
  for (size_t before = 4060; before < 4110; ++before) {
    TextBuffer buffer;
    buffer.Append(std::string(before, 'x'));
    buffer.Append(UINT64_MAX);
    buffer.Append(INT64_MIN);
    EXPECT_EQ(std::string(buffer.view()),
              absl::StrCat(std::string(before, 'x'), UINT64_MAX, INT64_MIN));
  }
}

TEST(TextBufferTest, AppendsConsecutivePieces) {
  constexpr ShortText<16> kName = {"na", "", "me"};
  EXPECT_EQ(kName.view(), "name");
  TextBuffer buffer;
  buffer.Append("a=", uint64_t{1}, ' ', kName, '=', int64_t{-2}, absl::string_view(), "!");
  EXPECT_EQ(buffer.view(), "a=1 name=-2!");
}

TEST(TextBufferTest, ShortTextsMayBeEmptyOrFull) {
  constexpr ShortText<8> kFull = {"12345", "67"};
  TextBuffer buffer;
  buffer.Append(ShortText<8>(), kFull, ShortText<8>(), kFull, '.');
  EXPECT_EQ(buffer.view(), "12345671234567.");
}

TEST(TextBufferTest, GrowsByPiecesAtEveryPosition) {
  constexpr ShortText<32> kName = {"name"};
  for (size_t before = 4000; before < 4110; ++before) {
    TextBuffer buffer;
    buffer.Append(std::string(before, 'x'));
    buffer.Append(kName, INT64_MIN, kName);
    EXPECT_EQ(std::string(buffer.view()),
              absl::StrCat(std::string(before, 'x'), "name", INT64_MIN, "name"));
  }
}

TEST(TextBufferTest, ClearingKeepsTheMemory) {
  TextBuffer buffer;
  buffer.Append(std::string(10000, 'x'));
  const char* const data = buffer.view().data();
  buffer.clear();
  EXPECT_EQ(buffer.size(), 0u);
  buffer.Append(std::string(10000, 'y'));
  EXPECT_EQ(buffer.view().data(), data);
  EXPECT_EQ(std::string(buffer.view()), std::string(10000, 'y'));
}

}  // namespace text_buffer_test
}  // namespace gotrace::internal
