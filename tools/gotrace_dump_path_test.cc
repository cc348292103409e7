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
    // It may have notes.
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string& out = result.out;
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
  ASSERT_EQ(pieces.size(), 12);
  int64_t time = 2'078'707'318'656;
  for (const JsonValue& piece : pieces) {
    EXPECT_EQ(Number(piece, "begin_ns"), time);
    time += Number(piece, "length_ns");
    EXPECT_EQ(Number(piece, "end_ns"), time);
  }
  EXPECT_EQ(time, 2'079'907'416'768);
  // The region begins shortly after the task.
  EXPECT_EQ(pieces[0].Find("region")->text, "");
  EXPECT_EQ(pieces[0].Find("function")->text, "main.main");
  EXPECT_EQ(pieces[0].Find("file")->text, "annotations/main.go");
  EXPECT_EQ(Number(pieces[0], "line"), 118);
  EXPECT_EQ(Number(pieces[1], "begin_ns"), 2'078'707'318'848);
  EXPECT_EQ(pieces[1].Find("region")->text, "across generations");
  // G 26 woke G 1 up.
  EXPECT_EQ(pieces[2].Find("woken_by")->text, "timer");
  EXPECT_EQ(Number(pieces[5], "g"), 26);
  EXPECT_EQ(pieces[5].Find("state")->text, "Runnable");
  EXPECT_EQ(Number(pieces[6], "depth"), 1);
  EXPECT_EQ(Number(pieces[6], "begin_ns"), 2'079'907'401'280);
  EXPECT_EQ(pieces[6].Find("region")->text, "inner, blocked across generations");
  EXPECT_EQ(pieces[7].Find("region")->text, "blocked across generations");
  EXPECT_EQ(Number(pieces[8], "length_ns"), 320);
  // While G 1 waited for a P, G 26 still ran.
  EXPECT_EQ(Number(*pieces[9].Find("ran_ns"), "main.main.func1"), 576);
  EXPECT_EQ(Number(pieces[9].Find("ran")->elements[0], "g"), 26);
  EXPECT_EQ(pieces[11].Find("stack")->text, "main.main;runtime/trace.(*Task).End");
}

TEST_F(PathCommand, PrintsAPathAsText) {
  const std::vector<std::string> lines = Lines(DumpOutput({"path", "--task=9", annotations_}));
  ASSERT_EQ(lines.size(), 13);
  EXPECT_TRUE(absl::StrContains(lines[0], "REASON")) << lines[0];
  EXPECT_TRUE(absl::EndsWith(lines[1], "in.main main.go:118")) << lines[1];
  EXPECT_TRUE(absl::StrContains(lines[2], "region across generations")) << lines[2];
  EXPECT_TRUE(absl::StrContains(lines[3], "1.20 s      0   1  Waiting   sleep")) << lines[3];
  EXPECT_TRUE(absl::StrContains(lines[10], "Ps: main.main.func1 100%")) << lines[10];
}

// Returns the sum of a column.
int64_t SumOf(absl::string_view name, const std::vector<JsonValue>& rows) {
  int64_t sum = 0;
  for (const JsonValue& row : rows) sum += Number(row, name);
  return sum;
}

TEST_F(PathCommand, TakesTheSlowestTaskOrMain) {
  const SubprocessResult slowest = RunDump({"path", annotations_});
  EXPECT_EQ(slowest.exit_code, 0);
  EXPECT_EQ(slowest.out, DumpOutput({"path", "--task=9", annotations_}));
  EXPECT_TRUE(absl::StrContains(slowest.err,
                                "this is the slowest task, 9 (across generations, 1.20 s), of "))
      << slowest.err;
  const SubprocessResult main = RunDump({"path", "--top=5", gc_});
  EXPECT_EQ(main.exit_code, 0);
  EXPECT_EQ(main.out, DumpOutput({"path", "--g=1", "--top=5", gc_}));
  EXPECT_TRUE(absl::StrContains(main.err, "there are no tasks, so this is main, goroutine 1"))
      << main.err;
}

