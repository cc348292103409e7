#include "tools/cli/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace progress_test {

TEST(FormatProgress, TellsShareRateAndTimeLeft) {
  EXPECT_EQ(FormatProgress({.bytes = 12'340'000, .total = 45'600'000, .events = 3'000'000},
                           absl::Seconds(2)),
            "12.3 MB of 45.6 MB (27%), 3000000 events, 1.5 M events/s, 6 s left");
  EXPECT_EQ(FormatProgress({.bytes = 500'000, .total = 100'000'000, .events = 1},
                           absl::Milliseconds(1500)),
            "0.5 MB of 100.0 MB (0%), 1 event, 0.0 M events/s, 299 s left");
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
      "12.3 MB, 3000000 events, 1.5 M events/s");
}

// A file that grows while it is read.
TEST(FormatProgress, LeavesOutTheShareOfAnInputThatIsLargerThanItWas) {
  EXPECT_EQ(FormatProgress({.bytes = 2'000'001, .total = 2'000'000, .events = 7}, absl::Seconds(1)),
            "2.0 MB, 7 events, 0.0 M events/s");
}

TEST(FormatProgress, KnowsNoTimeLeftBeforeTheFirstAndAfterTheLastByte) {
  EXPECT_EQ(FormatProgress({.bytes = 0, .total = 1'000'000, .events = 0}, absl::Seconds(1)),
            "0.0 MB of 1.0 MB (0%)");
  EXPECT_EQ(FormatProgress({.bytes = 1'000'000, .total = 1'000'000, .events = 5'000'000},
                           absl::Seconds(2)),
            "1.0 MB of 1.0 MB (100%), 5000000 events, 2.5 M events/s");
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
            "2049638230412.2 M events/s, 1 s left");
}

// Tests have no terminal on the standard error.
TEST(Progress, IsNeverDueWithoutATerminal) {
  Progress progress(/*prints_along=*/false);
  for (int i = 0; i < 10000; ++i) ASSERT_FALSE(progress.Due());
}

// Returns what appears on a terminal of so many columns while progress is shown and wiped. Takes a
// second.
std::string ShownOn(unsigned short columns, const char* terminal) {
  const int main_side = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(main_side, 0);
  EXPECT_EQ(grantpt(main_side), 0);
  EXPECT_EQ(unlockpt(main_side), 0);
  const int terminal_side = open(ptsname(main_side), O_RDWR | O_NOCTTY);
  EXPECT_GE(terminal_side, 0);
  winsize size = {};
  size.ws_col = columns;
  EXPECT_EQ(ioctl(terminal_side, TIOCSWINSZ, &size), 0);
  setenv("TERM", terminal, /*overwrite=*/1);
  const int standard_error = dup(STDERR_FILENO);
  dup2(terminal_side, STDERR_FILENO);
  {
    Progress progress(/*prints_along=*/false);
    if (progress.enabled()) {
      const ProgressCount count = {.bytes = 12'340'000, .total = 0, .events = 3'000'000};
      progress.Show(count);  // Too early.
      absl::SleepFor(absl::Milliseconds(1050));
      progress.Show(count);
      progress.Show(count);  // Too soon after that.
    }
  }
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  // A terminal passes on what is written to it a little later, and not always at once.
  constexpr absl::string_view kEnd = "<end>";
  EXPECT_EQ(write(terminal_side, kEnd.data(), kEnd.size()), static_cast<ssize_t>(kEnd.size()));
  std::string shown;
  while (!absl::EndsWith(shown, kEnd)) {
    char buffer[1000];
    const ssize_t count = read(main_side, buffer, sizeof(buffer));
    if (count <= 0) break;
    shown.append(buffer, static_cast<size_t>(count));
  }
  EXPECT_TRUE(absl::EndsWith(shown, kEnd)) << shown;
  shown.resize(shown.size() - std::min(shown.size(), kEnd.size()));
  close(terminal_side);
  close(main_side);
  return shown;
}

TEST(Progress, ShowsALineAndWipesIt) {
  const std::string shown = ShownOn(/*columns=*/0, "xterm");
  EXPECT_TRUE(absl::StartsWith(shown, "\r\033[K12.3 MB, 3000000 events, ")) << shown;
  EXPECT_TRUE(absl::EndsWith(shown, " M events/s\r\033[K")) << shown;
  // Once each.
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\r'), 2);
}

TEST(Progress, FitsTheTerminal) {
  EXPECT_EQ(ShownOn(/*columns=*/20, "xterm"), "\r\033[K12.3 MB, 3000000 ev\r\033[K");
}

TEST(Progress, IsNotShownOnATerminalThatCannotWipe) { EXPECT_EQ(ShownOn(80, "dumb"), ""); }

}  // namespace progress_test
}  // namespace gotrace::internal
