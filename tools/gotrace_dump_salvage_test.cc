// Runs the commands that take --salvage as their users do, on broken traces.
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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
namespace gotrace_dump_salvage_test {

// Goroutine 1 is said to run while it waits, and logs a string that is in no table.
constexpr char kContradiction[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserLog dt=1 task=0 key_string=5 value_string=0 stack=9
GoBlock dt=1 reason_string=0 stack=0
GoStatus dt=1 g=1 m=1 gstatus=2
)";

std::string Contradiction() { return WriteFile("contradiction", *AssembleText(kContradiction)); }

// kContradiction, followed by 20 bytes that are not a batch.
std::string Garbage() {
  return WriteFile("garbage", absl::StrCat(*AssembleText(kContradiction), std::string(20, '\x7f')));
}

// The last lines of the standard error, those of the summary.
std::vector<std::string> Summary(const SubprocessResult& result, size_t count) {
  std::vector<std::string> lines = absl::StrSplit(result.err, '\n', absl::SkipEmpty());
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<int>(count));
  return lines;
}

TEST(Salvage, EventsMarksWhatContradicts) {
  const std::string path = Contradiction();
  const SubprocessResult strict = RunDump({path});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_FALSE(absl::StrContains(strict.out, "Fault="));

  const SubprocessResult text = RunDump({"--salvage", path});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(text.out,
                                " Log Time=103 Task=0 Category=\"?string#5\" Message=\"\"\n"
                                "Stack=\n\t?stack#9 @ 0x0\n\t\t:0\n"))
      << text.out;
  EXPECT_TRUE(absl::StrContains(text.out,
                                " StateTransition Time=105 GoID=1 Running->Running Reason=\"\" "
                                "Fault=goroutine-status-conflict\n"))
      << text.out;
  EXPECT_EQ(Summary(text, 1),
            std::vector<std::string>{absl::StrCat(
                "gotrace-dump: ", path,
                ": 2 strings or stacks are missing from the tables; marked 1 event that "
                "contradicts earlier ones")});
}

TEST(Salvage, EventsMarksWhatContradictsInJson) {
  const SubprocessResult result = RunDump({"--salvage", "--format=json", Contradiction()});
  EXPECT_EQ(result.exit_code, 1);
  int marked = 0;
  for (const absl::string_view line : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
    const absl::StatusOr<JsonValue> event = ParseJson(line);
    ASSERT_TRUE(event.ok()) << line;
    const JsonValue* const fault = event->Find("fault");
    if (fault == nullptr) continue;
    ++marked;
    EXPECT_EQ(fault->text, "goroutine-status-conflict");
    EXPECT_EQ(event->Find("time")->text, "105");
  }
  EXPECT_EQ(marked, 1);
}

TEST(Salvage, EventsReportsBytesThatWereLeftOut) {
  const std::string path = Garbage();
  const SubprocessResult result = RunDump({"--salvage", path});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, RunDump({"--salvage", Contradiction()}).out);
  EXPECT_TRUE(absl::StrContains(result.err, "[batch-type]\n")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, ": left out 20 bytes outside any batch; "))
      << result.err;
}

