#include "util/text_pattern.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace text_pattern_test {

TextPattern Parsed(absl::string_view pattern) {
  absl::StatusOr<TextPattern> parsed = TextPattern::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : TextPattern();
}

TEST(TextPattern, MatchesWholeTexts) {
  EXPECT_TRUE(Parsed("main.worker").Matches("main.worker"));
  EXPECT_FALSE(Parsed("main.worker").Matches("main.worker.func1"));
  EXPECT_FALSE(Parsed("worker").Matches("main.worker"));
  EXPECT_TRUE(Parsed(R"(main\..*)").Matches("main.worker.func1"));
  EXPECT_TRUE(Parsed("main.a|main.a.func[12]").Matches("main.a.func2"));
  EXPECT_FALSE(Parsed("main.a|main.b").Matches("main.ab"));
}

TEST(TextPattern, IsFoundInTexts) {
  EXPECT_TRUE(Parsed("worker").IsIn("main.worker.func1"));
  EXPECT_TRUE(Parsed("func1$").IsIn("main.worker.func1"));
  EXPECT_FALSE(Parsed("^worker").IsIn("main.worker.func1"));
  EXPECT_FALSE(Parsed("Worker").IsIn("main.worker.func1"));
}

TEST(TextPattern, TakesNamesOfMethodsAsTheyAre) {
  EXPECT_TRUE(Parsed("main.(*Cache).Get").Matches("main.(*Cache).Get"));
  EXPECT_FALSE(Parsed("main.(*Cache).Get").Matches("main.Cache.Get"));
  EXPECT_TRUE(Parsed("main.(*Cache).(Get|Put)").Matches("main.(*Cache).Put"));
  EXPECT_TRUE(Parsed(R"(main\.\(\*Cache\).*)").Matches("main.(*Cache).Put"));
  // A name of a generic function is a text of its own.
  EXPECT_TRUE(Parsed("main.Map[...]").Matches("main.Map[...]"));
  EXPECT_TRUE(Parsed("Map[...]").IsIn("main.Map[...].func1"));
}

TEST(TextPattern, MayBeWrong) {
  EXPECT_EQ(TextPattern::Parse("main.[a").status().code(), absl::StatusCode::kInvalidArgument);
  const TextPattern literal = TextPattern::ParseOrLiteral("main.[a");
  EXPECT_TRUE(literal.Matches("main.[a"));
  EXPECT_TRUE(literal.IsIn("x main.[a"));
  EXPECT_FALSE(literal.Matches("main.a"));
}

TEST(TextPattern, MatchesEverythingIfEmpty) {
  EXPECT_TRUE(TextPattern().MatchesAll());
  EXPECT_TRUE(TextPattern::ParseOrLiteral("").MatchesAll());
  EXPECT_TRUE(TextPattern().IsIn("x"));
  EXPECT_TRUE(TextPattern().Matches(""));
  EXPECT_FALSE(Parsed("x").MatchesAll());
}

}  // namespace text_pattern_test
}  // namespace gotrace::internal
