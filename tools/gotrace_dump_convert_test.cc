// Runs `gotrace-dump convert` as its users do.
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_convert_test {

constexpr absl::string_view kTrace = "go1.27-generations.trace";

class ConvertCommand : public testing::Test {
 protected:
  ConvertCommand() : directory_(MakeTestDirectory()), target_(directory_ + "/converted") {
    bytes_ = ReadTestTrace(kTrace);
    trace_ = Write("sound.trace", bytes_);
  }

  std::string Write(absl::string_view name, absl::string_view bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  std::string ReadTarget() const { return ReadFile(target_); }

  // What the exporter writes at the end.
  static bool IsComplete(absl::string_view json) {
    return absl::StartsWith(json, "{\"displayTimeUnit\":") && absl::EndsWith(json, "}}\n");
  }

  const std::string directory_;
  const std::string target_;
  std::string bytes_;
  std::string trace_;
};

TEST_F(ConvertCommand, WritesTheSameToAFileAndToTheStandardOutput) {
  const std::string out = DumpOutput({"convert", "--to=chrome", trace_});
  EXPECT_TRUE(IsComplete(out));
  EXPECT_EQ(DumpOutput({"convert", "--to", "chrome", "-o", target_, trace_}), "");
  EXPECT_EQ(ReadTarget(), out);
  EXPECT_EQ(DumpOutput({"convert", "--to=Chrome", "-o", "-", "--jobs=1", "-"}, {.input = bytes_}),
            out);
}

TEST_F(ConvertCommand, DoesNotReplaceItsInput) {
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", trace_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, " is the input, which would be lost"));
  EXPECT_EQ(DumpOutput({"validate", trace_}).empty(), false);
}

TEST_F(ConvertCommand, KeepsWhatIsBeforeAFault) {
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  const SubprocessResult events = RunDump({"events", cut});
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", target_, cut});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, events.err);
  EXPECT_TRUE(IsComplete(ReadTarget()));
  EXPECT_TRUE(absl::StrContains(ReadTarget(), "\"G1 main.main\""));
  const size_t before_fault = ReadTarget().size();
  const SubprocessResult salvaged =
      RunDump({"convert", "--to=chrome", "-o", target_, "--salvage", cut});
  EXPECT_EQ(salvaged.exit_code, 1);
  EXPECT_EQ(salvaged.err, RunDump({"events", "--salvage", cut}).err);
  EXPECT_TRUE(IsComplete(ReadTarget()));
  EXPECT_GT(ReadTarget().size(), before_fault);
}

TEST_F(ConvertCommand, WritesNothingForWhatIsNoTrace) {
  const std::string text = Write("text", "This is a text, and not a trace at all.\n");
  for (const std::string& file : {text, directory_ + "/missing"}) {
    const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", target_, file});
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, RunDump({"events", file}).err);
    EXPECT_EQ(result.exit_code, file == text ? 1 : 2);
    EXPECT_FALSE(std::filesystem::exists(target_));
  }
}

TEST_F(ConvertCommand, SaysWhyItCannotWrite) {
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", "/dev/full", trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "gotrace-dump: writing /dev/full: No space left on device\n");
  const std::string large = TestFilePath("go1.27-gc.trace.zst");
  const SubprocessResult closed = RunDump({"convert", "--to=chrome", large}, {.read_at_most = 100});
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_EQ(closed.err, "");
}

// A compressed file can only be read from its beginning, a plain one from any generation.
TEST_F(ConvertCommand, WritesWhatIsInAWindow) {
  const std::string gc = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  const std::string whole = DumpOutput({"convert", "--to=chrome", gc});
  const std::string window =
      DumpOutput({"convert", "--to=chrome", "--from=200ms", "--until=210ms", gc});
  EXPECT_TRUE(IsComplete(window));
  EXPECT_LT(window.size(), whole.size() / 5);
  EXPECT_GT(window.size(), 1000u);
  // Times count from the start of the trace in both.
  EXPECT_FALSE(absl::StrContains(window, "\"ts\":100000"));
  EXPECT_TRUE(absl::StrContains(window, "\"ts\":20"));
}

TEST_F(ConvertCommand, ReadsTwiceWhatMustBeFoundFirst) {
  const std::string whole =
      DumpOutput({"convert", "--to=chrome", "--view=goroutine", "--g=1", trace_});
  const std::string related =
      DumpOutput({"convert", "--to=chrome", "--view=goroutine", "--g=1", "--related", trace_});
  EXPECT_TRUE(IsComplete(related));
  EXPECT_GT(related.size(), whole.size());
  const std::string task = DumpOutput({"convert", "--to=chrome", "--view=task", trace_});
  EXPECT_TRUE(IsComplete(task));
  EXPECT_TRUE(absl::StrContains(task, "\"T"));
  const SubprocessResult piped =
      RunDump({"convert", "--to=chrome", "--view=task", "-"}, {.input = bytes_});
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_EQ(piped.out, "");
  EXPECT_EQ(piped.err,
            "gotrace-dump: standard input: with these flags the trace is read twice, which works "
            "only with a file\n");
  // A fault is reported once.
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  for (const std::string mode : {"--salvage", "--nosalvage"}) {
    EXPECT_EQ(RunDump({"convert", "--to=chrome", "--view=task", mode, cut}).err,
              RunDump({"events", mode, cut}).err);
  }
}

TEST_F(ConvertCommand, ExplainsAnEmptyWindow) {
  for (const std::string window : {"--from=1h", "--until=@5"}) {
    const SubprocessResult result = RunDump({"convert", "--to=chrome", window, trace_});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(IsComplete(result.out));
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(window, " is "))) << result.err;
  }
  const SubprocessResult wall =
      RunDump({"convert", "--to=chrome", "--until=2001-01-01T00:00:00Z", trace_});
  EXPECT_EQ(wall.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(wall.err, "no event is between --from and --until")) << wall.err;
}

