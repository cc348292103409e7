// Runs `gotrace-dump trim`, `select`, `split` and `join` as their users do.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_trim_test {

class Trim : public testing::Test {
 protected:
  Trim()
      : directory_(MakeTestDirectory()),
        target_(directory_ + "/out.trace"),
        trace_(TestFilePath("go1.27-generations.trace.zst")) {}
  ~Trim() override { std::filesystem::remove_all(directory_); }

  const std::string directory_;
  const std::string target_;
  const std::string trace_;
};

TEST_F(Trim, HasTheSameNumbersInTheSameWindow) {
  // The first event is at the same time in both, since the window begins with the trace.
  const SubprocessResult result = RunDump({"trim", "--to=50ms", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": kept ")) << result.err;
  EXPECT_TRUE(absl::EndsWith(result.err, absl::StrCat("; wrote ", target_, "\n"))) << result.err;
  for (const std::string command : {"goroutines", "procs", "gc", "tasks", "regions"}) {
    EXPECT_EQ(RunDump({command, "--to=50ms", "--format=csv", target_}).out,
              RunDump({command, "--to=50ms", "--format=csv", trace_}).out)
        << command;
  }
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
}

TEST_F(Trim, ReadsPipesAndWritesToThem) {
  const SubprocessResult file = RunDump({"trim", "--to=50ms", "-o", target_, trace_});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  const SubprocessResult pipe = RunDump({"trim", "--to=50ms", "-o", "-", "-"},
                                        {.input = ReadTestTrace("go1.27-generations.trace")});
  EXPECT_EQ(pipe.exit_code, 0) << pipe.err;
  EXPECT_TRUE(pipe.out == ReadFile(target_));
}

TEST_F(Trim, NeedsAWindow) {
  SubprocessResult result = RunDump({"trim", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "give --from, --to, or both")) << result.err;
  result = RunDump({"trim", "--from=2s", "--to=1s", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  result = RunDump({"trim", "--from=1h", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "no event is between --from and --to")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
}

TEST_F(Trim, LeavesItsInputAlone) {
  std::filesystem::copy_file(trace_, target_);
  const SubprocessResult result = RunDump({"trim", "--to=1ms", "-o", target_, target_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "is the input, which would be lost")) << result.err;
}

TEST_F(Trim, KeepsEverythingBeforeAFault) {
  std::string cut = ReadTestTrace("go1.27-generations.trace");
  cut.resize(cut.size() * 3 / 4);
  SubprocessResult result = RunDump({"trim", "--from=1ms", "-o", target_, "-"}, {.input = cut});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": kept ")) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
  result = RunDump({"trim", "--from=1ms", "--salvage", "-o", target_, "-"}, {.input = cut});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
}

class Select : public Trim {};

TEST_F(Select, KeepsKindsAndGoroutines) {
  SubprocessResult result = RunDump({"select", "--kind=Log,Metric", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": kept ")) << result.err;
  EXPECT_TRUE(absl::EndsWith(result.err, absl::StrCat("; wrote ", target_, "\n"))) << result.err;
  EXPECT_EQ(RunDump({"events", "--kind=Log,Metric", target_}).out,
            RunDump({"events", "--kind=Log,Metric", trace_}).out);
  EXPECT_EQ(RunDump({"events", "--kind=RangeBegin", target_}).out, "");
  result = RunDump({"select", "--g=1", "--drop", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "; 1 goroutine is left out; ")) << result.err;
  EXPECT_EQ(RunDump({"events", "--g=1", target_}).out, "");
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
}

TEST_F(Select, NeedsASelection) {
  SubprocessResult result = RunDump({"select", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "give --g, --func, --task, --region or --kind"))
      << result.err;
  result = RunDump({"select", "--kind=Log", "--with-wakers", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "--with-wakers needs ")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
}

class Split : public Trim {
 protected:
  const std::string pieces_ = directory_ + "/pieces";
};

TEST_F(Split, GivesPiecesThatJoinToTheWhole) {
  SubprocessResult result = RunDump({"split", "--generations=1", "-o", pieces_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": wrote ")) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", pieces_}).exit_code, 0);
  result = RunDump({"join", "-o", target_, pieces_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": joined ")) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
  const std::string kinds = "--kind=Log,Metric,RegionBegin,RegionEnd";
  EXPECT_EQ(RunDump({"events", kinds, target_}).out, RunDump({"events", kinds, trace_}).out);
}

TEST_F(Split, NeedsALengthAndADirectory) {
  SubprocessResult result = RunDump({"split", "-o", pieces_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "give --every, --size or --generations")) << result.err;
  result = RunDump({"split", "--every=1s", trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "give -o DIR")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(pieces_));
}

TEST_F(Split, JoinsOnlyTracesOfOneProcess) {
  const SubprocessResult result =
      RunDump({"join", "-o", target_, trace_, TestFilePath("go1.27-gc.trace.zst")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "is of another process")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "gotrace-dump convert --to=perfetto")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
}

}  // namespace gotrace_dump_trim_test
}  // namespace gotrace::internal
