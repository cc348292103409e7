// Runs gotrace-dump profile.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/profile.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"

namespace gotrace::internal {
namespace gotrace_dump_profile_test {

std::string TracePath() { return TestFilePath("go1.27-gc.trace.zst"); }

std::vector<absl::string_view> LinesOf(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// The sum of the numbers at the ends of the lines of folded text.
int64_t FoldedSum(absl::string_view text) {
  int64_t sum = 0;
  for (const absl::string_view line : LinesOf(text)) {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line.substr(line.rfind(' ') + 1), &number)) << line;
    sum += number;
  }
  return sum;
}

int64_t CsvSum(absl::string_view text) {
  int64_t sum = 0;
  const std::vector<absl::string_view> lines = LinesOf(text);
  for (size_t i = 1; i < lines.size(); ++i) {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(lines[i].substr(0, lines[i].find(',')), &number)) << lines[i];
    sum += number;
  }
  return sum;
}

TEST(ProfileCommandTest, EveryTypeHasTheSameSumsInAllFormats) {
  for (const ProfileTypeInfo& info : ProfileTypes()) {
    SCOPED_TRACE(info.name);
    const std::string type = absl::StrCat("--type=", info.name);
    const std::string folded = DumpOutput({"profile", type, "--format=folded", TracePath()});
    const std::string csv = DumpOutput({"profile", type, "--format=csv", TracePath()});
    EXPECT_EQ(FoldedSum(folded), CsvSum(csv));
    EXPECT_TRUE(absl::StartsWith(csv, info.time_name.empty() ? "count,state" : "time_ns,count"))
        << csv;
    // The file is a gzip stream, whatever the number of cores.
    const std::string pprof = DumpOutput({"profile", type, "-o", "-", "--jobs=1", TracePath()});
    EXPECT_TRUE(absl::StartsWith(pprof, "\x1f\x8b")) << pprof.size();
    EXPECT_EQ(pprof, DumpOutput({"profile", type, "-o", "-", "--jobs=3", TracePath()}));
  }
}

TEST(ProfileCommandTest, SelectsByFunctionGoroutineAndTime) {
  const auto sum = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"profile", "--format=csv"});
    flags.push_back(TracePath());
    return CsvSum(DumpOutput(flags));
  };
  const int64_t whole = sum({});
  const int64_t of_main = sum({"--func=main.main"});
  EXPECT_GT(of_main, 0);
  EXPECT_LT(of_main, whole);
  EXPECT_EQ(sum({"--g=1"}), of_main);
  EXPECT_EQ(sum({"--by-g", "--by-p"}), whole);
  EXPECT_EQ(sum({"--g=1", "--from=10ms", "--to=20ms"}), 10'000'000);
  EXPECT_EQ(sum({"--type=oncpu"}) + sum({"--type=offcpu"}), whole);
}

TEST(ProfileCommandTest, TellsRegionsApart) {
  const std::string trace = TestFilePath("go1.27-annotations.trace.zst");
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"profile", "--format=csv"});
    flags.push_back(trace);
    return DumpOutput(flags);
  };
  // As `tasks --each` has it.
  EXPECT_EQ(CsvSum(run({"--task=9"})), 2'400'178'624);
  EXPECT_EQ(CsvSum(run({"--task=3", "--region=worker"})), 3'328);
  const std::string whole = run({});
  const std::string apart = run({"--by-task", "--by-region"});
  EXPECT_EQ(CsvSum(apart), CsvSum(whole));
  EXPECT_GT(LinesOf(apart).size(), LinesOf(whole).size());
  EXPECT_TRUE(absl::StrContains(apart,
                                "time_ns,count,state,reason,task,region,start,stack,"
                                "function,file,line\n"));
  EXPECT_TRUE(absl::StrContains(apart, ",Running,,3,worker,main.nesting.func2,main.nesting.func2"))
      << apart;
}

TEST(ProfileCommandTest, RefusesWhatDoesNotGoTogether) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--compat=go"},
                                             {"--compat=go", "--type=net", "--by-g"},
                                             {"--compat=go", "--type=net", "--from=1ms"},
                                             {"--format=csv", "-o", "x"},
                                             {"--sort=count", "-o", "x"},
                                             {"--top=3", "--format=folded"},
                                             {"--compat=go", "--type=net", "--by-task"},
                                             {"--compat=go", "--type=syscall", "--p=1"},
                                             {"--type=offcpu", "--p=1"},
                                             {"--type=sync", "--m=1"},
                                             {"--type=create", "--region=query"},
                                             {"--type=heap"}}) {
    std::vector<std::string> args = {"profile"};
    args.insert(args.end(), flags.begin(), flags.end());
    args.push_back(TracePath());
    EXPECT_EQ(RunDump(args).exit_code, 2) << flags.front();
  }
}

}  // namespace gotrace_dump_profile_test
}  // namespace gotrace::internal
