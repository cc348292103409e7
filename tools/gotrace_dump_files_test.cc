// Runs the commands that take several files, as their users do.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_files_test {

constexpr char kTrace[] = "go1.27-annotations.trace";

// The heading of a file that is one of several.
std::string Heading(const std::string& shown_name) {
  return absl::StrCat("== ", shown_name, " ==\n");
}

TEST(SeveralFiles, AreReadOneAfterTheOther) {
  const std::string first = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string second = TestFilePath("go1.27-gc.trace.zst");
  for (const std::string command : {"info", "footprint"}) {
    EXPECT_EQ(DumpOutput({command, first, second}),
              absl::StrCat(Heading(first), DumpOutput({command, first}), "\n", Heading(second),
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
    ExpectFailure(two, 1, absl::StrCat(Heading(cut), of_cut.out, "\n", Heading(good), of_good),
                  of_cut.err);
    const SubprocessResult all = RunDump({command, cut, missing, good});
    ExpectFailure(all, 2, two.out, absl::StrCat(of_cut.err, of_missing.err));
    // No empty line precedes the first heading.
    const SubprocessResult last =
        RunDump({command, missing, "-"}, {.input = ReadTestTrace(kTrace)});
    ExpectFailure(last, 2, absl::StrCat(Heading("standard input"), of_good), of_missing.err);
  }
}

TEST(SeveralFiles, HaveTheirEventsUnderHeadings) {
  const std::string first = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string second = TestFilePath("go1.22-annotations.trace.zst");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"events"}, {"events", "--kind=Log"}, {"wire"}}) {
    const auto of = [&](std::vector<std::string> files) {
      files.insert(files.begin(), command.begin(), command.end());
      return DumpOutput(files);
    };
    EXPECT_EQ(of({first, second}),
              absl::StrCat(Heading(first), of({first}), "\n", Heading(second), of({second})));
  }
  // Only files with events to print have a heading, and only if no file has any is there a note.
  const std::string without_tasks = TestFilePath("go1.27-gc.trace.zst");
  EXPECT_EQ(DumpOutput({"events", "--kind=TaskBegin", without_tasks, second}),
            absl::StrCat(Heading(second), DumpOutput({"events", "--kind=TaskBegin", second})));
  ExpectFailure(RunDump({"events", "--g=99999", first, second}), 0, "",
                "gotrace-dump: no event of any file matches\n");
}

TEST(SeveralFiles, HaveTheirNamesInEachEventOfJson) {
  const std::string first = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string second = TestFilePath("go1.22-annotations.trace.zst");
  std::string expected;
  for (const std::string& file : {first, second}) {
    const std::string alone = DumpOutput({"events", "--format=json", "--limit=2", file});
    EXPECT_FALSE(absl::StrContains(alone, "\"file\""));
    for (const absl::string_view line : absl::StrSplit(alone, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&expected, "{\"file\":\"", file, "\",", line.substr(1), "\n");
    }
  }
  EXPECT_EQ(DumpOutput({"events", "--format=json", "--limit=2", first, second}), expected);
}

// One that is broken does not keep the events of others from being printed.
TEST(SeveralFiles, HaveTheirEventsPrintedThoughOneIsBroken) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string cut = WriteFile("cut5.trace", ReadTestTrace(kTrace).substr(0, 6900));
  for (const std::string command : {"events", "wire"}) {
    const SubprocessResult of_cut = RunDump({command, cut});
    ExpectFailure(
        RunDump({command, cut, "/no/such/file", good}), 2,
        absl::StrCat(Heading(cut), of_cut.out, "\n", Heading(good), DumpOutput({command, good})),
        absl::StrCat(of_cut.err, RunDump({command, "/no/such/file"}).err));
  }
}

// JSON cannot hold a name that is not UTF-8: its bytes are there besides.
TEST(SeveralFiles, HaveNamesThatScriptsCanOpen) {
  const std::string path = WriteFile("b\xff.trace", ReadTestTrace(kTrace));
  std::string encoded;
  absl::Base64Escape(path, &encoded);
  const std::string expected =
      absl::StrCat("\"file\":\"", testing::TempDir(), "/b\xef\xbf\xbd.trace\",\"file_base64\":\"",
                   encoded, "\",");
  for (const std::string command : {"info", "footprint", "validate"}) {
    const std::string out = DumpOutput({command, "--json", path});
    EXPECT_TRUE(absl::StrContains(out, expected)) << out;
  }
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string events = DumpOutput({"--format=json", "--limit=1", good, path});
  EXPECT_TRUE(absl::StrContains(events, absl::StrCat("{", expected, "\"time\":"))) << events;
  EXPECT_EQ(events.find("file_base64"), events.rfind("file_base64"));
  const SubprocessResult missing = RunDump({"info", "--json", path + "2"});
  EXPECT_TRUE(absl::StrContains(missing.out, "\"file_base64\":\"")) << missing.out;
}