TEST_F(PathCommand, AddsUpByStateReasonOrFunction) {
  const std::vector<JsonValue> states =
      Rows("sums", {"path", "--type=nesting/child", "--by=state", annotations_});
  ASSERT_EQ(states.size(), 2);
  EXPECT_EQ(states[0].Find("state")->text, "Running");
  EXPECT_EQ(Number(states[0], "time_ns"), 59'328);
  EXPECT_EQ(Number(states[1], "time_ns"), 1'216);
  EXPECT_EQ(Number(states[1], "count"), 2);

  // While goroutines run, the region is what tells the pieces apart.
  const std::vector<JsonValue> reasons =
      Rows("sums", {"path", "--type=nesting/child", "--by=reason", annotations_});
  ASSERT_EQ(reasons.size(), 7);
  EXPECT_EQ(reasons[0].Find("region")->text, "");
  EXPECT_EQ(Number(reasons[0], "time_ns"), 56'832);
  EXPECT_EQ(Number(reasons[0], "count"), 5);
  EXPECT_EQ(reasons[1].Find("state")->text, "Runnable");
  EXPECT_EQ(reasons[2].Find("region")->text, "outer");
  EXPECT_EQ(Number(reasons[2], "time_ns"), 768);
  EXPECT_EQ(reasons[3].Find("region")->text, "middle");
  EXPECT_EQ(Number(reasons[3], "time_ns"), 640);
  EXPECT_EQ(Number(reasons[3], "count"), 3);
  EXPECT_EQ(SumOf("time_ns", reasons), 60'544);

  const std::vector<JsonValue> functions =
      Rows("sums", {"path", "--type=nesting/child", "--by=func", annotations_});
  EXPECT_EQ(functions[0].Find("function")->text, "main.nesting");
  EXPECT_EQ(functions[0].Find("library")->text, "sync.(*WaitGroup).Wait");
  EXPECT_EQ(Number(functions[0], "time_ns"), 54'592);
  EXPECT_EQ(SumOf("time_ns", functions), 60'544);
  const std::vector<std::string> text =
      Lines(DumpOutput({"path", "--type=nesting/child", "--by=func", annotations_}));
  EXPECT_TRUE(absl::EndsWith(text[0], "  WHERE")) << text[0];
  EXPECT_TRUE(absl::EndsWith(text[1], " -> sync.(*WaitGroup).Wait")) << text[1];

  // Of a single path, too.
  EXPECT_EQ(SumOf("time_ns",
                  Rows("sums", {"path", "--g=1", "--by=state", "--from=10ms", "--to=30ms", gc_})),
            20'000'000);
  EXPECT_EQ(SumOf("time_ns", Rows("samples", {"path", "--task=9", "--by=stack", annotations_})),
            1'200'098'112);
}

TEST_F(PathCommand, SelectsByStack) {
  EXPECT_EQ(Rows("pieces", {"path", "--task=9", "--stack=runtime.chanrecv1", annotations_}).size(),
            3);
  const std::vector<JsonValue> sums =
      Rows("samples", {"path", "--task=9", "--by=stack", "--stack=chanrecv", annotations_});
  EXPECT_EQ(SumOf("time_ns", sums), 11'520 + 768 + 4'480);
}

// The paths of goroutines partition their lives.
TEST_F(PathCommand, AddsUpGoroutinesOfAFunction) {
  int64_t total = 0;
  for (const JsonValue& row : Rows("goroutines", {"goroutines", gc_})) {
    if (row.Find("name")->text == "main.sweep.func1") total += Number(row, "total_ns");
  }
  EXPECT_GT(total, 0);
  const auto sum = [&](const std::string& pattern) {
    return SumOf("time_ns", Rows("sums", {"path", pattern, "--by=state", gc_}));
  };
  EXPECT_EQ(sum("--func=main.sweep.func1"), total);
  EXPECT_EQ(sum("--func=main\\.sw.*1"), total);
  // The name as a whole must match.
  EXPECT_EQ(sum("--func=sweep"), 0);
}

TEST_F(PathCommand, SelectsByLength) {
  const auto sum = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "path");
    flags.insert(flags.end(), {"--by=state", annotations_});
    return SumOf("time_ns", Rows("sums", flags));
  };
  EXPECT_EQ(sum({"--min=1s"}), 1'200'098'112);
  EXPECT_EQ(sum({"--type=across generations", "--min=1s"}), 1'200'098'112);
  EXPECT_EQ(sum({"--type=across generations", "--max=1s"}), 0);
  EXPECT_EQ(sum({"--worst=2"}), 1'200'098'112 + 60'864);
  EXPECT_EQ(sum({"--worst=1", "--max=1s"}), 60'864);
  const auto note = [&](const std::string& flag) {
    return RunDump({"path", "--type=nesting", flag, annotations_}).err;
  };
  EXPECT_TRUE(absl::StrContains(note("--worst=2"), "the slowest tasks are 2 (60.9 µs)\n"))
      << note("--worst=2");
  EXPECT_TRUE(absl::StrContains(note("--min=1s"), "all 1 tasks are shorter or longer than that"))
      << note("--min=1s");
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
            "main.main;main.nesting;[running] 1024");
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
       std::vector<std::vector<std::string>>{{"path", "--task=1", "--g=1"},
                                             {"path", "--g=1", "--func=main.main"},
                                             {"path", "--func=main.[x"},
                                             {"path", "--task=1", "--min=1s"},
                                             {"path", "--g=1", "--worst=3"},
                                             {"path", "--min=2s", "--max=1s"},
                                             {"path", "--by=line"},
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
