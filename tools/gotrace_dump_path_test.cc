// Runs the command `path` and the flag --id of `tasks` as their users do.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_schema.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_path_test {

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

int64_t Number(const JsonValue& object, absl::string_view name) {
  int64_t number = 0;
  const JsonValue* const value = object.Find(name);
  EXPECT_TRUE(value != nullptr && absl::SimpleAtoi(value->text, &number)) << name;
  return number;
}

class PathCommand : public testing::Test {
 protected:
  PathCommand() : directory_(MakeTestDirectory()) {
    annotations_ = Write("annotations.trace", ReadTestTrace("go1.27-annotations.trace"));
    gc_ = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  }

  std::string Write(absl::string_view name, const std::string& bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  // The array `name` of the output in JSON, which is as the schema says.
  std::vector<JsonValue> Rows(absl::string_view name, std::vector<std::string> args) const {
    const JsonValue schema = ReadSchema(absl::StrCat("docs/", args[0], ".schema.json"));
    args.push_back("--format=json");
    const std::string out = DumpOutput(args);
    absl::StatusOr<JsonValue> value = ParseJson(out);
    EXPECT_TRUE(value.ok()) << value.status() << ": " << out;
    if (!value.ok()) return {};
    EXPECT_EQ(CheckAgainstSchema(schema, *value), "") << out;
    if (value->Find(name) == nullptr) return {};
    return value->Find(name)->elements;
  }

  const std::string directory_;
  std::string annotations_;
  std::string gc_;
};

TEST_F(PathCommand, PrintsThePathOfATask) {
  const std::vector<JsonValue> pieces = Rows("pieces", {"path", "--task=9", annotations_});
  ASSERT_EQ(pieces.size(), 8);
  int64_t time = 2'078'707'318'656;
  for (const JsonValue& piece : pieces) {
    EXPECT_EQ(Number(piece, "begin_ns"), time);
    time += Number(piece, "length_ns");
    EXPECT_EQ(Number(piece, "end_ns"), time);
  }
  EXPECT_EQ(time, 2'079'907'416'768);
  // G 26 woke G 1 up.
  EXPECT_EQ(pieces[1].Find("woken_by")->text, "timer");
  EXPECT_EQ(Number(pieces[4], "g"), 26);
  EXPECT_EQ(pieces[4].Find("state")->text, "Runnable");
  EXPECT_EQ(Number(pieces[5], "depth"), 1);
  EXPECT_EQ(Number(pieces[5], "begin_ns"), 2'079'907'401'280);
  // While G 1 waited for a P, G 26 still ran.
  EXPECT_EQ(Number(*pieces[6].Find("ran_ns"), "main.main.func1"), 576);
  EXPECT_EQ(Number(pieces[6].Find("ran")->elements[0], "g"), 26);
  EXPECT_EQ(pieces[7].Find("stack")->text, "main.main;runtime/trace.(*Task).End");
}

TEST_F(PathCommand, PrintsAPathAsText) {
  const std::vector<std::string> lines = Lines(DumpOutput({"path", "--task=9", annotations_}));
  ASSERT_EQ(lines.size(), 9);
  EXPECT_TRUE(absl::StrContains(lines[0], "REASON")) << lines[0];
  EXPECT_TRUE(absl::StrContains(lines[2], "1.20 s      0   1  Waiting   sleep")) << lines[2];
  EXPECT_TRUE(absl::StrContains(lines[7], "Ps: main.main.func1 100%")) << lines[7];
}

TEST_F(PathCommand, IsCutToTheWindow) {
  int64_t sum = 0;
  for (const JsonValue& piece :
       Rows("pieces", {"path", "--g=1", "--from=10ms", "--to=30ms", gc_})) {
    sum += Number(piece, "length_ns");
  }
  EXPECT_EQ(sum, 20'000'000);
}

TEST_F(PathCommand, AddsUpThePathsOfAType) {
  for (const std::vector<std::string>& choice : std::vector<std::vector<std::string>>{
           {"--type=nesting/child"}, {"--region=across generations"}, {"--task=3"}}) {
    std::vector<std::string> args = {"path", choice[0], "--format=folded", annotations_};
    const std::vector<std::string> folded = Lines(DumpOutput(args));
    int64_t sum = 0;
    for (const std::string& line : folded) {
      int64_t time = 0;
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      ASSERT_TRUE(absl::SimpleAtoi(words.back(), &time)) << line;
      sum += time;
    }
    const bool is_region = absl::StrContains(choice[0], "region");
    EXPECT_EQ(sum, is_region ? 1'200'094'592 : 60'544) << choice[0];
  }
  const std::vector<JsonValue> samples =
      Rows("samples", {"path", "--type=nesting/child", annotations_});
  int64_t sum = 0;
  for (const JsonValue& sample : samples) sum += Number(sample, "time_ns");
  EXPECT_EQ(sum, 60'544);
  EXPECT_EQ(Lines(DumpOutput({"path", "--type=nesting/child", "--format=folded", annotations_}))[0],
            "main.main;main.nesting;runtime/trace.(*Task).End;[running] 448");
  EXPECT_TRUE(
      absl::StartsWith(DumpOutput({"path", "--task=9", "-o", "-", annotations_}), "\x1f\x8b"));
}

TEST_F(PathCommand, SaysWhatIsCutOrLeftOut) {
  const auto note = [&](const std::string& choice) {
    return RunDump({"path", choice, annotations_}).err;
  };
  EXPECT_EQ(note("--task=9"), "");
  EXPECT_TRUE(
      absl::StrContains(note("--task=1"), "the task began before the first event that was read"));
  EXPECT_TRUE(absl::StrContains(note("--task=7"), "the end of the task was not read"));
  EXPECT_TRUE(absl::StrContains(note("--type=never ended"), "left out 1 of 1 tasks"));
}

TEST_F(PathCommand, ExplainsWhatIsWrong) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"path"},
                                             {"path", "--task=1", "--g=1"},
                                             {"path", "--type=request", "--region=query"},
                                             {"path", "--task=x"},
                                             {"path", "--task=1", "--sort=speed"},
                                             {"path", "--task=1", "-o", "x", "--format=csv"},
                                             {"tasks", "--id=1", "--type=request"},
                                             {"tasks", "--id=1", "--g=1"},
                                             {"tasks", "--id=1", "--compat=go"},
                                             {"tasks", "--id=1", "--each"}}) {
    std::vector<std::string> args = flags;
    args.push_back(annotations_);
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2) << flags.back();
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(PathCommand, PrintsTheStoryOfATask) {
  const std::vector<JsonValue> rows = Rows("story", {"tasks", "--id=9", annotations_});
  ASSERT_EQ(rows.size(), 20);
  EXPECT_EQ(rows[0].Find("what")->text, "task begins");
  EXPECT_EQ(rows[0].Find("text")->text, "across generations");
  EXPECT_EQ(rows[10].Find("what")->text, "blocked");
  EXPECT_EQ(rows[10].Find("reason")->text, "chan receive");
  EXPECT_EQ(rows[10].Find("woken_by")->text, "goroutine");
  EXPECT_EQ(Number(rows[10], "waker"), 26);
  EXPECT_EQ(Number(rows[10], "length_ns"), 4'672);
  EXPECT_EQ(rows[10].Find("function")->text, "runtime.chanrecv1");
  EXPECT_EQ(rows[15].Find("category")->text, "late");
  EXPECT_EQ(Number(rows[17], "child"), 10);
  EXPECT_EQ(rows[19].Find("what")->text, "task ends");
  const std::string text = DumpOutput({"tasks", "--id=9", annotations_});
  EXPECT_TRUE(absl::StrContains(text, "chan receive, until G 26")) << text;
  EXPECT_EQ(DumpOutput({"tasks", "--id=99", annotations_}), "no story\n");
}

TEST(PathOfNothing, IsAnError) {
  const std::string file = TestFilePath("go1.27-annotations.trace.zst");
  ExpectFailure(RunDump({"path", "--task=99999", file}), 2, "",
                "gotrace-dump: found no task 99999\n");
  ExpectFailure(RunDump({"path", "--g=99999", file}), 2, "",
                "gotrace-dump: found no goroutine 99999\n");
}

}  // namespace gotrace_dump_path_test
}  // namespace gotrace::internal
