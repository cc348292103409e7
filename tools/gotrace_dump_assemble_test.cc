// Runs `gotrace-dump assemble` as its users do.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_assemble_test {

std::string CompressedPath(absl::string_view trace) {
  return TestFilePath(absl::StrCat(trace, ".zst"));
}

void ExpectSuccess(const SubprocessResult& result) {
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

class EachTrace : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Assemble, EachTrace, testing::ValuesIn(TestTraces()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = absl::ascii_isalnum(c) ? c : '_';
                           return name;
                         });

TEST_P(EachTrace, GivesBackWhatWirePrinted) {
  const SubprocessResult wire = RunDump({"wire", "--header", CompressedPath(GetParam().name)});
  ExpectSuccess(wire);
  const SubprocessResult padded = RunDump({"assemble", "--padded", "-"}, {.input = wire.out});
  ExpectSuccess(padded);
  EXPECT_TRUE(padded.out == ReadTestTrace(GetParam().name));

  // The shortest form is another trace with the same events.
  const SubprocessResult shortest = RunDump({"assemble", "-"}, {.input = wire.out});
  ExpectSuccess(shortest);
  EXPECT_LT(shortest.out.size(), padded.out.size());
  const SubprocessResult events = RunDump({"-"}, {.input = shortest.out});
  EXPECT_EQ(Sha256Hex(events.out), GetParam().parsed_sha256);
}

