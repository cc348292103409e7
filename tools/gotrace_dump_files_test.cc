// Runs `info` and `footprint`, which take several files, as their users do.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "tools/subprocess.h"

namespace gotrace {
namespace {

constexpr char kTrace[] = "go1.27-annotations.trace";

// Writes a file for the test and returns its path.
std::string WriteFile(absl::string_view name, absl::string_view content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(SeveralFiles, AreToldOfUnderTheirNames) {
  const std::string first = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string second = TestFilePath("go1.27-gc.trace.zst");
  for (const std::string command : {"info", "footprint"}) {
    EXPECT_EQ(DumpOutput({command, first, second}),
              absl::StrCat(first, ":\n", DumpOutput({command, first}), "\n", second, ":\n",
                           DumpOutput({command, second})));
    EXPECT_EQ(DumpOutput({command, "--json", first, second}),
              absl::StrCat(DumpOutput({command, "--json", first}),
                           DumpOutput({command, "--json", second})));
    EXPECT_TRUE(absl::StartsWith(DumpOutput({command, "--json", first}),
                                 absl::StrCat("{\"file\":\"", first, "\",")));
  }
}

// One that is broken does not keep the others from being read, and the worst exit code counts.
TEST(SeveralFiles, AreReadThoughOneIsBroken) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string cut = WriteFile("cut2.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string missing = "/no/such/file";
  for (const std::string command : {"info", "footprint"}) {
    const std::string of_good = DumpOutput({command, good});
    const SubprocessResult of_cut = RunDump({command, cut});
    const SubprocessResult of_missing = RunDump({command, missing});
    const SubprocessResult two = RunDump({command, cut, good});
    ExpectFailure(two, 1, absl::StrCat(cut, ":\n", of_cut.out, "\n", good, ":\n", of_good),
                  of_cut.err);
    const SubprocessResult all = RunDump({command, cut, missing, good});
    ExpectFailure(all, 2, two.out, absl::StrCat(of_cut.err, of_missing.err));
    // What is told of the first that can be read begins without an empty line.
    const SubprocessResult last =
        RunDump({command, missing, "-"}, {.input = ReadTestTrace(kTrace)});
    ExpectFailure(last, 2, absl::StrCat("standard input:\n", of_good), of_missing.err);
  }
}

// A name may hold what ends a line or drives a terminal.
TEST(SeveralFiles, AreQuotedWhereTheirNamesAreNotPrintable) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string odd = WriteFile("odd\nname\x1b[31m.trace", ReadTestTrace(kTrace));
  const std::string cut = WriteFile("odd\tcut.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string shown = absl::StrCat("\"", testing::TempDir(), "/odd\\nname\\x1b[31m.trace\"");
  EXPECT_TRUE(absl::StrContains(DumpOutput({"validate", odd}), absl::StrCat(shown, ": sound")));
  EXPECT_TRUE(absl::StartsWith(DumpOutput({"info", odd, good}), absl::StrCat(shown, ":\n")));
  EXPECT_TRUE(absl::StrContains(RunDump({"info", cut}).err, "/odd\\tcut.trace\": byte "));
  EXPECT_EQ(RunDump({"info", "no\nfile"}).err,
            "gotrace-dump: opening \"no\\nfile\": No such file or directory\n");
  EXPECT_EQ(RunDump({"assemble", "-o", "no/\x1b[31m", "/dev/null"}).err,
            "gotrace-dump: creating \"no/\\x1b[31m\": No such file or directory\n");
  EXPECT_TRUE(
      absl::StrContains(RunDump({"repair", cut, "-o", cut + "2"}).err, "odd\\tcut.trace2\""));
  EXPECT_TRUE(absl::StrContains(RunDump({"repair", cut, "-o", cut}).err, "odd\\tcut.trace\" is"));
  // For programs it stays what it is.
  for (const std::string command : {"validate", "info", "footprint"}) {
    EXPECT_TRUE(absl::StrContains(DumpOutput({command, "--json", odd}), "/odd\\nname\\u001b[31m."));
  }
}

TEST(SeveralFiles, HaveALineOfJsonEach) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string cut = WriteFile("cut3.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string empty = WriteFile("empty3.trace", "");
  const std::string missing = "/no/such/file";
  for (const std::string command : {"info", "footprint"}) {
    for (const char* const flag : {"--salvage", "--nosalvage"}) {
      const SubprocessResult result = RunDump({command, "--json", flag, cut, empty, missing, good});
      EXPECT_EQ(result.exit_code, 2);
      const std::vector<std::string> lines = absl::StrSplit(result.out, '\n');
      ASSERT_EQ(lines.size(), 5u) << result.out;
      const auto expect = [&](size_t line, const std::string& file, const std::string& with) {
        const std::string begin = absl::StrCat("{\"file\":\"", file, "\",");
        EXPECT_TRUE(absl::StartsWith(lines[line], begin)) << lines[line];
        EXPECT_TRUE(absl::StrContains(lines[line], with)) << lines[line];
        EXPECT_EQ(lines[line].back(), '}');
      };
      expect(0, cut, "\"complete\":false");
      expect(1, empty, "\"complete\":false,\"error\":\"");
      expect(2, missing, "\"complete\":false,\"error\":\"opening /no/such/file: ");
      expect(3, good, "\"complete\":true");
    }
  }
}

// A directory of a test's own, which is empty at first.
std::string MakeDirectory(absl::string_view name) {
  std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path + "/below");
  return path;
}

TEST(Directories, StandForTheTracesInThem) {
  const std::string dir = MakeDirectory("traces");
  const std::string trace = ReadTestTrace(kTrace);
  const std::string top = WriteFile("traces/b.trace", trace);
  const std::string below = WriteFile("traces/below/a.trace", trace);
  WriteFile("traces/.hidden", trace);
  const std::string notes = WriteFile("traces/notes", "not yet\n");
  const std::string skipped =
      absl::StrCat("gotrace-dump: ", notes, ": not a trace: text, skipped\n");
  for (const std::string command : {"info", "footprint"}) {
    for (const std::string json : {"--json", "--nojson"}) {
      const SubprocessResult result = RunDump({command, json, dir});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.out, DumpOutput({command, json, top, below}));
      EXPECT_EQ(result.err, skipped);
    }
    // One trace of a directory is told under its name too.
    EXPECT_EQ(DumpOutput({command, dir + "/below"}),
              absl::StrCat(below, ":\n", DumpOutput({command, below})));
    // What is named itself is never skipped.
    EXPECT_EQ(RunDump({command, notes, dir}).exit_code, 1);
  }
}