// A name may hold what ends a line or drives a terminal.
TEST(SeveralFiles, AreQuotedWhereTheirNamesAreNotPrintable) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string odd = WriteFile("odd\nname\x1b[31m.trace", ReadTestTrace(kTrace));
  const std::string cut = WriteFile("odd\tcut.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string shown = absl::StrCat("\"", testing::TempDir(), "/odd\\nname\\x1b[31m.trace\"");
  EXPECT_TRUE(absl::StrContains(DumpOutput({"validate", odd}), absl::StrCat(shown, ": sound")));
  EXPECT_TRUE(absl::StartsWith(DumpOutput({"info", odd, good}), Heading(shown)));
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
  for (const std::string command : {"events", "wire"}) {
    const SubprocessResult result = RunDump({command, dir});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, DumpOutput({command, top, below}));
    EXPECT_EQ(result.err, skipped);
  }
  for (const std::string command : {"info", "footprint"}) {
    for (const std::string json : {"--json", "--nojson"}) {
      const SubprocessResult result = RunDump({command, json, dir});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.out, DumpOutput({command, json, top, below}));
      EXPECT_EQ(result.err, skipped);
    }
    // A single trace in a directory has a heading, too.
    EXPECT_EQ(DumpOutput({command, dir + "/below"}),
              absl::StrCat(Heading(below), DumpOutput({command, below})));
    // What is named itself is never skipped.
    EXPECT_EQ(RunDump({command, notes, dir}).exit_code, 1);
  }
}

TEST(Directories, ReportWhatIsBrokenInThem) {
  const std::string dir = MakeDirectory("broken");
  const std::string cut = WriteFile("broken/cut", ReadTestTrace(kTrace).substr(0, 6900));
  WriteFile("broken/empty", "");
  for (const std::string command : {"info", "footprint"}) {
    const SubprocessResult result = RunDump({command, dir});
    ExpectFailure(
        result, 1, absl::StrCat(Heading(cut), RunDump({command, cut}).out),
        absl::StrCat(RunDump({command, cut}).err, RunDump({command, dir + "/empty"}).err));
  }
}

TEST(SeveralFiles, SayWhatIsNotComplete) {
  const std::string good = TestFilePath(absl::StrCat(kTrace, ".zst"));
  const std::string cut = WriteFile("cut4.trace", ReadTestTrace(kTrace).substr(0, 6900));
  const std::string before = "only the part before the first fault\n";
  const std::string salvaged = "only the readable parts of a broken trace\n";
  for (const std::string command : {"info", "footprint"}) {
    const std::string no = command == "info" ? "\ncomplete     no, " : "\nNot complete: ";
    EXPECT_FALSE(absl::StrContains(DumpOutput({command, good}), "omplete"));
    EXPECT_TRUE(absl::StrContains(RunDump({command, cut}).out, no + before));
    EXPECT_TRUE(absl::StrContains(RunDump({command, "--salvage", cut}).out, no + salvaged));
  }
}

