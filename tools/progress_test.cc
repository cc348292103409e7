#include "tools/progress.h"

#include "gtest/gtest.h"

namespace gotrace {
namespace {

TEST(FormatProgress, TellsShareRateAndTimeLeft) {
  EXPECT_EQ(FormatProgress({.bytes = 12'340'000, .total = 45'600'000, .events = 3'000'000},
                           absl::Seconds(2)),
            "12.3 MB of 45.6 MB (27%), 3000000 events, 1.5 M/s, 5 s left");
  EXPECT_EQ(FormatProgress({.bytes = 500'000, .total = 100'000'000, .events = 1},
                           absl::Milliseconds(1500)),
            "0.5 MB of 100.0 MB (0%), 1 events, 0.0 M/s, 298 s left");
}

TEST(FormatProgress, TellsWhichOfSeveralFiles) {
  EXPECT_EQ(FormatProgress({.bytes = 500'000, .total = 0, .events = 9, .file = 2, .files = 3},
                           absl::ZeroDuration()),
            "file 2 of 3, 0.5 MB, 9 events");
  EXPECT_EQ(FormatProgress({.bytes = 500'000, .total = 0, .events = 9, .file = 1, .files = 1},
                           absl::ZeroDuration()),
            "0.5 MB, 9 events");
}

TEST(FormatProgress, LeavesOutShareAndTimeOfAnInputOfUnknownSize) {
  EXPECT_EQ(
      FormatProgress({.bytes = 12'340'000, .total = 0, .events = 3'000'000}, absl::Seconds(2)),
      "12.3 MB, 3000000 events, 1.5 M/s");
}

// A file that grows while it is read.
TEST(FormatProgress, LeavesOutTheShareOfAnInputThatIsLargerThanItWas) {
  EXPECT_EQ(FormatProgress({.bytes = 2'000'001, .total = 2'000'000, .events = 7}, absl::Seconds(1)),
            "2.0 MB, 7 events, 0.0 M/s");
}

TEST(FormatProgress, KnowsNoTimeLeftBeforeTheFirstAndAfterTheLastByte) {
  EXPECT_EQ(FormatProgress({.bytes = 0, .total = 1'000'000, .events = 0}, absl::Seconds(1)),
            "0.0 MB of 1.0 MB (0%), 0 events, 0.0 M/s");
  EXPECT_EQ(FormatProgress({.bytes = 1'000'000, .total = 1'000'000, .events = 5'000'000},
                           absl::Seconds(2)),
            "1.0 MB of 1.0 MB (100%), 5000000 events, 2.5 M/s");
}

TEST(FormatProgress, KnowsNoRateAtTheBeginning) {
  EXPECT_EQ(FormatProgress({.bytes = 1'000'000, .total = 0, .events = 9}, absl::ZeroDuration()),
            "1.0 MB, 9 events");
}

// A hundred petabytes are enough.
TEST(FormatProgress, TakesLargeNumbers) {
  EXPECT_EQ(FormatProgress({.bytes = 90'000'000'000'000'000,
                            .total = 100'000'000'000'000'000,
                            .events = 18'446'744'073'709'551'615U},
                           absl::Seconds(9)),
            "90000000000.0 MB of 100000000000.0 MB (90%), 18446744073709551615 events, "
            "2049638230412.2 M/s, 1 s left");
}

// Tests have no terminal on the standard error.
TEST(Progress, IsNeverDueWithoutATerminal) {
  Progress progress(/*prints_along=*/false);
  for (int i = 0; i < 10000; ++i) ASSERT_FALSE(progress.Due());
}

}  // namespace
}  // namespace gotrace