// A directory of the test's own, to see what is left in it.
class Assemble : public testing::Test {
 protected:
  Assemble() : directory_(MakeTestDirectory()), target_(directory_ + "/out.trace") {
    text_ = RunDump({"wire", "--header", CompressedPath("go1.27-annotations.trace")}).out;
    trace_ = RunDump({"assemble", "-"}, {.input = text_}).out;
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const std::string directory_;
  const std::string target_;
  std::string text_;
  std::string trace_;
};

TEST_F(Assemble, ReadsFilesAndPieces) {
  const std::string path = directory_ + "/text";
  std::ofstream(path) << text_;
  EXPECT_EQ(RunDump({"assemble", path}).out, trace_);
  EXPECT_EQ(RunDump({"assemble", "-o", "-", path}).out, trace_);
  EXPECT_EQ(RunDump({"assemble", "-"}, {.input = text_, .piece_size = 1}).out, trace_);
  EXPECT_EQ(RunDump({"assemble", "-"}, {.input = text_, .piece_size = 64 << 10}).out, trace_);
}

TEST_F(Assemble, ReadsCompressedText) {
  const SubprocessResult gzip =
      RunSubprocess({"/bin/sh", "-c", "gzip -c | tools/gotrace-dump assemble -"}, {.input = text_});
  EXPECT_EQ(gzip.exit_code, 0) << gzip.err;
  EXPECT_EQ(gzip.out, trace_);
}

TEST_F(Assemble, TakesLinesOfWindowsAndALastOneWithoutEnd) {
  std::string windows;
  for (const char c : text_) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(RunDump({"assemble", "-"}, {.input = windows}).out, trace_);
  EXPECT_EQ(RunDump({"assemble", "-"}, {.input = text_.substr(0, text_.size() - 1)}).out, trace_);
}

TEST_F(Assemble, WritesAFile) {
  const mode_t mask = umask(022);
  const SubprocessResult result = RunDump({"assemble", "-o", target_, "-"}, {.input = text_});
  umask(mask);
  ExpectSuccess(result);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(ReadFile(target_), trace_);
  EXPECT_EQ(Files(), std::vector<std::string>{"out.trace"});
  struct stat info;
  ASSERT_EQ(stat(target_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644U);
}

TEST_F(Assemble, ReplacesAFileAndKeepsItsPermissions) {
  std::ofstream(target_) << std::string(1 << 20, 'x');
  chmod(target_.c_str(), 0600);
  ExpectSuccess(RunDump({"assemble", "-o", target_, "-"}, {.input = text_}));
  EXPECT_EQ(ReadFile(target_), trace_);
  struct stat info;
  ASSERT_EQ(stat(target_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(Assemble, FollowsALink) {
  const std::string link = directory_ + "/link";
  std::ofstream(target_) << "old";
  ASSERT_EQ(symlink("out.trace", link.c_str()), 0);
  ExpectSuccess(RunDump({"assemble", "-o", link, "-"}, {.input = text_}));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ReadFile(target_), trace_);
}

TEST_F(Assemble, WritesADevice) {
  ExpectSuccess(RunDump({"assemble", "-o", "/dev/stdout", "-"}, {.input = text_}));
  EXPECT_EQ(RunDump({"assemble", "-o", "/dev/stdout", "-"}, {.input = text_}).out, trace_);
  const SubprocessResult full = RunDump({"assemble", "-o", "/dev/full", "-"}, {.input = text_});
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_EQ(full.err, "gotrace-dump: writing /dev/full: No space left on device\n");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Assemble, LeavesNoFileAfterAnError) {
  std::string broken = text_;
  broken.insert(broken.size() / 2, "\nGoStrt\n");
  const SubprocessResult result = RunDump({"assemble", "-o", target_, "-"}, {.input = broken});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(Files(), std::vector<std::string>());

  std::ofstream(target_) << "old";
  EXPECT_EQ(RunDump({"assemble", "-o", target_, "-"}, {.input = broken}).exit_code, 1);
  EXPECT_EQ(ReadFile(target_), "old");
  EXPECT_EQ(Files(), std::vector<std::string>{"out.trace"});
}

TEST_F(Assemble, CannotWriteEverywhere) {
  const std::string missing = directory_ + "/missing/out.trace";
  const SubprocessResult no_directory = RunDump({"assemble", "-o", missing, "-"});
  EXPECT_EQ(no_directory.exit_code, 2);
  EXPECT_EQ(no_directory.err,
            absl::StrCat("gotrace-dump: creating ", missing, ": No such file or directory\n"));
  const SubprocessResult directory = RunDump({"assemble", "-o", directory_, "-"});
  EXPECT_EQ(directory.exit_code, 2);
  EXPECT_EQ(directory.err,
            absl::StrCat("gotrace-dump: opening ", directory_, ": Is a directory\n"));
  const SubprocessResult full =
      RunDump({"assemble", "-"}, {.input = text_, .output_path = "/dev/full"});
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_EQ(full.err, "gotrace-dump: writing the standard output: No space left on device\n");
}

TEST_F(Assemble, SaysWhatIsWrongWithTheText) {
  struct Case {
    std::string text;
    std::string error;
  };
  constexpr absl::string_view kHint =
      "; `gotrace-dump wire --header` prints a trace as such a text";
  const Case kCases[] = {
      {"", absl::StrCat("expected a header line like \"Trace Go1.22\", found the end of the text",
                        kHint)},
      {"\n\nGoStart dt=1\n",
       absl::StrCat("line 3: expected a header line like \"Trace Go1.22\", found \"GoStart dt=1\"",
                    kHint)},
      {"Trace Go1.24\n",
       absl::StrCat("line 1: expected one of the versions Go1.22, Go1.23, Go1.25 and Go1.26, "
                    "found \"Trace Go1.24\"",
                    kHint)},
      {"Trace Go1.22\nGoStrt dt=1\n", "line 2: expected the name of an event, found \"GoStrt\""},
      {"Trace Go1.22\n\nProcStop dt=x\n", "line 3: expected argument dt=NUMBER, found \"dt=x\""},
      {"Trace Go1.22\nStack id=1 nframes=2\n\tpc=1 func=1 file=1 line=1\n",
       "expected 1 more frames, found the end of the text"},
  };
  for (const Case& c : kCases) {
    const SubprocessResult result = RunDump({"assemble", "-"}, {.input = c.text});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, absl::StrCat("gotrace-dump: standard input: ", c.error, "\n"));
  }
}

TEST_F(Assemble, WarnsOfSizesThatAreWrong) {
  constexpr absl::string_view kText =
      "Trace Go1.26\nEventBatch gen=1 m=2 time=3 size=7\nProcStatus dt=1 p=1 pstatus=1\n";
  const SubprocessResult result = RunDump({"assemble", "-"}, {.input = std::string(kText)});
  // Broken traces are made on purpose too.
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.size(), 16u + 5 + 4);
  EXPECT_EQ(result.err,
            "gotrace-dump: standard input: line 2: the batch states size=7, but its events take 4 "
            "bytes; the trace cannot be read like this; size=auto is always right\n");
}

TEST_F(Assemble, ReadsNoLineWithoutEnd) {
  const SubprocessResult result =
      RunDump({"assemble", "-"}, {.input = text_ + std::string(5 << 20, 'x')});
  EXPECT_EQ(result.exit_code, 1);
  const size_t lines = std::count(text_.begin(), text_.end(), '\n');
  EXPECT_EQ(result.err, absl::StrCat("gotrace-dump: standard input: line ", lines + 1,
                                     ": expected at most 1048576 bytes, found more\n"));
}

TEST_F(Assemble, QuotesOnlyTheBeginningOfWhatIsLong) {
  const SubprocessResult result =
      RunDump({"assemble", "-"}, {.input = text_ + std::string(5000, 'x') + "\n"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::EndsWith(result.err, absl::StrCat(std::string(100, 'x'), "\"...\n")));
  EXPECT_LT(result.err.size(), 300u);
}

TEST_F(Assemble, EndsQuietlyWhenNobodyReads) {
  const SubprocessResult result = RunDump({"assemble", "-"}, {.input = text_, .read_at_most = 0});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "");
}

// An output that was named is reported.
TEST_F(Assemble, ReportsThatNobodyReadsTheTarget) {
  const SubprocessResult result =
      RunDump({"assemble", "-o", "/dev/stdout", "-"}, {.input = text_, .read_at_most = 0});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "gotrace-dump: writing /dev/stdout: Broken pipe\n");
}

// ThreadSanitizer needs files of its own, larger than those that are allowed here.
#ifndef __SANITIZE_THREAD__
TEST_F(Assemble, LeavesTheOldFileWhereThereIsNoRoom) {
  for (const bool is_there : {false, true}) {
    if (is_there) std::ofstream(target_) << "old";
    const SubprocessResult result =
        RunDump({"assemble", "-o", target_, "-"}, {.input = text_, .file_size = 1000});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, absl::StrCat("gotrace-dump: writing ", target_, ": File too large\n"));
    EXPECT_EQ(ReadFile(target_), is_there ? "old" : "");
    EXPECT_EQ(Files().size(), is_there ? 1u : 0u);
  }
}
#endif

}  // namespace gotrace_dump_assemble_test
}  // namespace gotrace::internal