TEST(Directories, MayHaveNoTrace) {
  const std::string dir = MakeDirectory("none");
  for (const std::string command : {"info", "footprint", "events", "wire"}) {
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

// The file of one trace to which another was appended.
class SeveralTraces : public testing::Test {
 protected:
  const std::string first_ = ReadTestTrace(kTrace);
  const std::string second_ = ReadTestTrace("go1.22-annotations.trace");
  const std::string both_ = first_ + second_;
  const std::string path_ = WriteFile("both.trace", both_);
  const std::string warning_ =
      absl::StrCat("gotrace-dump: ", path_, ": holds 2 traces, at bytes 0 and ", first_.size(),
                   "; this is the first; --trace=2 selects the other\n");
};

TEST_F(SeveralTraces, AreReadOneAtATime) {
  const std::string first = WriteFile("first.trace", first_);
  const std::string second = WriteFile("second.trace", second_);
  for (const std::string command : {"events", "wire", "footprint"}) {
    const SubprocessResult result = RunDump({command, path_});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.out, DumpOutput({command, first}));
    EXPECT_EQ(result.err, warning_);
    // Asked for, there is nothing to warn of.
    const SubprocessResult chosen = RunDump({command, "--trace=1", path_});
    EXPECT_EQ(chosen.out, result.out);
    EXPECT_EQ(chosen.err, "");
    const std::string of_second = DumpOutput({command, second});
    EXPECT_EQ(DumpOutput({command, "--trace=2", path_}), of_second);
    const SubprocessResult piped = RunDump({command, "-"}, {.input = both_});
    EXPECT_EQ(piped.out, result.out);
    EXPECT_EQ(piped.err,
              absl::StrCat("gotrace-dump: standard input: another trace begins at byte ",
                           first_.size(), "; this is the first; --trace=2 selects the next\n"));
    EXPECT_EQ(RunDump({command, "--trace=2", "-"}, {.input = both_}).out, of_second);
  }
  EXPECT_TRUE(absl::StrContains(DumpOutput({"info", "--trace=2", path_}), "version      1.22 "));
}

TEST_F(SeveralTraces, AreAllReadIfAskedFor) {
  const auto heading = [&](int number) {
    return absl::StrCat("== ", path_, ", trace ", number, " ==\n");
  };
  for (const std::string command :
       {"events", "wire", "footprint", "info", "goroutines", "summary", "tasks", "regions"}) {
    const std::string first = DumpOutput({command, "--trace=1", path_});
    const std::string second = DumpOutput({command, "--trace=2", path_});
    EXPECT_NE(first, second) << command;
    EXPECT_EQ(DumpOutput({command, "--trace=all", path_}),
              absl::StrCat(heading(1), first, "\n", heading(2), second))
        << command;
  }
  EXPECT_EQ(RunDump({"validate", "--trace=all", path_}).out.substr(0, path_.size() + 9),
            absl::StrCat(path_, ", trace 1"));
  for (const std::vector<std::string>& command : {std::vector<std::string>{"info", "--json"},
                                                  {"events", "--format=json", "--limit=1"},
                                                  {"goroutines", "--format=jsonl", "--top=1"},
                                                  {"validate", "--json"}}) {
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--trace=all", path_});
    const std::string out = RunDump(args).out;
    for (const int number : {1, 2}) {
      EXPECT_TRUE(
          absl::StrContains(out, absl::StrCat("\"file\":\"", path_, ", trace ", number, "\"")))
          << command[0] << ": " << out;
    }
  }
  // A file that holds one is read as without the flag.
  const std::string one = WriteFile("one.trace", first_);
  EXPECT_EQ(DumpOutput({"events", "--trace=all", one}), DumpOutput({"events", one}));
  // What comes through a pipe cannot be read twice.
  EXPECT_TRUE(absl::StrContains(RunDump({"events", "--trace=all", "-"}, {.input = both_}).err,
                                "; this is the first; --trace=2 selects the next\n"));

  WriteFile("both.trace", absl::StrCat(first_, second_.substr(0, second_.size() - 10)));
  const SubprocessResult broken = RunDump({"gc", "--trace=all", path_});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(broken.err, absl::StrCat(path_, ", trace 2: byte "))) << broken.err;
  for (const std::string command : {"repair", "path"}) {
    EXPECT_TRUE(absl::StrContains(RunDump({command, "--trace=all", path_}).err,
                                  "--trace: expected a number, found \"all\"\n"));
  }
}

TEST_F(SeveralTraces, AreConvertedTogether) {
  const std::string twice = WriteFile("twice.trace", first_ + first_);
  const auto convert = [&](const std::string& trace) {
    return RunDump({"convert", "--to=perfetto", trace, "-o", "-", twice});
  };
  const SubprocessResult both = convert("--trace=all");
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_TRUE(absl::StrContains(both.out, "twice.trace, trace 2"));
  EXPECT_GT(both.out.size(), convert("--trace=1").out.size() + convert("--trace=2").out.size());
  EXPECT_TRUE(absl::StrContains(
      RunDump({"convert", "--to=trace2-perf", "--trace=all", "-o", "-", twice}).err,
      "--to=trace2-perf takes one trace; --to=perfetto, fxt and chrome take several\n"));
}

