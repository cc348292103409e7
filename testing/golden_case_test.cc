#include "testing/golden_case.h"

#include <string>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace golden_case_test {

constexpr char kText[] = R"(# A trace
# of nothing.
-- trace --
Trace Go1.26
-- bytes --
"1"  # An experimental batch that ends early.
-- outcome --
ok
-- events --
M=-1 P=-1 G=-1 Sync Time=1 N=1
)";

TEST(GoldenCaseTest, ParseAndFormatAreInverse) {
  const absl::StatusOr<GoldenCase> golden = ParseGoldenCase(kText);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(golden->comment, "# A trace\n# of nothing.\n");
  EXPECT_EQ(golden->trace, "Trace Go1.26\n");
  EXPECT_EQ(golden->outcome, "ok\n");
  EXPECT_EQ(golden->events, "M=-1 P=-1 G=-1 Sync Time=1 N=1\n");
  EXPECT_EQ(FormatGoldenCase(*golden), kText);
}

TEST(GoldenCaseTest, NewCaseNeedsNoOutcome) {
  const absl::StatusOr<GoldenCase> golden = ParseGoldenCase("# New.\n-- bytes --\n\"go\"\n");
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(golden->outcome, "");
  EXPECT_EQ(FormatGoldenCase(*golden),
            "# New.\n-- bytes --\n\"go\"\n-- outcome --\n-- events --\n");
}

TEST(GoldenCaseTest, RefusesTextBeforeTheFirstSection) {
  EXPECT_EQ(ParseGoldenCase("# A\nTrace Go1.26\n").status().message(),
            "line 2: expected a comment or the line \"-- trace --\" or \"-- bytes --\"");
}

TEST(GoldenCaseTest, RefusesSectionsOutOfOrder) {
  EXPECT_EQ(ParseGoldenCase("-- bytes --\n-- trace --\n").status().message(),
            "line 2: expected the sections in order, each once");
  EXPECT_EQ(ParseGoldenCase("-- bytes --\n-- bytes --\n").status().message(),
            "line 2: expected the sections in order, each once");
}

std::string InputOf(absl::string_view bytes) {
  GoldenCase golden;
  golden.bytes = std::string(bytes);
  const absl::StatusOr<std::string> input = GoldenInput(golden);
  return input.ok() ? *input : std::string(input.status().message());
}

TEST(GoldenCaseTest, BytesAreQuotedStrings) {
  EXPECT_EQ(InputOf(""), "");
  EXPECT_EQ(InputOf("\"a\\x00\\\"\"  # b\n\n# c\n  \"d#\"\n"), std::string("a\0\"d#", 5));
  EXPECT_EQ(InputOf("\"ab\" * 3\n\"c\"*2 # d\n\"e\" * 0\n\"f\" * 1\n"), "abababccf");
}

TEST(GoldenCaseTest, RefusesOtherBytes) {
  constexpr char kMessage[] =
      "section bytes, line 1: expected a string in double quotes, or one like \"a\" * 5";
  for (const char* line : {"a", "\"a", "\"a\\", "\"\\q\"", "\"a\" b", "\"a\" * b", "'a'"}) {
    EXPECT_EQ(InputOf(line), kMessage) << line;
  }
}

TEST(GoldenCaseTest, TraceComesBeforeBytes) {
  const absl::StatusOr<GoldenCase> golden = ParseGoldenCase(kText);
  ASSERT_TRUE(golden.ok()) << golden.status();
  const absl::StatusOr<std::string> input = GoldenInput(*golden);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(*input, std::string("go 1.26 trace\0\0\0"
                                "1",
                                17));
}

TEST(GoldenCaseTest, AnErrorNamesTheLineOfTheTrace) {
  GoldenCase golden;
  golden.trace = "Trace Go1.26\nEventBitch\n";
  EXPECT_EQ(GoldenInput(golden).status().message(),
            "section trace, line 2: expected the name of an event, found \"EventBitch\"");
}

TEST(GoldenCaseTest, OutcomeHasThePlace) {
  EXPECT_EQ(FormatOutcome(absl::OkStatus()), "ok\n");
  Fault fault = {FaultId::kGCRunning, Place(), "expected this"};
  EXPECT_EQ(FormatOutcome(FaultStatus(fault)), "fault gc-running\nexpected this\n");
  fault.place.offset = 5;
  fault.place.generation = 6;
  EXPECT_EQ(FormatOutcome(FaultStatus(fault)),
            "fault gc-running at byte 5, generation 6\nexpected this\n");
  EXPECT_EQ(FormatOutcome(absl::UnavailableError("gone")), "error UNAVAILABLE: gone\n");
}

}  // namespace golden_case_test
}  // namespace gotrace::internal