// One time that is far too late must not hide what follows it.
TEST(Salvage, EventsContinuesAfterTheLastTimeAskedFor) {
  const std::string path = WriteFile("late", *AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1000000000 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=1000000000 size=auto
ProcStatus dt=1 p=0 pstatus=1
HeapGoal dt=70000000000 heapgoal_value=1
EventBatch gen=2 m=0 time=2000000000 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=1 time=2000000000 size=auto
ProcStatus dt=1 p=0 pstatus=1
HeapAlloc dt=1 heapalloc_value=5
)"));
  const SubprocessResult result = RunDump({"--salvage", "--to=5s", "--kind=Metric", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "M=1 P=0 G=-1 Metric Time=2000000002 Name=\"/memory/classes/heap/objects:bytes\" "
            "Value=Value{Uint64(5)}\n");
}

// The JSON object that a run of the command `args[0]` prints, which its schema must allow.
JsonValue Object(const std::vector<std::string>& args, int exit_code) {
  const SubprocessResult result = RunDump(args);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  const absl::StatusOr<JsonValue> object = ParseJson(result.out);
  EXPECT_TRUE(object.ok()) << result.out;
  const JsonValue schema = ReadSchema(absl::StrCat("docs/", args[0], ".schema.json"));
  EXPECT_EQ(CheckAgainstSchema(schema, object.value_or(JsonValue())), "") << result.out;
  return object.value_or(JsonValue());
}

std::string Text(const JsonValue& object, absl::string_view name) {
  const JsonValue* const member = object.Find(name);
  return member == nullptr ? "none" : member->text;
}

std::string Loss(const JsonValue& object, absl::string_view name) {
  const JsonValue* const losses = object.Find("losses");
  return losses == nullptr ? "no losses" : Text(*losses, name);
}

TEST(Salvage, InfoSaysWhatItLacks) {
  const std::string path = Garbage();
  const JsonValue strict = Object({"info", "--json", path}, 1);
  EXPECT_EQ(Text(strict, "complete"), "false");
  EXPECT_TRUE(absl::EndsWith(Text(strict, "error"), "[event-string-id]")) << Text(strict, "error");
  EXPECT_EQ(strict.Find("losses"), nullptr);

  const JsonValue salvaged = Object({"info", "--json", "--salvage", path}, 1);
  EXPECT_EQ(Text(salvaged, "complete"), "false");
  EXPECT_EQ(salvaged.Find("error"), nullptr);
  // The bytes, and that the last generation lacks table entries, at the first of them. The
  // contradiction is taken for an echo of the lost bytes.
  EXPECT_EQ(Loss(salvaged, "faults"), "2");
  EXPECT_EQ(Loss(salvaged, "skipped_bytes"), "20");
  EXPECT_EQ(Loss(salvaged, "dropped_batches"), "0");
  EXPECT_EQ(Loss(salvaged, "dropped_bytes"), "0");
  EXPECT_EQ(Loss(salvaged, "dropped_events"), "0");
  EXPECT_EQ(Loss(salvaged, "marked_events"), "1");
  EXPECT_EQ(Loss(salvaged, "unresolved"), "2");
  EXPECT_EQ(Text(salvaged, "events"), "7");

  const SubprocessResult text = RunDump({"info", "--salvage", path});
  EXPECT_TRUE(absl::StrContains(text.out, "\nevents       7\n")) << text.out;
  EXPECT_TRUE(absl::StrContains(text.err, ": left out 20 bytes outside any batch; ")) << text.err;
}

// Generation 2 is missing, and everything else can be read.
TEST(Salvage, InfoOfATraceWithAGapIsNotComplete) {
  std::string text = "Trace Go1.26\n";
  for (const int gen : {1, 3}) {
    const std::string time = absl::StrCat(" time=", gen, "000 size=auto\n");
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0", time,
                    "Sync\nFrequency freq=1000000000\nClockSnapshot dt=0 mono=5 sec=6 nsec=7\n",
                    "EventBatch gen=", gen, " m=1", time,
                    "ProcStatus dt=1 p=0 pstatus=2\nEndOfGeneration\n");
  }
  const std::string path = WriteFile("gap", *AssembleText(text));
  EXPECT_EQ(Text(Object({"info", "--json", path}, 0), "complete"), "true");
  const JsonValue salvaged = Object({"info", "--json", "--salvage", path}, 1);
  EXPECT_EQ(Text(salvaged, "complete"), "false");
  EXPECT_EQ(Loss(salvaged, "faults"), "1");
  EXPECT_EQ(Loss(salvaged, "skipped_bytes"), "0");
}