TEST_F(SeveralTraces, HaveToBeThere) {
  for (const std::string command : {"events", "wire", "footprint", "info", "repair"}) {
    ExpectFailure(RunDump({command, "--trace=3", path_}), 2, "",
                  absl::StrCat("gotrace-dump: ", path_, ": --trace=3: the input holds 2 traces\n"));
  }
  const SubprocessResult validate = RunDump({"validate", "--trace=3", path_});
  EXPECT_EQ(validate.exit_code, 2);
  EXPECT_EQ(validate.out, absl::StrCat(path_, ": --trace=3: the input holds 2 traces\n"));
  // It can be read, but does not hold what was asked for.
  const SubprocessResult both =
      RunDump({"validate", "--trace=2", path_, TestFilePath(absl::StrCat(kTrace, ".zst"))});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.err, "gotrace-dump: 2 files: 1 sound, 1 without the selected trace\n");
  EXPECT_TRUE(absl::StrContains(
      RunDump({"validate", "--json", "--trace=3", path_}).out,
      absl::StrCat("\"verdict\":\"no-such-trace\",\"error\":\"", path_, ": --trace=3: ")));
  const std::string one = WriteFile("one.trace", first_);
  EXPECT_TRUE(absl::StrContains(RunDump({"events", "--trace=2", one}).err, "holds 1 trace\n"));
  for (const std::string number : {"0", "-1"}) {
    EXPECT_EQ(RunDump({"events", "--trace", number, path_}).err,
              absl::StrCat("gotrace-dump: --trace: must be 1 or more, found ", number,
                           "\nTry: gotrace-dump events --help\n"));
  }
}

TEST_F(SeveralTraces, AreListed) {
  const SubprocessResult info = RunDump({"info", path_});
  EXPECT_EQ(info.err, warning_);
  EXPECT_TRUE(absl::StrContains(
      info.out, absl::StrCat("in the file  trace 1: ", first_.size(), " bytes at byte 0, sound\n",
                             "             trace 2: ", second_.size(), " bytes at byte ",
                             first_.size(), ", sound\n")))
      << info.out;
  const std::string listed = absl::StrCat("\"traces\":[{\"offset\":0,\"bytes\":", first_.size(),
                                          ",\"sound\":true},{\"offset\":", first_.size(),
                                          ",\"bytes\":", second_.size(), ",\"sound\":true}]");
  EXPECT_TRUE(absl::StrContains(RunDump({"info", "--json", path_}).out, listed));

  // Go's reader refuses such a file.
  const SubprocessResult validate = RunDump({"validate", path_});
  EXPECT_EQ(validate.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(validate.out, "; --trace=N selects the Nth [second-trace]\n"));
  EXPECT_TRUE(absl::EndsWith(
      validate.out, absl::StrCat(path_, ": trace 1 of 2: ", first_.size(),
                                 " bytes at byte 0, sound\n", path_, ": trace 2 of 2: ",
                                 second_.size(), " bytes at byte ", first_.size(), ", sound\n")))
      << validate.out;
  EXPECT_TRUE(absl::StrContains(RunDump({"validate", "--json", path_}).out, listed));
  for (const char* const number : {"--trace=1", "--trace=2"}) {
    EXPECT_EQ(RunDump({"validate", number, path_}).exit_code, 0);
  }
}

// Of thousands the first few are listed; and they are read in time linear in their number.
TEST_F(SeveralTraces, MayBeMany) {
  constexpr int kTraces = 20'000;
  std::string headers;
  for (int i = 0; i < kTraces; ++i) headers += first_.substr(0, 16);
  const std::string path = WriteFile("many.trace", headers);
  for (const std::string command : {"validate", "repair", "info"}) {
    const SubprocessResult result =
        command == "repair" ? RunDump({command, "--check", path}) : RunDump({command, path});
    const std::string text = result.out + result.err;
    EXPECT_TRUE(absl::StrContains(text, "and 19990 more traces\n")) << command;
    EXPECT_FALSE(absl::StrContains(text, "trace 11")) << command;
    EXPECT_TRUE(absl::StrContains(text, "trace 10")) << command;
  }
  // The one that is kept is listed wherever it is.
  EXPECT_TRUE(absl::StrContains(RunDump({"repair", "--check", "--trace=500", path}).err,
                                "trace 500: 16 bytes at byte 7984, sound; this one is kept\n"));
}

