#include "export/text/go_text.h"

#include <cctype>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gotrace/internal/limits.h"
#include "gotrace/reader.h"
#include "gotrace/text_exporter.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace go_text_test {

// The text of all events of the trace `bytes`, and their number.
struct Text {
  std::string text;
  uint64_t events = 0;
};

Text Format(absl::string_view bytes, absl::TimeZone zone = absl::UTCTimeZone()) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  GoTextFormatter formatter(zone);
  TextBuffer out;
  while (const Event* event = reader->Next()) formatter.Append(*event, &out);
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return {std::string(out.view()), reader->event_count()};
}

class GoTextTraceTest : public testing::TestWithParam<TestTrace> {};

TEST_P(GoTextTraceTest, IsThatOfGo) {
  const TestTrace& trace = GetParam();
  const Text text = Format(ReadTestTrace(trace.name));
  EXPECT_EQ(text.events, trace.events);
  EXPECT_EQ(Sha256Hex(text.text), trace.parsed_sha256);
}

INSTANTIATE_TEST_SUITE_P(Traces, GoTextTraceTest, testing::ValuesIn(TestTraces()),
                         [](const testing::TestParamInfo<TestTrace>& info) {
                           std::string name;
                           for (const char c : info.param.name) name += isalnum(c) ? c : '_';
                           return name;
                         });

TEST(GoTextTest, GoldensAreThoseOfGo) {
  for (const absl::string_view name : {"go1.22-oddstrings", "go1.25-flight", "go1.27-coroutines"}) {
    EXPECT_EQ(Format(ReadTestTrace(absl::StrCat(name, ".trace"))).text,
              ReadTestFile(absl::StrCat("golden/", name, ".parsed.txt")));
  }
}

TEST(GoTextTest, EventsFormattedOneByOneAreThoseOfGo) {
  const std::string bytes = ReadTestTrace("go1.27-coroutines.trace");
  std::string text;
  const absl::Status status = Reader::FromBytes(bytes)->ForEach(
      [&](const Event& event) { absl::StrAppend(&text, FormatEvent(event, absl::UTCTimeZone())); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(text, ReadTestFile("golden/go1.27-coroutines.parsed.txt"));
}

// The wall clock's time in the text of the first event.
std::string WallTime(absl::TimeZone zone) {
  const std::string text = Format(ReadTestTrace("go1.27-coroutines.trace"), zone).text;
  const size_t begin = text.find(" Wall=") + 6;
  return text.substr(begin, text.find('\n') - begin);
}

TEST(GoTextTest, WallTimesAreOfTheZone) {
  const std::string utc = WallTime(absl::UTCTimeZone());
  EXPECT_EQ(utc.back(), 'Z');
  absl::Time time;
  std::string error;
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, utc, &time, &error)) << error;
  for (const int seconds : {3600, -5 * 3600 - 1800, 14 * 3600}) {
    const std::string local = WallTime(absl::FixedTimeZone(seconds));
    const std::string offset = absl::FormatTime("%Ez", time, absl::FixedTimeZone(seconds));
    EXPECT_EQ(local.substr(local.size() - 6), offset);
    absl::Time same;
    ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, local, &same, &error)) << error;
    EXPECT_EQ(same, time);
  }
}

// As in Go.
TEST(GoTextTest, YearsHaveFourDigits) {
  // The trace has seconds before 1970 as large unsigned numbers.
  const absl::Time time = absl::FromCivil(absl::CivilSecond(33, 4, 3, 15), absl::UTCTimeZone());
  const std::string seconds = absl::StrCat(static_cast<uint64_t>(absl::ToUnixSeconds(time)));
  const std::string bytes = *AssembleText(absl::StrCat(
      "Trace Go1.26\nEventBatch gen=1 m=18446744073709551615 time=1 size=auto\n"
      "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=",
      seconds,
      " nsec=4\n"
      "EventBatch gen=1 m=1 time=1 size=auto\nProcStatus dt=1 p=1 pstatus=1\nEndOfGeneration\n"));
  const std::string text = Format(bytes).text;
  EXPECT_NE(text.find(" Wall=0033-04-03T15:00:00.000000004Z"), std::string::npos) << text;
}

// A formatter may be used with one reader after another: it forgets the stacks of the previous one.
TEST(GoTextTest, TracesDoNotMix) {
  const std::string first = ReadTestTrace("go1.22-oddstrings.trace");
  const std::string second = ReadTestTrace("go1.27-coroutines.trace");
  GoTextFormatter formatter(absl::UTCTimeZone());
  TextBuffer out;
  for (const std::string* bytes : {&first, &second, &first}) {
    Reader reader = *Reader::FromBytes(*bytes);
    while (const Event* event = reader.Next()) formatter.Append(*event, &out);
  }
  EXPECT_EQ(std::string(out.view()), Format(first).text + Format(second).text + Format(first).text);
}

// Returns a trace of `stacks` samples, two of each stack. Each stack has the maximum number of
// frames and the longest names.
std::string TraceOfDeepStacks(int stacks) {
  std::string text = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1000 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1000 size=auto
Strings
)";
  const std::string name(1000, 'n');
  absl::StrAppend(&text, "String id=1\n\tdata=\"", name, "\"\n");
  absl::StrAppend(&text, "EventBatch gen=1 m=0 time=1000 size=auto\nStacks\n");
  for (int id = 1; id <= stacks; ++id) {
    absl::StrAppend(&text, "Stack id=", id, " nframes=", kMaxFramesPerStack, "\n");
    for (uint64_t frame = 0; frame < kMaxFramesPerStack; ++frame) {
      const uint64_t pc = frame + (frame == 0 ? 1000 + id : 0);
      absl::StrAppend(&text, "\tpc=", pc, " func=1 file=1 line=", frame, "\n");
    }
  }
  absl::StrAppend(&text, "EventBatch gen=1 m=0 time=1000 size=auto\nCPUSamples\n");
  for (int i = 0; i < 2 * stacks; ++i) {
    absl::StrAppend(&text, "CPUSample time=", 2000 + i, " m=1 p=0 g=1 stack=", 1 + i % stacks,
                    "\n");
  }
  return *AssembleText(text);
}

TEST(GoTextTest, KeepsNoMoreThanTheLimitOfStacks) {
  const size_t stack_size = kMaxFramesPerStack * (2 * 1000 + 32);
  const int stacks = static_cast<int>(StackTexts::kMaxSize / stack_size) * 3 / 2;
  const std::string bytes = TraceOfDeepStacks(stacks);
  Reader reader = *Reader::FromBytes(bytes);
  GoTextFormatter formatter(absl::UTCTimeZone());
  TextBuffer out;
  int samples = 0;
  while (const Event* event = reader.Next()) {
    out.clear();
    formatter.Append(*event, &out);
    TextBuffer fresh;
    GoTextFormatter(absl::UTCTimeZone()).Append(*event, &fresh);
    ASSERT_EQ(std::string(out.view()), std::string(fresh.view()));
    if (event->kind() == EventKind::kStackSample) ++samples;
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  EXPECT_EQ(samples, 2 * stacks);
  EXPECT_GE(formatter.stack_texts_size(), StackTexts::kMaxSize);
  EXPECT_LE(formatter.stack_texts_size(), StackTexts::kMaxSize + stack_size);
}

}  // namespace go_text_test
}  // namespace gotrace::internal
