// Runs `gotrace-dump anonymise` as its users do.
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_anonymise_test {

class Anonymise : public testing::Test {
 protected:
  Anonymise()
      : directory_(MakeTestDirectory()),
        target_(directory_ + "/out.trace"),
        map_(directory_ + "/map.tsv"),
        trace_(TestFilePath("go1.27-annotations.trace.zst")) {}
  ~Anonymise() override { std::filesystem::remove_all(directory_); }

  const std::string directory_;
  const std::string target_;
  const std::string map_;
  const std::string trace_;
};

TEST_F(Anonymise, HasOtherNamesAndTheSameTimes) {
  const SubprocessResult result =
      RunDump({"anonymise", absl::StrCat("--map=", map_), "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": replaced ")) << result.err;
  EXPECT_TRUE(absl::EndsWith(result.err, absl::StrCat("; wrote ", target_, "\n"))) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
  EXPECT_EQ(RunDump({"procs", "--format=csv", target_}).out,
            RunDump({"procs", "--format=csv", trace_}).out);
  const std::string map = ReadFile(map_);
  EXPECT_TRUE(absl::StartsWith(map, "part\tmade_up\toriginal\nfunctions\t")) << map;
  EXPECT_TRUE(absl::StrContains(map, "\nregions\tanon")) << map;
  EXPECT_TRUE(absl::StrContains(map, "\tacross generations\n")) << map;
  EXPECT_FALSE(absl::StrContains(RunDump({"events", target_}).out, "across generations"));
}

TEST_F(Anonymise, KeepsAndReplacesWhatItIsTold) {
  SubprocessResult result =
      RunDump({"anonymise", "--only=regions", "--keep=^across gen", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string events = RunDump({"events", target_}).out;
  EXPECT_TRUE(absl::StrContains(events, "across generations"));
  EXPECT_TRUE(absl::StrContains(events, "main.go"));
  result = RunDump({"anonymise", "--keep=(", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "not a regular expression")) << result.err;
  result = RunDump({"anonymise", "--also=files", "-o", target_, trace_});
  EXPECT_EQ(result.exit_code, 2) << result.err;
}

TEST_F(Anonymise, LeavesItsInputAlone) {
  std::filesystem::copy_file(trace_, target_);
  SubprocessResult result =
      RunDump({"anonymise", absl::StrCat("--map=", map_), "-o", target_, target_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "is the input, which would be lost")) << result.err;
  result = RunDump({"anonymise", absl::StrCat("--map=", target_), "-o", map_, target_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "is the input, which would be lost")) << result.err;
  result = RunDump({"anonymise", absl::StrCat("--map=", map_), "-o", map_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "--map needs a file of its own")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(map_));
}

TEST_F(Anonymise, ReadsPipesAndWhatIsLeftOfATrace) {
  std::string cut = ReadTestTrace("go1.27-annotations.trace");
  SubprocessResult result = RunDump({"anonymise", "-o", "-", "-"}, {.input = cut});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(RunDump({"anonymise", "-o", target_, trace_}).exit_code, 0);
  EXPECT_TRUE(result.out == ReadFile(target_));
  cut = ReadTestTrace("go1.27-generations.trace");
  cut.resize(cut.size() * 3 / 4);
  result = RunDump({"anonymise", "-o", target_, "-"}, {.input = cut});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target_}).exit_code, 0);
}

}  // namespace gotrace_dump_anonymise_test
}  // namespace gotrace::internal