TEST(Directories, TellWhatIsBrokenInThem) {
  const std::string dir = MakeDirectory("broken");
  const std::string cut = WriteFile("broken/cut", ReadTestTrace(kTrace).substr(0, 6900));
  WriteFile("broken/empty", "");
  for (const std::string command : {"info", "footprint"}) {
    const SubprocessResult result = RunDump({command, dir});
    ExpectFailure(
        result, 1, absl::StrCat(cut, ":\n", RunDump({command, cut}).out),
        absl::StrCat(RunDump({command, cut}).err, RunDump({command, dir + "/empty"}).err));
  }
}

TEST(SeveralFiles, TellWhatIsNotComplete) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string cut = WriteFile("cut4.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string before = "only what stands before the first fault\n";
  const std::string salvaged = "only what could be read of a broken trace\n";
  for (const std::string command : {"info", "footprint"}) {
    const std::string no = command == "info" ? "\ncomplete     no, " : "\nNot complete: ";
    EXPECT_FALSE(absl::StrContains(DumpOutput({command, good}), "omplete"));
    EXPECT_TRUE(absl::StrContains(RunDump({command, cut}).out, no + before));
    EXPECT_TRUE(absl::StrContains(RunDump({command, "--salvage", cut}).out, no + salvaged));
  }
}

TEST(Directories, MayHaveNoTrace) {
  const std::string dir = MakeDirectory("none");
  for (const std::string command : {"info", "footprint"}) {
    ExpectFailure(RunDump({command, dir}), 2, "",
                  absl::StrCat("gotrace-dump: no trace was found in ", dir, "\n"));
  }
}

// A trace of an older Go is skipped in a directory, and an error where it is named itself.
TEST(SeveralFiles, OfAnOlderGoAreSkippedInADirectory) {
  const std::string directory = absl::StrCat(testing::TempDir(), "/older");
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::string good = absl::StrCat(directory, "/a.trace");
  std::ofstream(good, std::ios::binary) << ReadTestTrace(kTrace);
  const std::string old = absl::StrCat(directory, "/b.trace");
  std::ofstream(old, std::ios::binary) << std::string("go 1.10 trace\0\0\0and more", 24);
  const std::string skipped = absl::StrCat(old, ": a v1 trace, written by Go 1.10, skipped\n");
  for (const std::string command : {"info", "footprint", "validate"}) {
    const SubprocessResult result = RunDump({command, directory});
    EXPECT_EQ(result.exit_code, 0) << command;
    const bool validates = command == "validate";
    EXPECT_EQ(result.err, validates ? "gotrace-dump: 2 files: 1 sound, 1 skipped\n"
                                    : absl::StrCat("gotrace-dump: ", skipped));
    EXPECT_EQ(absl::StrContains(result.out, skipped), validates) << result.out;

    const SubprocessResult named = RunDump({command, old});
    EXPECT_EQ(named.exit_code, 1) << command;
    EXPECT_TRUE(absl::StrContains(
        validates ? named.out : named.err,
        "found a v1 trace, written by Go 1.10; gotrace reads traces of Go 1.22 and later; the last "
        "release that reads this one, with `go tool trace`, is Go 1.22 [v1-trace]"))
        << named.out << named.err;
  }
  EXPECT_TRUE(absl::StrContains(RunDump({"validate", "--json", directory}).out,
                                "b.trace\",\"verdict\":\"skipped\""));
}

}  // namespace
}  // namespace gotrace
