#include "gotrace/split.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gotrace/reader.h"
#include "gotrace/text_exporter.h"
#include "gotrace/trim.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "testing/validated_cases.h"

namespace gotrace::internal {
namespace split_test {

using Open = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

std::vector<std::string> Split(absl::string_view bytes, const SplitOptions& options,
                               SplitTraceResult* result) {
  // The sinks keep pointers to the strings.
  std::vector<std::unique_ptr<std::string>> pieces;
  absl::StatusOr<SplitTraceResult> split =
      SplitTrace(*SourceFromBytes(bytes), options, {}, [&](uint64_t number) {
        EXPECT_EQ(number, pieces.size() + 1);
        pieces.push_back(std::make_unique<std::string>());
        return absl::StatusOr<std::unique_ptr<ByteSink>>(SinkToString(pieces.back().get()));
      });
  EXPECT_TRUE(split.ok()) << split.status();
  if (split.ok()) *result = *std::move(split);
  std::vector<std::string> contents;
  for (const std::unique_ptr<std::string>& piece : pieces) contents.push_back(std::move(*piece));
  return contents;
}

absl::StatusOr<JoinedTrace> Join(const std::vector<std::string>& pieces, std::string* bytes) {
  std::vector<Open> open;
  for (const std::string& piece : pieces) {
    open.emplace_back([&piece] { return SourceFromBytes(piece); });
  }
  const std::unique_ptr<ByteSink> out = SinkToString(bytes);
  absl::StatusOr<JoinedTrace> joined = JoinTraces(open, {}, out.get());
  EXPECT_TRUE(out->Finish().ok());
  return joined;
}

void ExpectSound(const std::string& bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
  EXPECT_EQ(report.verdict(), Verdict::kSound) << ShowReport(report);
}

// Returns the text of the events without those that state what is known.
std::vector<std::string> TextOf(absl::string_view bytes) {
  std::vector<std::string> text;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    const bool is_status = event.type() == EventType::kGoStatus ||
                                           event.type() == EventType::kGoStatusStack ||
                                           event.type() == EventType::kProcStatus;
                    if (is_status || event.kind() == EventKind::kSync ||
                        event.kind() == EventKind::kRangeActive) {
                      return;
                    }
                    text.push_back(FormatEvent(event));
                  })
                  .ok());
  return text;
}

// Expects the same events, of which it shows the first that differ.
void ExpectSameEvents(absl::string_view bytes, absl::string_view original) {
  const std::vector<std::string> a = TextOf(bytes);
  const std::vector<std::string> b = TextOf(original);
  if (a == b) return;
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  ADD_FAILURE() << "event " << differ.first - a.begin() + 1 << ": "
                << (differ.first == a.end() ? "the end" : *differ.first)
                << "expected: " << (differ.second == b.end() ? "the end" : *differ.second);
}

int64_t LengthOf(absl::string_view bytes) {
  std::vector<int64_t> times;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader->ForEach([&](const Event& event) { times.push_back(event.time()); }).ok());
  return times.back() - times.front();
}

class SplitOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, SplitOfRealTraces, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

TEST_P(SplitOfRealTraces, IsTheSameWhenJoinedAgain) {
  const std::string original = ReadTestTrace(GetParam().name);
  const SplitOptions all_options[] = {
      {.every = absl::Nanoseconds(LengthOf(original) / 7 + 1)},
      {.generations = 1},
      {.bytes = 10'000},
  };
  for (const SplitOptions& options : all_options) {
    SplitTraceResult result;
    std::vector<std::string> pieces = Split(original, options, &result);
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.pieces, pieces.size());
    EXPECT_EQ(result.written.events_added, 0U);
    EXPECT_EQ(result.written.events_left_out, 0U);
    for (const std::string& piece : pieces) ExpectSound(piece);
    std::reverse(pieces.begin(), pieces.end());
    std::string joined;
    const absl::StatusOr<JoinedTrace> join = Join(pieces, &joined);
    ASSERT_TRUE(join.ok()) << join.status();
    ExpectSound(joined);
    EXPECT_EQ(join->written.events_added, 0U);
    EXPECT_TRUE(join->gaps.empty());
    ExpectSameEvents(joined, original);
  }
}

// Cuts a window from one time to another since the beginning out of a trace, if there are any.
std::string Trim(const std::string& bytes, std::optional<int64_t> from, std::optional<int64_t> to) {
  WindowOptions window;
  if (from.has_value()) window.filter.since_start.from = *from;
  if (to.has_value()) window.filter.since_start.to = *to;
  std::string trimmed;
  const std::unique_ptr<ByteSink> out = SinkToString(&trimmed);
  EXPECT_TRUE(TrimTrace(*SourceFromBytes(bytes), window, {}, out.get()).ok());
  EXPECT_TRUE(out->Finish().ok());
  return trimmed;
}

