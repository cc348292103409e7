// Traces that Go's runtime wrote are sound.
#include <string>

#include "gtest/gtest.h"
#include "parser/byte_source.h"
#include "testdata/test_data.h"
#include "validator/report.h"

namespace gotrace {
namespace {

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

// A trace that is cut anywhere is judged too.
TEST(SoundTracesTest, CutAreBroken) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 50) {
    const std::string cut = bytes.substr(0, size);
    const ValidationReport report = ValidateTrace(*SourceFromBytes(cut), ValidateOptions());
    EXPECT_TRUE(report.status.ok()) << size;
    EXPECT_LE(report.good_bytes, size);
    EXPECT_EQ(report.verdict(), Verdict::kBroken) << size;
  }
}

}  // namespace
}  // namespace gotrace
