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
  ASSERT_EQ(lines.size(), 5) << out;
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
  EXPECT_EQ(none.out, "no changes\n");
  EXPECT_TRUE(absl::StrContains(none.err, "no task ends")) << none.err;
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
  EXPECT_TRUE(absl::StrContains(error({"--a=1s", a_, b_}), "expected two times"));
  EXPECT_TRUE(absl::StrContains(error({"--a=2s,1s", a_, b_}), "later than"));
  EXPECT_TRUE(absl::StrContains(error({"--a=2s,", "--from=1s", a_, b_}), "used together"));
  EXPECT_TRUE(absl::StrContains(error({a_, b_, a_}), "one or two FILEs"));
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
