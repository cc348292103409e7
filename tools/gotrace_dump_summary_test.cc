// Runs the command `summary` as its users do.
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_schema.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_summary_test {

class SummaryCommand : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  static JsonValue Parse(const std::string& text) {
    absl::StatusOr<JsonValue> value = ParseJson(text);
    EXPECT_TRUE(value.ok()) << value.status() << ": " << text;
    return value.ok() ? *std::move(value) : JsonValue();
  }

  static std::string Member(const JsonValue& object, absl::string_view name) {
    const JsonValue* const member = object.Find(name);
    return member == nullptr ? "" : member->text;
  }

  const std::string directory_ = MakeTestDirectory();
  const std::string bytes_ = ReadTestTrace("go1.27-gc.trace");
  const std::string gc_ = Write("gc.trace", bytes_);
  const std::string blocking_ = Write("blocking.trace", ReadTestTrace("go1.27-blocking.trace"));
};

TEST_F(SummaryCommand, PrintsAPage) {
  const std::string page = DumpOutput({"summary", gc_});
  EXPECT_TRUE(absl::StrContains(page, "GOMAXPROCS 8")) << page;
  EXPECT_TRUE(absl::StrContains(page, "GC: 47 cycles")) << page;
  EXPECT_TRUE(absl::StrContains(page, "\nLatencies (latency)\n")) << page;
  // The tables have the program's goroutines.
  EXPECT_TRUE(absl::StrContains(page, "\n  652        0   189 ms ")) << page;
  EXPECT_TRUE(absl::StrContains(page,
                                "\nNot shown: 15 of the runtime and the tracer: 226 ms running, "
                                "79.3 ms runnable, 3.34 s blocked\n"))
      << page;
  EXPECT_FALSE(absl::StrContains(page, "runtime.gcBgMarkWorker")) << page;
  EXPECT_TRUE(absl::StrContains(page, "\nSuspicions (time that goroutines lost; ")) << page;
  EXPECT_TRUE(absl::StrContains(page, "gotrace-dump latency --kind=assist --by=stack\n")) << page;
  // Several files have headings.
  const std::string both = DumpOutput({"summary", gc_, blocking_});
  EXPECT_TRUE(absl::StrContains(both, blocking_)) << both;
  EXPECT_TRUE(absl::StrContains(both, page)) << both;
}

// The syscalls of this trace are nearly all that it does.
TEST_F(SummaryCommand, SuspectsWhatTakesTheTime) {
  const std::string calls = Write("syscalls.trace", ReadTestTrace("go1.27-syscalls.trace"));
  const JsonValue summary = Parse(DumpOutput({"summary", "--json", calls}));
  const std::vector<JsonValue>& suspicions = summary.Find("suspicions")->elements;
  ASSERT_EQ(suspicions.size(), 1);
  EXPECT_EQ(Member(suspicions[0], "id"), "syscalls");
  const std::string text = Member(suspicions[0], "text");
  EXPECT_TRUE(absl::StrContains(DumpOutput({"summary", calls}), text.substr(0, 40))) << text;
  const JsonValue schema = ReadSchema("docs/summary.schema.json");
  EXPECT_EQ(CheckAgainstSchema(schema, Parse(DumpOutput({"summary", "--json", calls}))), "");
}

