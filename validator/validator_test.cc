#include "validator/validator.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/byte_source.h"
#include "parser/event_builder.h"
#include "parser/generation_tables.h"
#include "validator/check.h"
#include "validator/finding_case.h"
#include "validator/made_case.h"
#include "validator/report.h"

namespace gotrace {
namespace {

// Tests run in the root of their runfiles.
constexpr char kDirectory[] = "testdata/findings";

TEST(FindingCasesTest, FindAsExpected) {
  const std::vector<std::string> paths = ListGoldenCases(kDirectory);
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    const absl::StatusOr<FindingCase> loaded = LoadFindingCase(path);
    ASSERT_TRUE(loaded.ok()) << path << ": " << loaded.status();
    EXPECT_EQ(FormatReportOutcome(ValidateInput(loaded->input)), loaded->golden.outcome) << path;
  }
}

constexpr GoId kG1{1};
constexpr ThreadId kM1{1};

EventBuilder SyncNumber(uint64_t n) { return EventBuilder::MakeSync(n, nullptr); }

EventBuilder Go(EventType type, GoId id, GoState from, GoState to, ThreadId thread = kM1) {
  return EventBuilder(type).Transition(id, from, to).Thread(thread);
}

EventBuilder Status(GoId id, GoState to, ThreadId thread = kM1) {
  return Go(EventType::kGoStatus, id, GoState::kUndetermined, to, thread);
}

// The tables of no strings, for events that have some.
const GenerationTables& NoStrings() {
  static const auto* const tables = new GenerationTables();
  return *tables;
}

// What is found in the last of `events`, which stand 10 bytes and 10 ns apart.
std::vector<Finding> FindingsOf(const std::vector<EventBuilder>& events) {
  return FindingsOfLast({CheckId::kEnd, {}, events});
}

TEST(ValidatorTest, LabelOfNoGoroutineIsFound) {
  const std::vector<Finding> findings =
      FindingsOf({SyncNumber(1), EventBuilder(EventType::kGoLabel).Tables(&NoStrings())});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].check, CheckId::kLabelEmpty);
  EXPECT_EQ(findings[1].check, CheckId::kLabelOfNothing);
  EXPECT_EQ(findings[1].resource.kind, ResourceKind::kNone);
}

TEST(ValidatorTest, TellsHistory) {
  const std::vector<Finding> findings = FindingsOf(
      {SyncNumber(1), Status(kG1, GoState::kRunning),
       Go(EventType::kGoStop, kG1, GoState::kRunning, GoState::kRunnable).Tables(&NoStrings()),
       Go(EventType::kGoUnblock, kG1, GoState::kWaiting, GoState::kRunnable)});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(FormatFinding(findings[0]),
            "error: byte 40, thread 1, event GoUnblock: expected goroutine 1 to go on from "
            "Runnable -> Runnable, found Waiting -> Runnable [state-mismatch]\n"
            "    goroutine 1 before that:\n"
            "      byte 20: GoStatus, Undetermined -> Running\n"
            "      byte 30: GoStop, Running -> Runnable");
}

TEST(ValidatorTest, HoldsNothingAgainstWhatFollowsALoss) {
  std::vector<Finding> findings;
  Validator validator({}, [&](Finding finding) { findings.push_back(std::move(finding)); });
  validator.Check(SyncNumber(1).Time(1).Build());
  validator.Lose();
  validator.Check(
      Go(EventType::kGoUnblock, kG1, GoState::kWaiting, GoState::kRunnable).Time(2).Build());
  validator.Finish();
  EXPECT_TRUE(findings.empty());
}

TEST(ReportTest, FoldsAndCounts) {
  ValidateOptions options;
  options.max_per_check = 1;
  const absl::StatusOr<FindingCase> loaded =
      LoadFindingCase(absl::StrCat(kDirectory, "/folded.case"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ValidationReport report = ValidateTrace(*SourceFromBytes(loaded->input), options);
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.notes, 25u);
  options.strictness = Strictness::kGo;
  EXPECT_TRUE(ValidateTrace(*SourceFromBytes(loaded->input), options).findings.empty());
}

TEST(ReportTest, MissingFileIsNotJudged) {
  const ValidationReport report = ValidateFile("no/such/file", ValidateOptions());
  EXPECT_EQ(report.verdict(), Verdict::kUnjudged);
  EXPECT_EQ(FormatVerdict(report), "cannot be read");
}

}  // namespace
}  // namespace gotrace
