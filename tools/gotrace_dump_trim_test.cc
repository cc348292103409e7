// Runs `gotrace-dump trim` as its users do.
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

}  // namespace gotrace_dump_trim_test
}  // namespace gotrace::internal