TEST_F(SeveralTraces, MayHaveTextBetweenThem) {
  const std::string path = WriteFile(
      "text.trace", absl::StrCat(first_, "=== second run\n", second_, "going on\n", first_));
  for (const char* const number : {"--trace=1", "--trace=2"}) {
    const SubprocessResult validate = RunDump({"validate", number, path});
    EXPECT_EQ(validate.exit_code, 1);
    EXPECT_TRUE(absl::StrContains(validate.out, " [text-in-trace]\n")) << validate.out;
    EXPECT_FALSE(absl::StrContains(validate.out, "second-trace")) << validate.out;
    const SubprocessResult events = RunDump({"events", number, "--salvage", path});
    EXPECT_TRUE(absl::StrContains(events.err, "removed 1 piece of text")) << events.err;
    EXPECT_FALSE(absl::StrContains(events.err, "batch-type")) << events.err;
  }
  EXPECT_EQ(RunDump({"validate", "--trace=3", path}).exit_code, 0);
}

// To `repair` a file is sound if it is to `validate`.
TEST_F(SeveralTraces, AreNotSoundTogether) {
  const SubprocessResult check = RunDump({"repair", "--check", path_});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_TRUE(
      absl::EndsWith(check.err, ": trace 1 of 2 is sound; repair would leave out the other\n"))
      << check.err;
  const SubprocessResult chosen = RunDump({"repair", "--check", "--trace=2", path_});
  EXPECT_EQ(chosen.exit_code, 0);
  EXPECT_TRUE(absl::EndsWith(chosen.err, ": trace 2 of 2 is sound, there is nothing to repair\n"))
      << chosen.err;
  const std::string target = absl::StrCat(testing::TempDir(), "/first.trace");
  const SubprocessResult written = RunDump({"repair", "-o", target, path_});
  EXPECT_EQ(written.exit_code, 0);
  EXPECT_TRUE(
      absl::EndsWith(written.err, absl::StrCat(": trace 1 of 2 is sound; wrote ", target, "\n")))
      << written.err;
}

