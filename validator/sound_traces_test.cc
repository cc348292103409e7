// Tests that the validator finds nothing wrong with traces that Go's runtime wrote.
#include <atomic>
#include <memory>
#include <string>

#include "gotrace/byte_source.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace sound_traces_test {

TEST(SoundTracesTest, HaveNoErrorsAndNoWarnings) {
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), ValidateOptions());
    EXPECT_EQ(FormatVerdict(report), "sound") << trace.name;
    EXPECT_EQ(report.events, trace.events) << trace.name;
    EXPECT_EQ(report.good_events, trace.events) << trace.name;
    EXPECT_EQ(report.bytes, trace.size) << trace.name;
    EXPECT_EQ(report.good_bytes, trace.size) << trace.name;
  }
}

TEST(SoundTracesTest, CanBeBytesOrAFile) {
  const std::string name = "go1.27-gc.trace.zst";
  const ValidationReport file = ValidateFile(TestFilePath(name));
  const ValidationReport bytes = ValidateBytes(ReadTestFile(name));
  EXPECT_EQ(bytes.verdict(), Verdict::kSound);
  EXPECT_EQ(bytes.events, file.events);
  EXPECT_EQ(bytes.bytes, file.bytes);
  EXPECT_EQ(bytes.counts, file.counts);
  EXPECT_EQ(ValidateBytes("").verdict(), Verdict::kBroken);
}

// A page that was downloaded in place of a trace is not a trace, however its bytes arrive, and the
// skipped bytes count as read.
TEST(SoundTracesTest, CountTheBytesOfInputThatIsNotATrace) {
  const std::string page = "<html>" + std::string(100'000, ' ');
  for (const std::string& input : {ReadTestTrace("go1.27-gc.trace"), page, std::string("tar")}) {
    uint64_t read = 0;
    ValidateOptions options;
    options.on_progress = [&](uint64_t bytes, uint64_t) { read = bytes; };
    const ValidationReport report = ValidateTrace(*SourceFromBytes(input), options);
    EXPECT_EQ(read, input.size());
    const ValidationReport streamed =
        ValidateTrace(*SourceFromStream(std::make_unique<MemoryStream>(input)), options);
    EXPECT_EQ(report.bytes, streamed.bytes);
    EXPECT_EQ(report.bytes == 0, report.events == 0);
  }
}

// A trace that is cut off anywhere is validated too.
TEST(SoundTracesTest, AreBrokenIfTheyAreCut) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 50) {
    const std::string cut = bytes.substr(0, size);
    const ValidationReport report = ValidateTrace(*SourceFromBytes(cut), ValidateOptions());
    EXPECT_TRUE(report.status.ok()) << size;
    EXPECT_LE(report.good_bytes, size);
    EXPECT_EQ(report.verdict(), Verdict::kBroken) << size;
  }
}

TEST(ValidateTraceTest, CanBeStopped) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  for (const size_t jobs : {1, 2}) {
    for (const int allowed : {0, 1, 20}) {
      std::atomic<int> calls = 0;
      ValidateOptions options;
      options.jobs = jobs;
      options.tuning.jobs_from_bytes = 0;
      options.keep_going = [&] { return calls++ < allowed; };
      const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
      EXPECT_EQ(report.status.code(), absl::StatusCode::kCancelled) << allowed;
      EXPECT_EQ(report.verdict(), Verdict::kUnjudged);
      EXPECT_LE(calls, allowed + 20);
    }
  }
}

}  // namespace sound_traces_test
}  // namespace gotrace::internal