TEST_F(ConvertCommand, WritesTheFormsOfTrace2) {
  const std::string normal = DumpOutput({"convert", "--to=trace2-normal", "--brief", trace_});
  EXPECT_TRUE(absl::StartsWith(normal, "version unknown\nstart go-program\nchild_start["));
  const std::string perf = DumpOutput({"convert", "--to=trace2-perf", "--brief", trace_});
  EXPECT_TRUE(absl::StartsWith(perf, "d0 | main                     | version      |     | "));
  const std::string event = DumpOutput({"convert", "--to=trace2-event", trace_});
  EXPECT_TRUE(absl::StartsWith(event, "{\"event\":\"version\",\"sid\":\"20261121T042507.808796Z-"));
  EXPECT_TRUE(absl::StrContains(event, "\"event\":\"region_enter\""));
  const std::string shallow = DumpOutput({"convert", "--to=trace2-event", "--nesting=1", trace_});
  EXPECT_LT(shallow.size(), event.size());
  EXPECT_FALSE(absl::StrContains(shallow, "\"nesting\":2"));
}

TEST_F(ConvertCommand, SaysThatNothingHasWhatTheFiltersAskFor) {
  for (const absl::string_view filter : {"--g=99999", "--kind=Experimental"}) {
    const SubprocessResult result =
        RunDump({"convert", "--to=fxt", std::string(filter), "-o", target_, trace_});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(absl::StrContains(result.err, "no event has what --kind, --g, --p and --m ask for"))
        << result.err;
  }
  EXPECT_EQ(RunDump({"convert", "--to=fxt", "--g=1", "-o", target_, trace_}).err, "");
}

TEST_F(ConvertCommand, SelectsRegionsByTheKindOfTheirEndToo) {
  const std::string task = Write("task.trace", ReadTestTrace("go1.25-annotations.trace"));
  for (const absl::string_view format : {"perfetto", "fxt", "chrome", "trace2-perf"}) {
    const std::string to = absl::StrCat("--to=", format);
    EXPECT_EQ(DumpOutput({"convert", to, "--kind=RegionEnd,TaskEnd,RangeEnd", task}),
              DumpOutput({"convert", to, "--kind=RegionBegin,TaskBegin,RangeBegin", task}))
        << format;
  }
}

TEST_F(ConvertCommand, ExplainsThatToIsNotTheLastTime) {
  const SubprocessResult result = RunDump({"convert", "--to=1.5s", trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "found \"1.5s\"; the last time is --until"))
      << result.err;
}

TEST_F(ConvertCommand, NeedsTheWallClock) {
  const std::string old = Write("old.trace", ReadTestTrace("go1.22-annotations.trace"));
  const SubprocessResult result = RunDump({"convert", "--to=trace2-event", "-o", target_, old});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "the trace has no wall-clock times")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
  const std::string event =
      DumpOutput({"convert", "--to=trace2-event", "--epoch=2024-02-29T23:59:59.25+01:00", old});
  EXPECT_TRUE(absl::StrContains(event, "\"time\":\"2024-02-29T22:59:59.250000Z\""));
}

}  // namespace gotrace_dump_convert_test
}  // namespace gotrace::internal
