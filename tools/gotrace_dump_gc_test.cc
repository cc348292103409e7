// Runs the command `gc` as its users do.
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
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_gc_test {

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

double Number(const JsonValue& object, absl::string_view name) {
  double number = 0;
  const JsonValue* const value = object.Find(name);
  EXPECT_TRUE(value != nullptr && absl::SimpleAtod(value->text, &number)) << name;
  return number;
}

class GcCommand : public testing::Test {
 protected:
  GcCommand() {
    trace_ =
        WriteFile(absl::StrCat(MakeTestDirectory(), "/gc.trace"), ReadTestTrace("go1.27-gc.trace"));
  }

  std::string Run(std::vector<std::string> args) const {
    args.insert(args.begin(), "gc");
    args.push_back(trace_);
    return DumpOutput(args);
  }

  // The array `name` of the JSON object.
  std::vector<JsonValue> Rows(absl::string_view name, std::vector<std::string> args) const {
    args.push_back("--format=json");
    const std::string out = Run(args);
    absl::StatusOr<JsonValue> value = ParseJson(out);
    EXPECT_TRUE(value.ok()) << value.status() << ": " << out;
    if (!value.ok() || value->Find(name) == nullptr) return {};
    return value->Find(name)->elements;
  }

  std::string trace_;
};

TEST_F(GcCommand, PrintsCycles) {
  const std::vector<JsonValue> cycles = Rows("cycles", {});
  ASSERT_EQ(cycles.size(), 47);
  EXPECT_EQ(cycles[0].Find("trigger")->text, "heap");
  EXPECT_EQ(Number(cycles[0], "cycle"), 1);
  EXPECT_EQ(Number(cycles[0], "length_ns"), 3'432'640);
  EXPECT_EQ(Number(cycles[0], "pauses"), 2);
  // G 20, 21 and 22 assisted.
  double assists = 0;
  for (const absl::string_view goroutine : {"20", "21", "22"}) {
    assists += Number(*cycles[0].Find("assists_by_g_ns"), goroutine);
  }
  EXPECT_EQ(assists, Number(cycles[0], "assists_ns"));
  EXPECT_EQ(Number(cycles[0], "goal_bytes"), 88'432'125);
  EXPECT_EQ(Number(cycles[0], "next_goal_bytes"), 108'637'776);
  const std::vector<std::string> text = Lines(Run({"--top=1"}));
  ASSERT_EQ(text.size(), 3);
  EXPECT_TRUE(absl::StrContains(text[0], "TRIGGER")) << text[0];
  EXPECT_TRUE(absl::StrContains(text[1], "3.43 ms")) << text[1];
}

TEST_F(GcCommand, PrintsPauses) {
  const std::vector<JsonValue> stops = Rows("pauses", {"--pauses"});
  ASSERT_EQ(stops.size(), 99);
  EXPECT_EQ(stops[0].Find("reason")->text, "start trace");
  EXPECT_EQ(Number(stops[1], "length_ns"), 69'760);
  EXPECT_EQ(Number(stops[1], "last_p"), 7);
  const JsonValue longest = Rows("pauses", {"--pauses", "--sort=length", "--top=1"})[0];
  EXPECT_EQ(longest.Find("reason")->text, "GC sweep termination");
  EXPECT_EQ(Number(longest, "length_ns"), 3'989'696);
  EXPECT_EQ(Number(longest, "stopping_ns"), 672'576);
  EXPECT_EQ(Number(longest, "stopped_ns"), 67'456);
  EXPECT_EQ(Number(longest, "restarting_ns"), 3'249'664);
  EXPECT_EQ(Number(longest, "last_p"), 7);
  EXPECT_EQ(Number(longest, "last_g"), 22);
  EXPECT_EQ(longest.Find("last_function")->text, "time.Sleep");
}

// What a window has of a stop of the world is a whole row.
TEST_F(GcCommand, APauseIsTheSameInAWindowThatCutsIt) {
  int cut = 0;
  for (const JsonValue& stop : Rows("pauses", {"--pauses"})) {
    const auto text = [](const JsonValue& row, absl::string_view name) {
      return row.Find(name)->text;
    };
    const auto begin = static_cast<int64_t>(Number(stop, "begin_ns"));
    const auto end = static_cast<int64_t>(Number(stop, "end_ns"));
    if (Number(stop, "stopping_ns") == 0 || end - begin < 2) continue;
    ++cut;
    const std::vector<JsonValue> there =
        Rows("pauses", {"--pauses", absl::StrCat("--from=@", begin + (end - begin) / 2),
                        absl::StrCat("--to=@", end)});
    ASSERT_EQ(there.size(), 1) << begin;
    for (const absl::string_view name : {"begin_ns", "end_ns", "stopping_ns", "stopped_ns",
                                         "restarting_ns", "last_p", "last_p_stop_ns", "last_g"}) {
      EXPECT_EQ(text(there[0], name), text(stop, name)) << begin << " " << name;
    }
  }
  EXPECT_GT(cut, 10);
}

TEST_F(GcCommand, PrintsTheMinimumMutatorUtilization) {
  const std::vector<std::string> args = {"--mmu", "--windows=1ms,10ms,50ms"};
  const std::vector<JsonValue> right = Rows("mmu", args);
  std::vector<std::string> go_args = args;
  go_args.push_back("--compat=go");
  const std::vector<JsonValue> go = Rows("mmu", go_args);
  ASSERT_EQ(right.size(), 3);
  ASSERT_EQ(go.size(), 3);
  EXPECT_EQ(Number(right[1], "window_ns"), 10'000'000);
  EXPECT_NEAR(Number(right[1], "mmu"), 0.5998, 0.0001);
  EXPECT_NEAR(Number(right[2], "mmu"), 0.7604, 0.0001);
  EXPECT_NEAR(Number(go[1], "mmu"), 0.1044, 0.0001);
  EXPECT_NEAR(Number(go[2], "mmu"), 0.1199, 0.0001);
  for (const JsonValue& row : right) {
    const std::vector<JsonValue>& worst = row.Find("worst")->elements;
    ASSERT_FALSE(worst.empty());
    EXPECT_LE(worst.size(), 10);
    EXPECT_EQ(Number(worst[0], "utilization"), Number(row, "mmu"));
    EXPECT_EQ(worst[0].Find("time_ns")->text, row.Find("worst_time_ns")->text);
  }
  const std::vector<JsonValue> background =
      Rows("mmu", {"--mmu", "--flags=background", "--windows=1s"});
  ASSERT_EQ(background.size(), 1);
  EXPECT_NEAR(Number(background[0], "mmu"), 0.93689, 0.00001);
  EXPECT_EQ(Lines(Run({"--mmu"})).size(), 14);
  const std::vector<std::string> csv =
      Lines(Run({"--mmu", "--flags=stw,perproc", "--windows=1ms", "--format=csv"}));
  EXPECT_EQ(csv[0], "window_ns,mmu,worst_time_ns,worst");
  EXPECT_TRUE(absl::StrContains(csv[1], ",\"[{\"\"time_ns\"\":")) << csv[1];
}

TEST_F(GcCommand, ExplainsWhatIsWrong) {
  const auto error = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "gc");
    args.push_back(trace_);
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_TRUE(absl::StrContains(error({"--windows=1ms"}), "--windows works only with --mmu"));
  EXPECT_TRUE(absl::StrContains(error({"--flags=stw"}), "--flags works only with --mmu"));
  EXPECT_TRUE(absl::StrContains(error({"--compat=go"}), "--compat works only with --mmu"));
  EXPECT_TRUE(absl::StrContains(error({"--mmu", "--pauses"}), "cannot be used together"));
  EXPECT_TRUE(absl::StrContains(error({"--mmu", "--flags=mut"}), "perproc"));
  EXPECT_TRUE(absl::StrContains(error({"--mmu", "--windows=0"}), "at least 1ns"));
  EXPECT_TRUE(absl::StrContains(error({"--g=1"}), "--g is a flag of"));
  EXPECT_TRUE(absl::StrContains(error({"--mmu", "--compat=go", "--from=1s"}),
                                "--compat=go works only without"));
}

}  // namespace gotrace_dump_gc_test
}  // namespace gotrace::internal
