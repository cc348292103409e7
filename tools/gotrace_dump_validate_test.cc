// Runs `gotrace-dump validate` as its users do.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_schema.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace gotrace_dump_validate_test {

constexpr char kSound[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";

// The status of goroutine 1 is repeated, wrongly; tasks end that never began.
const std::string& Broken() {
  static const std::string* const kText =
      new std::string(absl::StrCat(kSound,
                                   "UserTaskEnd dt=1 task=7 stack=0\n"
                                   "UserTaskEnd dt=1 task=8 stack=0\n"
                                   "UserTaskEnd dt=1 task=9 stack=0\n"
                                   "GoBlock dt=1 reason_string=0 stack=0\n"
                                   "GoStatus dt=1 g=1 m=1 gstatus=2\n"));
  return *kText;
}

constexpr char kSoundLine[] = ": sound; 100 % of 4 events and 100 % of 41 bytes are good\n";
constexpr char kBrokenLine[] = ": broken; 88.89 % of 9 events and 100 % of 62 bytes are good\n";
constexpr char kHtml[] = "<html>no such page</html>\n";

// A directory of the test's own.
class Validate : public testing::Test {
 protected:
  Validate()
      : directory_(MakeTestDirectory()),
        sound_(Write("sound.trace", *AssembleText(kSound))),
        broken_(Write("broken.trace", *AssembleText(Broken()))),
        missing_(directory_ + "/missing") {}
  ~Validate() override { std::filesystem::remove_all(directory_); }

  // Writes a file below the directory and returns its path.
  std::string Write(absl::string_view name, absl::string_view content) const {
    return WriteFile(absl::StrCat(directory_, "/", name), content);
  }

  static SubprocessResult Run(std::vector<std::string> args,
                              const SubprocessOptions& options = {}) {
    args.insert(args.begin(), "validate");
    return RunDump(std::move(args), options);
  }

  std::string Unread(absl::string_view path) const {
    return absl::StrCat(path, ": cannot be read: opening ", path, ": No such file or directory\n");
  }

  const std::string directory_;
  const std::string sound_;
  const std::string broken_;
  const std::string missing_;
};

TEST_F(Validate, ReportsASoundTraceInOneLine) {
  const SubprocessResult result = Run({sound_});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, sound_ + kSoundLine);
  EXPECT_EQ(result.err, "");
}

TEST_F(Validate, SaysWhatIsWrongWithABrokenOne) {
  const SubprocessResult result = Run({broken_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(
      result.out, absl::StrCat(broken_,
                               ": error: byte 57, generation 1, batch at byte 27, thread 1, event "
                               "GoStatus: expected goroutine 1 to be Waiting")))
      << result.out;
  EXPECT_TRUE(absl::StrContains(
      result.out, absl::StrCat(broken_, ": 3 notes: 3 task-end-unknown; --notes prints them\n")));
  EXPECT_FALSE(absl::StrContains(result.out, ": note: ")) << result.out;
  const SubprocessResult with_notes = Run({"--notes", broken_});
  EXPECT_TRUE(absl::StrContains(with_notes.out, absl::StrCat(broken_, ": note: byte 41,")))
      << with_notes.out;
  EXPECT_FALSE(absl::StrContains(with_notes.out, "notes:")) << with_notes.out;
  EXPECT_TRUE(absl::EndsWith(result.out, broken_ + kBrokenLine)) << result.out;
  EXPECT_EQ(result.err, "");
}

TEST_F(Validate, BeginsEachLineWithTheFilesName) {
  const std::string out = Run({broken_, sound_}).out;
  for (const absl::string_view line : absl::StrSplit(out, '\n', absl::SkipEmpty())) {
    // The history of a finding follows it.
    EXPECT_TRUE(absl::StartsWith(line, broken_ + ": ") || absl::StartsWith(line, sound_ + ": ") ||
                absl::StartsWith(line, "    "))
        << line;
  }
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 7) << out;
}

