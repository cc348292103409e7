// Runs `gotrace-dump repair` as its users do.
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace gotrace_dump_repair_test {

constexpr absl::string_view kTrace = "go1.27-generations.trace";

class RepairCommand : public testing::Test {
 protected:
  RepairCommand() : directory_(MakeTestDirectory()), target_(directory_ + "/repaired.out") {
    sound_ = ReadTestTrace(kTrace);
    // The third generation lacks its end.
    broken_ = sound_.substr(0, sound_.size() - 500);
  }

  std::string Write(absl::string_view name, const std::string& bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  std::string ReadTarget() const { return ReadFile(target_); }

  const std::string directory_;
  const std::string target_;
  std::string sound_;
  std::string broken_;
};

TEST_F(RepairCommand, DoesNotReplaceItsInput) {
  const std::string broken = Write("broken.out", broken_);
  const std::string link = directory_ + "/link";
  std::filesystem::create_symlink(broken, link);
  for (const std::string& target : {broken, directory_ + "/./broken.out", link}) {
    for (const char* const command : {"repair", "assemble"}) {
      const SubprocessResult result = RunDump({command, "-o", target, broken});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_EQ(result.err, absl::StrCat("gotrace-dump: -o ", target,
                                         " is the input, which would be lost; "
                                         "give another name\n"));
    }
  }
  const SubprocessResult redirected = RunSubprocess(
      {"/bin/sh", "-c", "exec tools/gotrace-dump repair -o \"$0\" - < \"$0\"", broken}, {});
  EXPECT_EQ(redirected.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(redirected.err, "is the input, which")) << redirected.err;
  EXPECT_EQ(std::filesystem::file_size(broken), broken_.size());
}

TEST_F(RepairCommand, SaysWhatIsLostAndAdded) {
  constexpr absl::string_view kStuck =
      "Trace Go1.23\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=100 size=auto\nProcStatus dt=1 p=1 pstatus=1\n"
      "GoStart dt=1 g=3 g_seq=1\nHeapAlloc dt=1 heapalloc_value=1\n"
      "GoCreate dt=1 new_g=3 new_stack=0 stack=0\n";
  const SubprocessResult result =
      RunDump({"repair", "-o", target_, Write("stuck.out", *AssembleText(kStuck))});
  EXPECT_TRUE(absl::StrContains(result.err,
                                "1 generation, rewritten, with 6 events, of "
                                "which 1 is added; 1 event is lost (16.67 %); "))
      << result.err;
}

TEST_F(RepairCommand, WritesATraceThatCanBeRead) {
  const std::string broken = Write("broken.out", broken_);
  EXPECT_EQ(RunDump({"info", broken}).exit_code, 1);
  const SubprocessResult result = RunDump({"repair", "-o", target_, broken});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(absl::StrContains(result.err, "gotrace-dump: " + broken + ": generation 3"))
      << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "3 of 3 generations kept")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "; wrote " + target_)) << result.err;
  EXPECT_EQ(RunDump({"info", target_}).exit_code, 0);
}

TEST_F(RepairCommand, ReadsAPipeAndWritesToOne) {
  EXPECT_EQ(RunDump({"repair", "-o", target_, Write("broken.out", broken_)}).exit_code, 0);
  const SubprocessResult result = RunDump({"repair", "-o", "-", "-"}, {.input = broken_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, ReadTarget());
  EXPECT_TRUE(absl::StrContains(result.err, "standard input: generation 3")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, " generations kept, 1 of them rewritten, with "))
      << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "; wrote to the standard output\n")) << result.err;
}

TEST_F(RepairCommand, ReadsCompressedTraces) {
  const SubprocessResult result =
      RunDump({"repair", "-o", target_, TestFilePath(absl::StrCat(kTrace, ".zst"))});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(absl::EndsWith(result.err, absl::StrCat(": sound, there is nothing to repair; wrote ",
                                                      target_, ", not compressed\n")))
      << result.err;
  EXPECT_EQ(ReadTarget(), sound_);
  const SubprocessResult plain = RunDump({"repair", "-o", target_, Write("sound.out", sound_)});
  EXPECT_TRUE(absl::EndsWith(plain.err, absl::StrCat("; wrote ", target_, "\n"))) << plain.err;
}

