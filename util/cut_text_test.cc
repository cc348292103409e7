#include "util/cut_text.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace cut_text_test {

TEST(CutTextTest, PrefixesEndBetweenCharacters) {
  const std::string text = "aü€😀\xff";
  const std::pair<size_t, absl::string_view> kCases[] = {
      {0, ""},    {1, "a"},   {2, "a"},   {3, "aü"},    {4, "aü"},  {5, "aü"}, {6, "aü€"},
      {7, "aü€"}, {8, "aü€"}, {9, "aü€"}, {10, "aü€😀"}, {11, text}, {12, text}};
  for (const auto& [size, prefix] : kCases) EXPECT_EQ(WholePrefix(text, size), prefix) << size;
  // What is not UTF-8 is cut anywhere.
  EXPECT_EQ(WholePrefix("\xe2\x82\xe2\x82", 1), "\xe2");
  EXPECT_EQ(WholePrefix("\x82\x82\x82\x82\x82", 4).size(), 4u);
  EXPECT_EQ(QuotedPrefix("a\n€", 4), "\"a\\n\"…");
  EXPECT_EQ(QuotedPrefix("a\n€", 5), "\"a\\n€\"");
}

TEST(CutTextTest, ShownCharactersAreWhole) {
  const std::string shown = Quoted("\"a€\x01\u00a0\U000e0001\n\xff");
  std::vector<std::string> parts;
  for (absl::string_view rest = shown; !rest.empty();) {
    parts.emplace_back(rest.substr(0, ShownCharacterSize(rest)));
    rest.remove_prefix(parts.back().size());
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"\"", "\\\"", "a", "€", "\\x01", "\\u00a0",
                                             "\\U000e0001", "\\n", "\\xff", "\""}));
  EXPECT_EQ(ShownCharacterSize("\\"), 1u);
  EXPECT_EQ(ShownCharacterSize("\\u0"), 3u);
}

}  // namespace cut_text_test
}  // namespace gotrace::internal