TEST_F(SeveralTraces, AreRepairedOneAtATime) {
  const auto report = [&](int kept, bool first_is_sound) {
    const auto fate = [&](int number) {
      return number == kept ? std::string("this one is kept\n")
                            : absl::StrCat("left out; --trace=", number, " selects it\n");
    };
    const std::string begin = absl::StrCat("gotrace-dump: ", path_, ": ");
    const size_t size = first_is_sound ? first_.size() : first_.size() - 10;
    return absl::StrCat(begin, "holds 2 traces, at bytes 0 and ", size, "\n", begin,
                        "trace 1: ", size, " bytes at byte 0, ",
                        first_is_sound ? "sound; " : "broken; ", fate(1), begin,
                        "trace 2: ", second_.size(), " bytes at byte ", size, ", sound; ", fate(2));
  };
  const std::string target = absl::StrCat(testing::TempDir(), "/repaired.trace");
  const auto written = [&] {
    std::ifstream file(target, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  SubprocessResult result = RunDump({"repair", "-o", target, path_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(result.err, report(1, true))) << result.err;
  EXPECT_EQ(written(), first_);
  result = RunDump({"repair", "--trace=2", "-o", target, path_});
  EXPECT_TRUE(absl::StartsWith(result.err, report(2, true))) << result.err;
  EXPECT_EQ(written(), second_);
  // From a pipe, and compressed.
  EXPECT_EQ(RunDump({"repair", "--trace=2", "-o", "-", "-"}, {.input = both_}).out, second_);

  // The first one is cut off.
  WriteFile("both.trace", first_.substr(0, first_.size() - 10) + second_);
  result = RunDump({"repair", "-o", target, path_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(result.err, report(1, false))) << result.err;
  EXPECT_TRUE(absl::StartsWith(written(), first_.substr(0, 16)));
  EXPECT_EQ(RunDump({"validate", "--strictness=go", target}).exit_code, 0);
  EXPECT_EQ(RunDump({"repair", "--trace=2", "-o", "-", path_}).out, second_);
  // `events` says why it stops, and that there is another.
  result = RunDump({"events", path_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.err, "this is the first; --trace=2 selects the other\n"));
}

// Changes a file again and again until this object is destroyed.
class RestlessFile {
 public:
  explicit RestlessFile(std::function<void()> change)
      : thread_([this, change = std::move(change)] {
          while (!ends_) change();
        }) {}
  ~RestlessFile() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

// The results of commands for a file that changes are those of one of its states, or an error.
class ChangingInput : public testing::Test {
 protected:
  ChangingInput() : directory_(MakeTestDirectory()), file_(directory_ + "/changing.trace") {}

  using Commands = std::vector<std::vector<std::string>>;

  // Those that read all traces of a file.
  static Commands OfAllTraces() {
    return {
        {"tables", "--tables=goroutines"},
        {"tables", "--tables=traces", "--format=jsonl"},
        {"sql", "SELECT (SELECT count(*) FROM goroutines), (SELECT count(*) FROM events)"},
    };
  }

  static Commands AllCommands() {
    Commands commands = {
        {"info", "--json"},
        {"events"},
        {"wire"},
        {"footprint", "--json"},
        {"validate", "--json"},
        {"summary", "--json"},
        {"goroutines", "--format=json"},
        {"diff", "--format=json", "--a=0s,", "--b=0s,"},
        {"convert", "--to=perfetto", "-o", "-"},
        {"convert", "--to=fxt", "-o", "-"},
        {"convert", "--to=chrome", "-o", "-"},
        {"convert", "--to=chrome", "--view=goroutine", "-o", "-"},
        {"repair", "-o", "-"},
    };
    for (std::vector<std::string>& command : OfAllTraces()) commands.push_back(std::move(command));
    return commands;
  }

  void Check(const Commands& commands, const std::vector<std::string>& states,
             const std::function<void()>& change) {
    for (std::vector<std::string> command : commands) {
      SCOPED_TRACE(absl::StrJoin(command, " "));
      // The query comes last.
      command.insert(command.end() - (command.front() == "sql" ? 1 : 0), file_);
      std::set<std::string> expected;
      for (const std::string& state : states) {
        WriteFile(file_, state);
        const SubprocessResult result = RunDump(command);
        ASSERT_EQ(result.exit_code, 0) << result.err;
        expected.insert(result.out);
      }
      const RestlessFile changing(change);
      for (int i = 0; i < 15; ++i) {
        const SubprocessResult result = RunDump(command);
        if (result.exit_code != 0) {
          EXPECT_GT(result.exit_code, 0) << "ended by a signal: " << result.err;
          continue;
        }
        // The repair of a trace that was cut off is another sound trace.
        if (command.front() == "repair" && !absl::StrContains(result.err, ": sound")) {
          EXPECT_EQ(RunDump({"info", "-"}, {.input = result.out}).exit_code, 0);
        } else {
          EXPECT_TRUE(expected.contains(result.out)) << result.out.substr(0, 2000) << result.err;
        }
      }
    }
  }

  const std::string directory_;
  const std::string file_;
};

TEST_F(ChangingInput, IsReplaced) {
  const std::vector<std::string> states = {ReadTestTrace("go1.27-generations.trace"),
                                           ReadTestTrace("go1.27-annotations.trace")};
  const std::string next = directory_ + "/next";
  size_t count = 0;
  Check(AllCommands(), states, [&] {
    WriteFile(next, states[++count % 2]);
    std::filesystem::rename(next, file_);
  });
}

TEST_F(ChangingInput, HoldsSeveralTraces) {
  const std::string first = ReadTestTrace("go1.27-annotations.trace");
  const std::string second = ReadTestTrace("go1.26-annotations.trace");
  const std::vector<std::string> states = {first + second, second + first + first};
  const std::string next = directory_ + "/next";
  size_t count = 0;
  Check(OfAllTraces(), states, [&] {
    WriteFile(next, states[++count % 2]);
    std::filesystem::rename(next, file_);
  });
}

TEST_F(ChangingInput, GrowsAndShrinks) {
  const std::string whole = ReadTestTrace("go1.27-generations.trace");
  std::vector<std::string> states;
  absl::StatusOr<Reader> reader = Reader::FromBytes(whole);
  while (const Event* event = reader->Next()) {
    const uint64_t end = reader->generation().end_offset + 1;  // The byte that ends a generation.
    const bool is_new = states.empty() || end > states.back().size();
    if (event->kind() == EventKind::kSync && is_new) states.push_back(whole.substr(0, end));
  }
  ASSERT_EQ(states.size(), 3u);
  ASSERT_EQ(states.back(), whole);
  Check(AllCommands(), states, [&] {
    const size_t size = std::filesystem::file_size(file_);
    if (size == whole.size()) return std::filesystem::resize_file(file_, states[0].size());
    for (const std::string& state : states) {
      if (state.size() <= size) continue;
      std::ofstream(file_, std::ios::app) << state.substr(size);
      break;
    }
  });
}

}  // namespace gotrace_dump_files_test
}  // namespace gotrace::internal