TEST_F(RepairCommand, CountsEventsAsInfoDoes) {
  const SubprocessResult result = RunDump({"repair", "-o", target_, Write("broken.out", broken_)});
  const std::string info = RunDump({"info", target_}).out;
  const size_t at = info.find("events       ") + 13;
  EXPECT_TRUE(absl::StrContains(
      result.err, absl::StrCat(", with ", info.substr(at, info.find('\n', at) - at), " events")))
      << result.err << info;
}

TEST_F(RepairCommand, KeepsWhatCanBeUnpacked) {
  const std::string packed = ReadTestFile(absl::StrCat(kTrace, ".zst"));
  const std::string cut = Write("cut.zst", packed.substr(0, packed.size() - 1));
  const SubprocessResult result = RunDump({"repair", "-o", target_, cut});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(
      absl::StrContains(result.err, "[compressed-truncated]; using everything before that\n"))
      << result.err;
  EXPECT_EQ(ReadTarget(), sound_);
}

TEST_F(RepairCommand, ChecksWithoutWriting) {
  const SubprocessResult broken = RunDump({"repair", "--check", Write("broken.out", broken_)});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(broken.err, "3 of 3 generations can be kept")) << broken.err;
  EXPECT_EQ(RunDump({"repair", "--check", Write("sound.out", sound_)}).exit_code, 0);
  EXPECT_EQ(RunDump({"repair", "--check", "-o", target_, "-"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(RepairCommand, WritesNothingWhereNothingIsLeft) {
  const SubprocessResult result =
      RunDump({"repair", "-o", target_, Write("header.out", sound_.substr(0, 16) + "rubbish")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.err, "--salvage")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(RepairCommand, RefusesOtherFilesAndReportsErrors) {
  EXPECT_EQ(RunDump({"repair", "-o", target_, Write("page.html", "<html></html>")}).exit_code, 1);
  EXPECT_EQ(RunDump({"repair", "-o", target_, directory_ + "/none"}).exit_code, 2);
  const SubprocessResult full =
      RunDump({"repair", "-o", directory_ + "/no/such", Write("broken.out", broken_)});
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(RepairCommand, ReadsOnlyTheBeginningOfEndlessOtherInput) {
  const SubprocessResult result = RunDump({"repair", "--check", "/dev/zero"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.err, "not-a-trace")) << result.err;
}

// ThreadSanitizer needs files of its own, larger than those that are allowed here.
#ifndef __SANITIZE_THREAD__
TEST_F(RepairCommand, LeavesTheOldFileWhereThereIsNoRoom) {
  std::ofstream(target_) << "old";
  const std::string broken = Write("broken.out", broken_);
  const SubprocessResult result = RunDump({"repair", "-o", target_, broken}, {.file_size = 1000});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, absl::StrCat("gotrace-dump: writing ", target_, ": File too large\n"));
  EXPECT_EQ(ReadTarget(), "old");
  // The two and nothing else.
  const std::filesystem::directory_iterator files(directory_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}
#endif

TEST_F(RepairCommand, EndsWhereNobodyReads) {
  const SubprocessResult quiet =
      RunDump({"repair", "-o", "-", "-"}, {.input = broken_, .read_at_most = 0});
  EXPECT_EQ(quiet.exit_code, 2);
  EXPECT_EQ(quiet.err, "");
  const SubprocessResult named =
      RunDump({"repair", "-o", "/dev/stdout", "-"}, {.input = broken_, .read_at_most = 0});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_EQ(named.err, "gotrace-dump: writing /dev/stdout: Broken pipe\n");
}

}  // namespace gotrace_dump_repair_test
}  // namespace gotrace::internal