// Goroutines are in syscalls for 130 ms of 45 ms.
TEST_F(SummaryCommand, FailsOnWhatTheUserNames) {
  const std::string calls = Write("syscalls.trace", ReadTestTrace("go1.27-syscalls.trace"));
  const auto code = [&](const std::string& fail_on) {
    return RunDump({"summary", absl::StrCat("--fail-on=", fail_on), calls}).exit_code;
  };
  EXPECT_EQ(code("syscalls"), 3);
  EXPECT_EQ(code("syscalls:2s"), 3);
  EXPECT_EQ(code("syscalls:4s"), 0);
  EXPECT_EQ(code("lock,leak:0s"), 0);
  EXPECT_EQ(code("lock, SYSCALLS:2000ms"), 3);
  // The page is the same, and of several files each is checked.
  const SubprocessResult several = RunDump({"summary", "--fail-on=syscalls", calls, blocking_});
  EXPECT_EQ(several.exit_code, 3);
  EXPECT_EQ(several.out, DumpOutput({"summary", calls, blocking_}));
  EXPECT_EQ(several.err,
            absl::StrCat("gotrace-dump: ", calls,
                         ": suspected, and named by --fail-on: syscalls (cost 2.86)\n"));
  // Merged, the costs are those of all traces together.
  const std::string lines = DumpOutput({"summary", "--json", calls, calls});
  const auto merged = [&](const std::string& fail_on) {
    return RunDump({"summary", "--merge", absl::StrCat("--fail-on=", fail_on), "-"},
                   {.input = lines})
        .exit_code;
  };
  EXPECT_EQ(merged("syscalls:2s"), 3);
  EXPECT_EQ(merged("syscalls:4s"), 0);
}

TEST_F(SummaryCommand, ExplainsWhatItCannotFailOn) {
  const auto error = [&](const std::string& fail_on) {
    const SubprocessResult result = RunDump({"summary", absl::StrCat("--fail-on=", fail_on), gc_});
    EXPECT_EQ(result.exit_code, 2) << fail_on;
    return result.err;
  };
  const std::string unknown = error("lock,locks");
  EXPECT_TRUE(absl::StrContains(unknown,
                                "--fail-on: there is no suspicion \"locks\"; the ids are "
                                "lock, syscalls, "))
      << unknown;
  EXPECT_TRUE(absl::StrContains(error("lock:"), "expected a duration, as in 1.5s or 20ms"));
  EXPECT_TRUE(absl::StrContains(error("lock:5"), "expected a duration, as in 1.5s or 20ms"));
}

TEST_F(SummaryCommand, SuspicionsHaveCommandsThatExist) {
  for (size_t kind = 0; kind < kSuspicionKindEnd; ++kind) {
    const absl::string_view command = SuspicionCommand(static_cast<SuspicionKind>(kind));
    std::vector<std::string> args = absl::StrSplit(command, ' ');
    args.push_back(blocking_);
    // It may find nothing in this trace, and says so.
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.out, "") << command;
  }
}

TEST_F(SummaryCommand, PrintsJsonAsTheSchemaSays) {
  const JsonValue schema = ReadSchema("docs/summary.schema.json");
  const std::string broken = Write("broken.trace", "Not a trace.");
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  for (const std::string& file : {gc_, blocking_, broken, cut}) {
    for (const std::string flag : {"--nosalvage", "--salvage"}) {
      const std::string out = RunDump({"summary", "--json", flag, file}).out;
      EXPECT_EQ(CheckAgainstSchema(schema, Parse(out)), "") << out;
    }
  }
  const std::string merged = DumpOutput(
      {"summary", "--merge", "--json", Write("one.json", DumpOutput({"summary", "--json", gc_}))});
  EXPECT_EQ(CheckAgainstSchema(schema, Parse(merged)), "") << merged;
}

TEST_F(SummaryCommand, MergesWhatItPrinted) {
  const std::string one = DumpOutput({"summary", "--json", gc_});
  const std::string two = DumpOutput({"summary", "--json", blocking_});
  const std::string both = DumpOutput({"summary", "--json", gc_, blocking_});
  EXPECT_EQ(both, one + two);
  const std::string in_one_file =
      DumpOutput({"summary", "--merge", "--json", "-"}, {.input = both});
  const std::string in_two_files =
      DumpOutput({"summary", "--merge", "--json", Write("two.json", two), Write("one.json", one)});
  EXPECT_EQ(in_one_file, in_two_files);
  const JsonValue merged = Parse(in_one_file);
  EXPECT_EQ(Member(merged, "traces"), "2");
  EXPECT_EQ(Member(merged, "gc_cycles"), absl::StrCat(std::stoll(Member(Parse(one), "gc_cycles")) +
                                                      std::stoll(Member(Parse(two), "gc_cycles"))));
  EXPECT_TRUE(
      absl::StrContains(DumpOutput({"summary", "--merge", "-"}, {.input = both}), "2 traces: "));
  // Merged summaries can be merged again.
  const JsonValue four = Parse(DumpOutput({"summary", "--merge", "--json", "-"},
                                          {.input = in_one_file + "\n" + in_two_files}));
  EXPECT_EQ(Member(four, "traces"), "4");
}

