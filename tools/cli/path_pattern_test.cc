#include "tools/cli/path_pattern.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace path_pattern_test {

// "name=value" of each name in alphabetical order, or "none".
std::string Match(absl::string_view pattern, absl::string_view path) {
  const absl::StatusOr<PathPattern> parsed = PathPattern::Parse(pattern);
  if (!parsed.ok()) return std::string(parsed.status().message());
  const std::optional<PathPattern::Values> values = parsed->Match(path);
  if (!values.has_value()) return "none";
  std::string text;
  for (const auto& [name, value] : *values) {
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=", value);
  }
  return text;
}

TEST(PathPattern, MatchesTheLastComponents) {
  constexpr absl::string_view kPattern = "{service}/{date}/{host}-*.trace";
  EXPECT_EQ(Match(kPattern, "/data/checkout/2026-11-21/web1-17.trace"),
            "date=2026-11-21 host=web1 service=checkout");
  EXPECT_EQ(Match(kPattern, "checkout/2026-11-21/web1-.trace"),
            "date=2026-11-21 host=web1 service=checkout");
  EXPECT_EQ(Match(kPattern, "./checkout//2026-11-21/web1-x.trace"),
            "date=2026-11-21 host=web1 service=checkout");
  EXPECT_EQ(Match(kPattern, "2026-11-21/web1-17.trace"), "none");
  EXPECT_EQ(Match(kPattern, "checkout/2026-11-21/web1.trace"), "none");
  EXPECT_EQ(Match(kPattern, "checkout/2026-11-21/-17.trace"), "none");
  EXPECT_EQ(Match(kPattern, "checkout/2026-11-21/web1-17.trace.zst"), "none");
}

TEST(PathPattern, TakesAsLittleAsPossible) {
  EXPECT_EQ(Match("{a}-{b}", "x-y-z"), "a=x b=y-z");
  EXPECT_EQ(Match("{a}{b}", "xyz"), "a=x b=yz");
  EXPECT_EQ(Match("*-{a}", "x-y-z"), "a=y-z");
  EXPECT_EQ(Match("{a}.trace*", "x.trace.trace.zst"), "a=x");
  EXPECT_EQ(Match("{a}.trace", "x.trace.trace"), "a=x.trace");
  EXPECT_EQ(Match("*", "x"), "");
  EXPECT_EQ(Match("{a}{b}", "x"), "none");
  EXPECT_EQ(Match("x", "y"), "none");
  EXPECT_EQ(Match("x", ""), "none");
}

TEST(PathPattern, Errors) {
  EXPECT_EQ(Match("{a", ""), "a { has no } after it");
  EXPECT_EQ(Match("{a{b}", ""), "a { has no } after it");
  EXPECT_EQ(Match("a}", ""), "a } has no { before it");
  EXPECT_EQ(Match("{}", ""), "{} needs a name, as in {host}");
  EXPECT_EQ(Match("{a}/{a}", ""), "{a} is there twice");
  EXPECT_EQ(Match("{a}//x", ""), "a part of \"{a}//x\" between slashes is empty");
}

// A pattern that could be tried in very many ways.
TEST(PathPattern, TakesNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) absl::StrAppend(&pattern, "*a");
  EXPECT_EQ(Match(absl::StrCat(pattern, "b"), std::string(200, 'a')), "none");
}

}  // namespace path_pattern_test
}  // namespace gotrace::internal
