// Runs the command `diff` as its users do.
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
namespace gotrace_dump_diff_test {

double Number(const JsonValue& object, absl::string_view name) {
  double number = 0;
  const JsonValue* const value = object.Find(name);
  EXPECT_TRUE(value != nullptr && absl::SimpleAtod(value->text, &number)) << name;
  return number;
}

class DiffCommand : public testing::Test {
 protected:
  DiffCommand() {
    a_ = WriteFile(absl::StrCat(directory_, "/a.trace"), ReadTestTrace("go1.27-gc.trace"));
    b_ = WriteFile(absl::StrCat(directory_, "/b.trace"), ReadTestTrace("go1.27-generations.trace"));
  }

  JsonValue Json(std::vector<std::string> args) const {
    args.insert(args.begin(), {"diff", "--format=json"});
    const std::string out = DumpOutput(args);
    absl::StatusOr<JsonValue> value = ParseJson(out);
    EXPECT_TRUE(value.ok()) << value.status() << ": " << out;
    return value.value_or(JsonValue());
  }

  const std::string directory_ = MakeTestDirectory();
  std::string a_;
  std::string b_;
};

TEST_F(DiffCommand, PrintsTheLargestChangeFirst) {
  const JsonValue object = Json({a_, b_});
  EXPECT_EQ(object.Find("file")->text, a_);
  EXPECT_EQ(object.Find("file_b")->text, b_);
  EXPECT_EQ(object.Find("per")->text, "second");
  const std::vector<JsonValue>& changes = object.Find("changes")->elements;
  ASSERT_GT(changes.size(), 20);
  double last = 1;
  for (const JsonValue& change : changes) {
    EXPECT_EQ(Number(change, "change"), Number(change, "b") - Number(change, "a"));
    EXPECT_LE(Number(change, "weight"), last);
    last = Number(change, "weight");
  }
}

TEST_F(DiffCommand, ATraceIsLikeItself) {
  EXPECT_EQ(DumpOutput({"diff", a_, a_}), "no changes\n");
  EXPECT_EQ(DumpOutput({"diff", "--a=0s,100ms", "--b=0s,100ms", a_}), "no changes\n");
}

TEST_F(DiffCommand, ComparesWindows) {
  const std::string out = DumpOutput({"diff", "--a=,60ms", "--b=60ms,", "--top=3", a_});
  const std::vector<std::string> lines = absl::StrSplit(out, '\n', absl::SkipEmpty());
  // The suspicions that one window has and the other has not may follow.
  ASSERT_GE(lines.size(), 5) << out;
  EXPECT_TRUE(absl::StrContains(lines[0], "METRIC")) << out;
  EXPECT_TRUE(absl::StrContains(lines[4], "more; --top=0 shows all")) << out;
}

TEST_F(DiffCommand, DividesByTasks) {
  const std::string tasks = WriteFile(absl::StrCat(directory_, "/tasks.trace"),
                                      ReadTestTrace("go1.27-annotations.trace"));
  const JsonValue object = Json({"--per=task", "--a=0s,500ms", "--b=0s,", tasks});
  EXPECT_EQ(object.Find("per")->text, "task");
  EXPECT_FALSE(object.Find("changes")->elements.empty());
  const SubprocessResult none = RunDump({"diff", "--per=task", tasks, a_});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(none.out, "no changes\n")) << none.out;
  EXPECT_TRUE(absl::StrContains(none.err, "no task ends")) << none.err;
}

// Nearly all the time of the second trace is spent in syscalls, and the first one has none.
TEST_F(DiffCommand, NamesSuspicionsThatAreNewOrGone) {
  const std::string calls =
      WriteFile(absl::StrCat(directory_, "/calls.trace"), ReadTestTrace("go1.27-syscalls.trace"));
  const std::string few =
      WriteFile(absl::StrCat(directory_, "/few.trace"), ReadTestTrace("go1.27-blocking.trace"));
  const JsonValue worse = Json({few, calls});
  ASSERT_EQ(worse.Find("new_suspicions")->elements.size(), 1);
  EXPECT_EQ(worse.Find("new_suspicions")->elements[0].Find("id")->text, "syscalls");
  EXPECT_TRUE(worse.Find("gone_suspicions")->elements.empty());
  const JsonValue better = Json({calls, few});
  EXPECT_TRUE(better.Find("new_suspicions")->elements.empty());
  EXPECT_EQ(better.Find("gone_suspicions")->elements.size(), 1);
  const std::string out = DumpOutput({"diff", few, calls});
  EXPECT_TRUE(absl::StrContains(out, "\nNew suspicions (time that goroutines lost; ")) << out;
  EXPECT_TRUE(absl::StrContains(out, "  2.86  syscalls ")) << out;
  EXPECT_TRUE(absl::StrContains(DumpOutput({"diff", calls, few}), "\nSuspicions that are gone\n"));
  // The place is a row, too.
  const std::string csv = DumpOutput({"diff", "--format=csv", few, calls});
  EXPECT_TRUE(absl::StrContains(csv, "\ncalls,0,")) << csv;
  EXPECT_TRUE(absl::StrContains(csv, ",main.nap,syscall.Nanosleep,,\n")) << csv;
}