// What Ps and goroutines did is divided between two windows, so these merge to the whole. Times of
// causes are rounded.
TEST_F(SummaryCommand, MergesWindowsToTheWhole) {
  const JsonValue whole = Parse(DumpOutput({"summary", "--json", gc_}));
  const std::string parts = DumpOutput({"summary", "--json", "--to=120ms", gc_}) +
                            DumpOutput({"summary", "--json", "--from=120ms", gc_});
  const JsonValue merged =
      Parse(DumpOutput({"summary", "--merge", "--json", "-"}, {.input = parts}));
  for (const absl::string_view name : {"duration_ns", "runnable_ns", "wasted_ns"}) {
    EXPECT_EQ(Member(merged, name), Member(whole, name)) << name;
  }
  for (const absl::string_view object : {"procs", "ready"}) {
    for (const auto& [name, value] : whole.Find(object)->members) {
      EXPECT_NEAR(std::stod(Member(*merged.Find(object), name)), std::stod(value.text), 16) << name;
    }
  }
}

// Windows of the flight recorder may have the same generations.
TEST_F(SummaryCommand, NotesTracesThatOverlap) {
  const std::string whole = DumpOutput({"summary", "--json", gc_});
  const std::string begin = DumpOutput({"summary", "--json", "--to=120ms", gc_});
  const std::string end = DumpOutput({"summary", "--json", "--from=120ms", gc_});
  const auto notes = [](const std::string& lines) {
    const SubprocessResult result = RunDump({"summary", "--merge", "-"}, {.input = lines});
    EXPECT_EQ(result.exit_code, 0);
    return result.err;
  };
  EXPECT_EQ(notes(begin + end), "");
  EXPECT_EQ(notes(whole + DumpOutput({"summary", "--json", blocking_})), "");
  EXPECT_EQ(notes(begin + whole + end),
            "gotrace-dump: standard input: 2 of its traces overlap with others, as windows of the "
            "flight recorder do: their common events count twice\n");
  // The thirteen generations of the trace, without the sync that ends it.
  EXPECT_EQ(Parse(whole).Find("generations")->elements.size(), 13);
}

TEST_F(SummaryCommand, ExplainsWhatIsWrong) {
  const std::string broken = Write("broken.trace", "Not a trace.");
  const std::string lines = RunDump({"summary", "--json", broken, gc_}).out;
  const SubprocessResult part = RunDump({"summary", "--merge", "-"}, {.input = lines});
  EXPECT_EQ(part.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(part.err, "1 of its traces could not be read, and are missing"))
      << part.err;
  const auto error = [&](const std::string& input) {
    const SubprocessResult result = RunDump({"summary", "--merge", "-"}, {.input = input});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_TRUE(absl::StrContains(error("\n{\"traces\":1}\n"),
                                "line 2 is not a summary as `summary --json` prints it: the member "
                                "\"events\" is missing"));
  EXPECT_TRUE(absl::StrContains(error(""), "there are no summaries in it"));
  EXPECT_EQ(RunDump({"summary", "--merge", directory_ + "/none.json"}).exit_code, 2);
  EXPECT_EQ(RunDump({"summary", "--format=csv", gc_}).exit_code, 2);
}

TEST(SummaryOfNothing, IsOnlyTheError) {
  const SubprocessResult result = RunDump({"summary", "-"}, {.input = ""});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(result.err.empty());
}

}  // namespace gotrace_dump_summary_test
}  // namespace gotrace::internal
