// Runs gotrace-dump on FXT files: `fxt` prints them, `validate` checks them, and the commands for
// traces say what they are.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_builder.h"
#include "gotrace/fxt_exporter.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_fxt_test {

// A file in which goroutine 7 runs, with a label.
std::string SmallFile() {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtExporter exporter(sink.get(), {});
  const BuiltTables tables;
  const auto add = [&](EventBuilder builder) {
    builder.Goroutine(GoId{7}).Thread(ThreadId{3}).Proc(ProcId{0});
    exporter.Add(absl::MakeConstSpan(&builder.Build(), 1));
  };
  add(EventBuilder::MakeSync(1, tables).Time(100));
  add(EventBuilder(EventType::kGoStatus, tables)
          .Time(110)
          .Transition(GoId{7}, GoState::kUndetermined, GoState::kRunning));
  add(EventBuilder(EventType::kGoLabel, tables).Time(120).Label("a \"label\""));
  EXPECT_TRUE(exporter.Finish().ok() && sink->Finish().ok());
  return bytes;
}

constexpr absl::string_view kText =
    "0 magic\n"
    "8 provider-info provider=1 name=\"gotrace\"\n"
    "24 provider-section provider=1\n"
    "32 initialization ticks-per-second=1000000000\n";

TEST(FxtCommandTest, PrintsRecords) {
  const std::string path = WriteFile("small.fxt", SmallFile());
  const std::string out = DumpOutput({"fxt", path});
  EXPECT_TRUE(absl::StartsWith(out, kText)) << out;
  for (const absl::string_view line :
       {" instant time=100 process=1 thread=4294836224 category=\"trace\" name=\"sync\" "
        "{\"number\": 1}\n",
        " instant time=120 process=1 thread=7 category=\"label\" name=\"a \\\"label\\\"\"\n",
        " kernel-object kind=2 koid=7 name=\"goroutine 7\" {\"process\": koid 1}\n",
        " context-switch time=100 cpu=4095 outgoing=0 incoming=7 state=running "
        "{\"outgoing_weight\": -2147483648}\n"}) {
    EXPECT_TRUE(absl::StrContains(out, line)) << line << out;
  }
  // From a pipe, in pieces.
  SubprocessOptions options;
  options.input = SmallFile();
  options.piece_size = 5;
  EXPECT_EQ(DumpOutput({"fxt", "-"}, options), out);
}

TEST(FxtCommandTest, PrintsWhatIsBeforeACut) {
  const std::string path = WriteFile("cut.fxt", SmallFile().substr(0, 54));
  ExpectFailure(
      RunDump({"fxt", path}), 1, std::string(kText),
      absl::StrCat("gotrace-dump: ", path,
                   ": byte 48: expected a header of 8 bytes, found the end of the file after 6 "
                   "[fxt-truncated]\n"));
}

TEST(FxtCommandTest, RefusesOtherFiles) {
  const std::string path = TestFilePath("go1.27-annotations.trace.zst");
  ExpectFailure(RunDump({"fxt", path}), 1, "",
                absl::StrCat("gotrace-dump: ", path, ": the file is not an FXT file\n",
                             "gotrace-dump: `gotrace-dump events` prints the events of a trace\n"));
}

TEST(FxtCommandTest, RefusesDirectories) {
  const std::string dir = MakeTestDirectory();
  ExpectFailure(RunDump({"fxt", dir}), 2, "",
                absl::StrCat("gotrace-dump: reading ", dir, ": Is a directory\n",
                             "gotrace-dump: give a file, not a directory\n"));
}

TEST(FxtCommandTest, HelpHasNoEmptyListOfFlags) {
  const std::string help = DumpOutput({"help", "fxt"});
  EXPECT_TRUE(absl::StartsWith(help, "Usage: gotrace-dump fxt FILE\n")) << help;
  EXPECT_FALSE(absl::StrContains(help, "Flags:")) << help;
}

TEST(FxtCommandTest, ConvertsWithAllFlags) {
  const std::string trace = TestFilePath("go1.27-alloc.trace.zst");
  const std::string path = WriteFile("all.fxt", "");
  DumpOutput({"convert", "--to=fxt", "--stacks", "--threads", "--alloc", "-o", path, trace});
  const std::string out = DumpOutput({"fxt", path});
  for (const absl::string_view part :
       {"category=\"alloc\" name=\"HeapObjectAlloc\"", "category=\"thread\"", "category=\"wait\"",
        "\"stack\": \"runtime.", "name=\"busy Ps\" id=0 {\"Ps\": "}) {
    EXPECT_TRUE(absl::StrContains(out, part)) << part;
  }
  EXPECT_EQ(DumpOutput({"validate", path}), absl::StrCat(path, ": sound\n"));
}

TEST(FxtCommandTest, ValidateWarnsOfAFileWithoutRecords) {
  const std::string path = WriteFile("magic.fxt", SmallFile().substr(0, 8));
  const std::string out = DumpOutput({"validate", path});
  EXPECT_TRUE(absl::StrContains(out, "[fxt-empty]\n")) << out;
  EXPECT_TRUE(absl::EndsWith(out, ": sound with 1 warning\n")) << out;
}

TEST(FxtCommandTest, ValidateChecksFxtFiles) {
  const std::string path = WriteFile("sound.fxt", SmallFile());
  EXPECT_EQ(DumpOutput({"validate", path}), absl::StrCat(path, ": sound\n"));
  SubprocessOptions options;
  options.input = SmallFile().substr(0, 60);
  ExpectFailure(RunDump({"validate", "-"}, options), 1,
                "standard input: error: byte 48: expected a record of 16 bytes, found the end of "
                "the file after 12 [fxt-truncated]\nstandard input: broken\n",
                "");
  const std::string json = RunDump({"validate", "--json", "-"}, options).out;
  EXPECT_TRUE(absl::StrContains(json, "\"id\":\"fxt-truncated\"")) << json;
}

TEST(FxtCommandTest, OtherCommandsSayWhatItIs) {
  const std::string path = WriteFile("other.fxt", SmallFile());
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"events"}, {"info"}, {"wire"}, {"repair"}, {"footprint"}, {"convert", "--to=chrome"}}) {
    const std::string command = args[0];
    std::vector<std::string> all = args;
    all.push_back(path);
    const SubprocessResult result = RunDump(all);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_TRUE(absl::StrContains(result.err,
                                  "expected a trace, found an FXT file, which "
                                  "`gotrace-dump fxt` prints and ui.perfetto.dev opens. "))
        << command << ": " << result.err;
  }
}

}  // namespace gotrace_dump_fxt_test
}  // namespace gotrace::internal