TEST_F(DiffCommand, ComparesSeveralTracesWithOne) {
  const std::string base = absl::StrCat("--base=", a_);
  const SubprocessResult both = RunDump({"diff", base, b_, a_});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(both.out, absl::StrCat("== ", b_, " ==\n", DumpOutput({"diff", a_, b_}), "\n== ", a_,
                                   " ==\nno changes\n"));
  // One line for each comparison, as without --base.
  EXPECT_EQ(DumpOutput({"diff", "--format=json", base, b_, a_}),
            DumpOutput({"diff", "--format=json", a_, b_}) +
                DumpOutput({"diff", "--format=json", a_, a_}));
  EXPECT_EQ(DumpOutput({"diff", "--format=json", base, b_}),
            DumpOutput({"diff", "--format=json", a_, b_}));
  const std::string csv = DumpOutput({"diff", "--format=csv", base, b_, a_});
  EXPECT_TRUE(absl::StartsWith(csv, "file_b,metric,a,b,")) << csv;
  EXPECT_TRUE(absl::StrContains(csv, absl::StrCat("\n", b_, ","))) << csv;
  EXPECT_FALSE(absl::StrContains(csv, absl::StrCat("\n", a_, ","))) << csv;
  // One that cannot be read does not keep the others from being compared.
  const SubprocessResult part = RunDump({"diff", base, "/nowhere", b_});
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_EQ(part.out, absl::StrCat("== ", b_, " ==\n", DumpOutput({"diff", a_, b_})));
}

TEST_F(DiffCommand, PrintsJsonAsTheSchemaSays) {
  const JsonValue schema = ReadSchema("docs/diff.schema.json");
  const std::string broken = WriteFile(absl::StrCat(directory_, "/broken"), "no trace");
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const std::string cut =
      WriteFile(absl::StrCat(directory_, "/cut"), bytes.substr(0, bytes.size() - 100));
  for (const std::string& b : {a_, b_, cut, broken, std::string("/nowhere")}) {
    const std::string out = RunDump({"diff", "--format=json", a_, b}).out;
    const absl::StatusOr<JsonValue> value = ParseJson(out);
    ASSERT_TRUE(value.ok()) << out;
    EXPECT_EQ(CheckAgainstSchema(schema, *value), "") << out;
    const bool is_complete = b == a_ || b == b_;
    EXPECT_EQ(value->Find("complete")->text, is_complete ? "true" : "false") << out;
    EXPECT_EQ(value->Find("changes") != nullptr, is_complete || b == cut) << out;
    EXPECT_EQ(value->Find("file")->text, is_complete || b == cut ? a_ : b);
  }
}

TEST_F(DiffCommand, ExplainsWhatIsWrong) {
  const auto error = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "diff");
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_TRUE(absl::StrContains(error({a_}), "takes two FILEs"));
  EXPECT_TRUE(absl::StrContains(error({"--a=0s,1s", a_}), "takes two FILEs"));
  EXPECT_TRUE(absl::StrContains(error({"--a=0s,1s", "--b=1s,", "-"}), "only once"));
  EXPECT_TRUE(absl::StrContains(error({"--base=-", a_, "-"}), "only once"));
  EXPECT_TRUE(absl::StrContains(error({"--a=1s", a_, b_}), "expected two times"));
  EXPECT_TRUE(absl::StrContains(error({"--a=2s,1s", a_, b_}), "later than"));
  EXPECT_TRUE(absl::StrContains(error({"--a=2s,", "--from=1s", a_, b_}), "used together"));
  EXPECT_TRUE(absl::StrContains(error({a_, b_, a_}), "one or two FILEs; --base=FILE compares"));
  EXPECT_TRUE(absl::StrContains(error({a_, "/nowhere"}), "/nowhere"));
}

TEST(DiffToAFullDisk, IsOneError) {
  const std::string file = TestFilePath("go1.27-gc.trace.zst");
  const SubprocessResult result = RunDump({"diff", file, file}, {.output_path = "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "gotrace-dump: writing the standard output: No space left on device\n");
}

}  // namespace gotrace_dump_diff_test
}  // namespace gotrace::internal