TEST(Salvage, FootprintSaysWhatItLacks) {
  const std::string path = Garbage();
  const JsonValue strict = Object({"footprint", "--json", path}, 1);
  EXPECT_EQ(Text(strict, "complete"), "false");
  EXPECT_TRUE(absl::StrContains(Text(strict, "error"), "[event-type]")) << Text(strict, "error");

  const JsonValue salvaged = Object({"footprint", "--json", "--salvage", path}, 1);
  EXPECT_EQ(Text(salvaged, "complete"), "false");
  EXPECT_EQ(salvaged.Find("error"), nullptr);
  EXPECT_EQ(Loss(salvaged, "faults"), "1");
  EXPECT_EQ(Loss(salvaged, "skipped_bytes"), "20");
  EXPECT_EQ(Summary(RunDump({"footprint", "--salvage", path}), 1),
            std::vector<std::string>{
                absl::StrCat("gotrace-dump: ", path, ": left out 20 bytes outside any batch")});
}

TEST(Salvage, FootprintReportsBatchesThatItCannotDecode) {
  std::string bytes = *AssembleText(kContradiction);
  // The type of the last event, which takes five bytes.
  bytes[bytes.size() - 5] = '\x7f';
  const JsonValue object =
      Object({"footprint", "--json", "--salvage", WriteFile("type", bytes)}, 1);
  EXPECT_EQ(Loss(object, "dropped_batches"), "1");
  EXPECT_EQ(Loss(object, "dropped_bytes"), "5");
}

void ExpectComplete(const std::vector<std::string>& args) {
  const JsonValue object = Object(args, 0);
  EXPECT_EQ(Text(object, "complete"), "true");
  EXPECT_EQ(object.Find("error"), nullptr);
  EXPECT_EQ(object.Find("losses"), nullptr);
}

TEST(Salvage, SoundTracesAreComplete) {
  std::vector<std::string> paths = {
      WriteFile("sound", *AssembleText("Trace Go1.22\n"
                                       "EventBatch gen=1 m=0 time=1 size=auto\n"
                                       "Frequency freq=1000000000\n"))};
  for (const TestTrace& trace : TestTraces()) paths.push_back(TestFilePath(trace.name + ".zst"));
  for (const std::string& path : paths) {
    for (const char* const command : {"info", "footprint"}) {
      ExpectComplete({command, path, "--json"});
      ExpectComplete({command, path, "--json", "--salvage"});
    }
  }
}

TEST(Salvage, InfoOfAHeaderAloneHasNoTimes) {
  const std::string path = WriteFile("header", MakeHeader(Version::kGo122));
  EXPECT_EQ(Text(Object({"info", path, "--json"}, 1), "begin"), "none");
  EXPECT_EQ(Text(Object({"info", path, "--json", "--salvage"}, 1), "begin"), "none");
}

TEST(Salvage, JsonHasALineForWhatCannotBeRead) {
  const std::string page = WriteFile("page", "no trace, but long enough for one");
  for (const char* const command : {"info", "footprint"}) {
    for (const char* const flag : {"--json", "--salvage"}) {
      EXPECT_EQ(Text(Object({command, "/no/such/file", "--json", flag}, 2), "error"),
                "opening /no/such/file: No such file or directory");
      EXPECT_TRUE(absl::EndsWith(Text(Object({command, page, "--json", flag}, 1), "error"),
                                 "[not-a-trace]"));
    }
  }
}

TEST(Salvage, ReportsABrokenHeader) {
  const std::string path = WriteFile("header", "no trace, but long enough for one");
  for (const char* const command : {"events", "info", "footprint"}) {
    const SubprocessResult result = RunDump({command, "--salvage", path});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(absl::EndsWith(result.err, "[not-a-trace]\n")) << result.err;
  }
  EXPECT_EQ(RunDump({"info", "--salvage", "/no/such/file"}).exit_code, 2);
}

}  // namespace gotrace_dump_salvage_test
}  // namespace gotrace::internal