TEST_F(Validate, StrictnessGoLeavesOutNotes) {
  const std::string out = Run({"--strictness=go", broken_}).out;
  EXPECT_TRUE(absl::StrContains(out, ": error: ")) << out;
  EXPECT_FALSE(absl::StrContains(out, "note")) << out;
  EXPECT_EQ(Run({"--strictness=all", broken_}).out, Run({broken_}).out);
}

TEST_F(Validate, CountsFindingsBeyondTheMost) {
  const SubprocessResult one = Run({"--notes", "--max-per-check=1", broken_});
  EXPECT_TRUE(absl::StrContains(one.out, broken_ + ": note: 2 more [task-end-unknown]\n"))
      << one.out;
  const SubprocessResult none = Run({"--notes", "--max-per-check=0", broken_});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out,
            absl::StrCat(broken_, ": error: 1 more [goroutine-status-conflict]\n", broken_,
                         ": note: 3 more [task-end-unknown]\n", broken_, kBrokenLine));
}

TEST_F(Validate, RefusesWrongFlags) {
  const auto error = [&](const std::string& flag) {
    const SubprocessResult result = Run({flag, sound_});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err.substr(0, result.err.find('\n'));
  };
  EXPECT_EQ(error("--strictness=some"),
            "gotrace-dump: --strictness: expected go or all, found \"some\"");
  EXPECT_EQ(error("--max-per-check=-1"),
            "gotrace-dump: --max-per-check: must be 0 or more, found -1");
  EXPECT_EQ(error("--jobs=0"), "gotrace-dump: --jobs: must be 1 or more, found 0");
}

TEST_F(Validate, TakesSeveralFilesAndCountsThem) {
  const SubprocessResult result = Run({"--max-per-check=0", sound_, broken_, sound_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StartsWith(result.out, sound_ + kSoundLine));
  EXPECT_TRUE(absl::EndsWith(result.out, broken_ + kBrokenLine + sound_ + kSoundLine));
  EXPECT_EQ(result.err, "gotrace-dump: 3 files: 2 sound, 1 broken\n");
}

TEST_F(Validate, ReadsTheStandardInput) {
  const SubprocessResult result = Run({"-"}, {.input = *AssembleText(kSound)});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, absl::StrCat("standard input", kSoundLine));
  EXPECT_EQ(Run({"-"}, {.input = *AssembleText(Broken())}).exit_code, 1);
}