TEST_P(SplitOfRealTraces, KeepsOnceWhatOverlaps) {
  const std::string original = ReadTestTrace(GetParam().name);
  const int64_t length = LengthOf(original);
  std::string joined;
  const absl::StatusOr<JoinedTrace> join =
      Join({Trim(original, {}, length / 10 * 6), Trim(original, length / 10 * 4, {})}, &joined);
  ASSERT_TRUE(join.ok()) << join.status();
  ExpectSound(joined);
  EXPECT_EQ(join->written.events_added, 0U);
  ExpectSameEvents(joined, original);
}

// Where a window of the first generation ends with states that it had not stated yet, the events
// of the next are some nanoseconds later.
TEST_P(SplitOfRealTraces, LosesNothingWhereverWindowsOverlap) {
  const auto without_times = [](absl::string_view bytes) {
    std::vector<std::string> text = TextOf(bytes);
    for (std::string& line : text) {
      const size_t time = line.find(" Time=") + 6;
      line.erase(time, line.find(' ', time) - time);
    }
    return text;
  };
  const std::string original = ReadTestTrace(GetParam().name);
  const std::vector<std::string> expected = without_times(original);
  for (int64_t i = 1; i < 20; ++i) {
    const int64_t first_end = LengthOf(original) / 20 * i;
    const int64_t second_begin = i % 2 == 0 ? first_end + 1 : first_end / 2 + 1;
    std::string joined;
    const absl::StatusOr<JoinedTrace> join =
        Join({Trim(original, {}, first_end), Trim(original, second_begin, {})}, &joined);
    ASSERT_TRUE(join.ok()) << join.status();
    ExpectSound(joined);
    EXPECT_EQ(join->written.events_added, 0U);
    EXPECT_TRUE(without_times(joined) == expected) << second_begin << " to " << first_end;
  }
}

// A piece that begins in a cycle of the garbage collector states it, which must not change the
// numbers of later cycles: the writer takes a number that is left out for a cycle that is missing.
TEST(Split, KeepsTheNumbersOfCycles) {
  const std::string original = ReadTestTrace("go1.27-gc.trace");
  SplitTraceResult result;
  const std::vector<std::string> pieces =
      Split(original, {.every = absl::Nanoseconds(LengthOf(original) / 100 + 1)}, &result);
  EXPECT_GT(pieces.size(), 50U);
  std::string joined;
  const absl::StatusOr<JoinedTrace> join = Join(pieces, &joined);
  ASSERT_TRUE(join.ok()) << join.status();
  EXPECT_EQ(join->written.events_added, 0U);
  ExpectSameEvents(joined, original);
}

TEST(Split, PutsAsManyGenerationsIntoAPieceAsWanted) {
  const std::string original = ReadTestTrace("go1.27-generations.trace");
  SplitTraceResult result;
  const size_t generations = Split(original, {.generations = 1}, &result).size();
  ASSERT_GE(generations, 3U);
  for (const uint64_t each : {2, 3}) {
    EXPECT_EQ(Split(original, {.generations = each}, &result).size(),
              (generations + each - 1) / each);
  }
}

TEST(Split, HasOnePieceWithoutALimit) {
  const std::string original = ReadTestTrace("go1.27-generations.trace");
  SplitTraceResult result;
  const std::vector<std::string> pieces = Split(original, {}, &result);
  ASSERT_EQ(pieces.size(), 1U);
  ExpectSameEvents(pieces[0], original);
}

TEST(Join, ReportsGaps) {
  SplitTraceResult result;
  std::vector<std::string> pieces =
      Split(ReadTestTrace("go1.27-annotations.trace"), {.every = absl::Milliseconds(200)}, &result);
  ASSERT_GE(pieces.size(), 2U);
  std::string joined;
  const absl::StatusOr<JoinedTrace> join = Join({pieces.front(), pieces.back()}, &joined);
  ASSERT_TRUE(join.ok()) << join.status();
  ExpectSound(joined);
  EXPECT_EQ(join->gaps.size(), pieces.size() > 2 ? 1U : 0U);
}

TEST(Join, RefusesTracesOfOtherProcesses) {
  std::string joined;
  const absl::Status versions =
      Join({ReadTestTrace("go1.27-gc.trace"), ReadTestTrace("go1.22-gc.trace")}, &joined).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(versions)) << versions;
  const absl::Status names =
      Join({ReadTestTrace("go1.27-gc.trace"), ReadTestTrace("go1.27-annotations.trace")}, &joined)
          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(names)) << names;
}

TEST(Join, NeedsAPiece) {
  std::string joined;
  EXPECT_TRUE(absl::IsInvalidArgument(Join({}, &joined).status()));
}

}  // namespace split_test
}  // namespace gotrace::internal