TEST_F(Validate, SaysWhichFileCannotBeRead) {
  const SubprocessResult result = Run({missing_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, Unread(missing_));
  EXPECT_EQ(result.err, "");
}

// Root may read everything; a link that leads nowhere is for nobody.
TEST_F(Validate, SaysWhatCannotBeReadInADirectory) {
  const std::string link = directory_ + "/dir/link";
  Write("dir/sound.trace", *AssembleText(kSound));
  ASSERT_EQ(symlink("nowhere", link.c_str()), 0);
  const SubprocessResult result = Run({directory_ + "/dir"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, absl::StrCat(Unread(link), directory_, "/dir/sound.trace", kSoundLine));
  EXPECT_EQ(result.err, "gotrace-dump: 2 files: 1 sound, 1 cannot be read\n");
}

TEST_F(Validate, SaysWhyAFileCannotBeRead) {
  const std::string loop = directory_ + "/loop";
  ASSERT_EQ(symlink("loop", loop.c_str()), 0);
  EXPECT_EQ(Run({loop}).out, absl::StrCat(loop, ": cannot be read: opening ", loop,
                                          ": Too many levels of symbolic links\n"));
  EXPECT_EQ(Run({sound_ + "/x"}).out,
            absl::StrCat(sound_, "/x: cannot be read: opening ", sound_, "/x: Not a directory\n"));
}

TEST_F(Validate, ContinuesAfterAFileThatCannotBeRead) {
  const SubprocessResult result = Run({"--max-per-check=0", missing_, broken_, sound_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StartsWith(result.out, Unread(missing_)));
  EXPECT_TRUE(absl::EndsWith(result.out, broken_ + kBrokenLine + sound_ + kSoundLine));
  EXPECT_EQ(result.err, "gotrace-dump: 3 files: 1 sound, 1 broken, 1 cannot be read\n");
  EXPECT_EQ(Run({broken_, missing_}).exit_code, 2);
}

TEST_F(Validate, ReadsTheFilesBelowADirectory) {
  const std::string trace = *AssembleText(kSound);
  const std::string dir = directory_ + "/dir";
  for (const char* const name :
       {"dir/c", "dir/b/2/x", "dir/b/1", "dir/a", "dir/.hidden", "dir/.git/x"}) {
    Write(name, trace);
  }
  ASSERT_EQ(mkfifo((dir + "/pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink("..", (dir + "/loop").c_str()), 0);
  ASSERT_EQ(symlink("../a", (dir + "/b/link").c_str()), 0);
  const SubprocessResult result = Run({dir});
  EXPECT_EQ(result.exit_code, 0);
  std::string expected;
  for (const char* const name : {"/a", "/b/1", "/b/2/x", "/b/link", "/c"}) {
    absl::StrAppend(&expected, dir, name, kSoundLine);
  }
  EXPECT_EQ(result.out, expected);
  EXPECT_EQ(result.err, "gotrace-dump: 5 files: 5 sound\n");
}

TEST_F(Validate, SkipsOtherFilesOnlyInADirectory) {
  const std::string dir = directory_ + "/dir";
  Write("dir/1.html", kHtml);
  Write("dir/2", "ok\n");
  Write("dir/3.png", "\x89PNG\x1a and more than a header holds");
  Write("dir/4.trace", *AssembleText(kSound));
  const SubprocessResult result = Run({dir});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            absl::StrCat(dir, "/1.html: not a trace: HTML, skipped\n", dir,
                         "/2: not a trace: data that begins with \"ok\\n\", skipped\n", dir,
                         "/3.png: not a trace: data that begins with \"\\x89PNG\\x1a and more t\", "
                         "skipped\n",
                         dir, "/4.trace", kSoundLine));
  EXPECT_EQ(result.err, "gotrace-dump: 4 files: 1 sound, 3 skipped\n");

  const SubprocessResult named = Run({dir + "/1.html", dir + "/4.trace"});
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(named.out, "/1.html: broken\n")) << named.out;
  EXPECT_EQ(named.err, "gotrace-dump: 2 files: 1 sound, 1 broken\n");
}

// A damaged trace, or one of an unknown version, is not foreign.
TEST_F(Validate, SkipsNoTraceThatIsDamaged) {
  const std::string trace = *AssembleText(kSound);
  Write("dir/cut-header", trace.substr(0, 7));
  Write("dir/cut", trace.substr(0, trace.size() - 1));
  Write("dir/empty", "");
  Write("dir/new-version", std::string("go 1.99 trace\0\0\0", 16));
  // This is an older format, not damage.
  Write("dir/old-version", std::string("go 1.21 trace\0\0\0", 16));
  Write("dir/packed", ReadTestFile("go1.27-annotations.trace.zst").substr(0, 9));
  // Something before a trace does not make it foreign either.
  Write("dir/log", "listening on :8080\n" + trace);
  Write("dir/http", "HTTP/1.1 200 OK\r\n\r\n" + trace);
  Write("dir/changed", "G" + trace.substr(1));
  Write("dir/http-changed",
        "HTTP/1.1 200 OK\r\nX: " + std::string(600, 'x') + "\r\n\r\nG" + trace.substr(1));
  const SubprocessResult result = Run({directory_ + "/dir"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "gotrace-dump: 10 files: 9 broken, 1 skipped\n") << result.out;
}

TEST_F(Validate, SaysThatADirectoryHasNoTrace) {
  const std::string dir = directory_ + "/dir";
  std::filesystem::create_directory(dir);
  const SubprocessResult empty = Run({dir});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(empty.err, absl::StrCat("gotrace-dump: no trace was found in ", dir, "\n"));

  Write("dir/x", kHtml);
  Write("dir/y", kHtml);
  const SubprocessResult foreign = Run({dir});
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_EQ(foreign.err, absl::StrCat("gotrace-dump: 2 files: 2 skipped\n"
                                      "gotrace-dump: no trace was found in ",
                                      dir, "\n"));
}

TEST_F(Validate, PrintsTheSameHoweverManyJobs) {
  std::vector<std::string> args = {"--jobs=1"};
  // Large files first, so that later ones are finished earlier.
  for (const char* const trace : {"go1.27-gc.trace.zst", "go1.23-gc.trace.zst"}) {
    args.push_back(TestFilePath(trace));
  }
  for (int i = 0; i < 20; ++i) args.insert(args.end(), {sound_, broken_, missing_});
  const SubprocessResult one = Run(args);
  EXPECT_EQ(one.exit_code, 2);
  for (const char* const jobs : {"--jobs=4", "--jobs=100"}) {
    args[0] = jobs;
    const SubprocessResult many = Run(args);
    EXPECT_EQ(many.exit_code, one.exit_code);
    EXPECT_EQ(many.out, one.out);
    EXPECT_EQ(many.err, one.err);
  }
}

TEST_F(Validate, EndsQuietlyIfThePipeIsClosed) {
  for (const char* const jobs : {"--jobs=1", "--jobs=4"}) {
    const SubprocessResult result =
        Run({jobs, sound_, sound_, sound_, sound_}, {.read_at_most = 0});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Validate, ReportsThatTheOutputCannotBeWritten) {
  const SubprocessResult result = Run({broken_}, {.output_path = "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "gotrace-dump: writing the standard output: No space left on device\n");
}

// Real lines of JSON, checked against the schema that describes them.
class ValidateJson : public Validate {
 protected:
  // The one line that `args` give, which the schema must allow.
  static JsonValue Line(std::vector<std::string> args) {
    args.insert(args.begin(), "--json");
    const std::string out = Run(args).out;
    EXPECT_EQ(out.find('\n'), out.size() - 1) << out;
    const absl::StatusOr<JsonValue> line = ParseJson(out);
    EXPECT_TRUE(line.ok()) << line.status();
    if (!line.ok()) return {};
    EXPECT_EQ(CheckAgainstSchema(Schema(), *line), "") << out;
    return *line;
  }

  static const JsonValue& Schema() {
    static const JsonValue* const kSchema = new JsonValue(ReadSchema("docs/validate.schema.json"));
    return *kSchema;
  }

  static std::string Verdict(const JsonValue& line) {
    const JsonValue* const verdict = line.Find("verdict");
    return verdict == nullptr ? "" : verdict->text;
  }

  // How many elements the longest `name` of the findings has.
  static size_t MaxElements(const JsonValue& line, absl::string_view name) {
    size_t most = 0;
    for (const JsonValue& finding : line.Find("findings")->elements) {
      const JsonValue* const member = finding.Find(name);
      if (member != nullptr) most = std::max(most, member->elements.size());
    }
    return most;
  }
};

TEST_F(ValidateJson, OfASoundTrace) {
  const JsonValue line = Line({sound_});
  EXPECT_EQ(Verdict(line), "sound");
  EXPECT_EQ(line.Find("file")->text, sound_);
  EXPECT_TRUE(line.Find("findings")->elements.empty());
}

TEST_F(ValidateJson, OfATraceWithAWarning) {
  const JsonValue line = Line({Write("header", MakeHeader(Version::kGo126))});
  EXPECT_EQ(Verdict(line), "sound");
  EXPECT_EQ(line.Find("warnings")->text, "1");
}

TEST_F(ValidateJson, OfABrokenTraceWithHistory) {
  const JsonValue line = Line({broken_});
  EXPECT_EQ(Verdict(line), "broken");
  EXPECT_EQ(MaxElements(line, "history"), 2);
}

TEST_F(ValidateJson, OfFoldedFindings) {
  const JsonValue line = Line({"--max-per-check=1", broken_});
  const JsonValue* const more = line.Find("folded")->Find("task-end-unknown");
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->text, "2");
}

TEST_F(ValidateJson, OfForeignInput) {
  EXPECT_EQ(Verdict(Line({Write("x/page.html", kHtml)})), "broken");
  EXPECT_EQ(Verdict(Line({directory_ + "/x"})), "skipped");
}

TEST_F(ValidateJson, OfAFileThatCannotBeRead) {
  const JsonValue line = Line({missing_});
  EXPECT_EQ(Verdict(line), "unjudged");
  EXPECT_NE(line.Find("io_error"), nullptr);
}

TEST_F(ValidateJson, OfAFileWithoutTheTrace) {
  const JsonValue line = Line({"--trace=2", sound_});
  EXPECT_EQ(Verdict(line), "no-such-trace");
  ASSERT_NE(line.Find("error"), nullptr);
  EXPECT_EQ(line.Find("error")->text, sound_ + ": --trace=2: the input holds 1 trace");
  EXPECT_EQ(line.Find("io_error"), nullptr);
}

TEST_F(ValidateJson, OfAFileWhoseNameIsNotUtf8) {
  const JsonValue line = Line({Write("\xff.trace", *AssembleText(kSound))});
  EXPECT_NE(line.Find("file_base64"), nullptr);
}

TEST_F(ValidateJson, OfRealTraces) {
  for (const TestTrace& trace : TestTraces()) {
    EXPECT_EQ(Verdict(Line({TestFilePath(trace.name + ".zst")})), "sound") << trace.name;
  }
}

TEST_F(ValidateJson, GivesALineForEachFile) {
  const std::string out = Run({"--json", sound_, broken_, missing_}).out;
  const std::vector<std::string> lines = absl::StrSplit(out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(Verdict(ParseJson(lines[0]).value()), "sound");
  EXPECT_EQ(Verdict(ParseJson(lines[1]).value()), "broken");
  EXPECT_EQ(Verdict(ParseJson(lines[2]).value()), "unjudged");
}

// The schema demands something of each part of a line.
TEST_F(ValidateJson, SchemaRefusesOtherObjects) {
  const std::string good = Run({"--json", broken_}).out;
  const auto without = [&](absl::string_view part, absl::string_view other) {
    std::string line = good;
    const size_t at = line.find(std::string(part));
    EXPECT_NE(at, std::string::npos) << part;
    if (at != std::string::npos) line.replace(at, part.size(), std::string(other));
    return CheckAgainstSchema(Schema(), ParseJson(line).value());
  };
  EXPECT_EQ(without("\"verdict\":\"broken\"", "\"verdict\":\"fine\""),
            "/verdict: is none of the values allowed");
  EXPECT_EQ(without("\"notes\":3,", ""), ": lacks notes");
  EXPECT_EQ(without("\"notes\":3,", "\"notes\":-3,"), "/notes: is less than 0");
  EXPECT_EQ(without("\"notes\":3,", "\"notes\":3,\"more\":1,"), "/more: is not allowed");
  EXPECT_EQ(without("\"version\":\"1.22\"", "\"version\":\"x\""),
            "/version: does not fit ^1\\.[0-9]+$");
  EXPECT_EQ(without("\"thread\":1,", "\"thread\":\"1\","), "/findings/0/thread: is no integer");
  EXPECT_EQ(without("\"severity\":\"note\"", "\"severity\":\"notes\""),
            "/findings/0/severity: is none of the values allowed");
  EXPECT_EQ(without("\"from\":\"Undetermined\",", ""), "/findings/3/history/0: lacks from");
}

}  // namespace gotrace_dump_validate_test
}  // namespace gotrace::internal
