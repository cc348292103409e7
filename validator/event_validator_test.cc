#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"
#include "gotrace/event_builder.h"
#include "gotrace/validate.h"
#include "gotrace/validator.h"
#include "gtest/gtest.h"
#include "testing/finding_case.h"
#include "testing/synthetic_case.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace event_validator_test {

// Tests run in the root of their runfiles.
constexpr char kDirectory[] = "testdata/findings";

TEST(FindingCasesTest, HaveTheExpectedFindings) {
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

EventBuilder SyncNumber(uint64_t n) { return EventBuilder::MakeSync(n); }

EventBuilder Go(EventType type, GoId id, GoState from, GoState to, ThreadId thread = kM1) {
  return EventBuilder(type).Transition(id, from, to).Thread(thread);
}

EventBuilder Status(GoId id, GoState to, ThreadId thread = kM1) {
  return Go(EventType::kGoStatus, id, GoState::kUndetermined, to, thread);
}

// Returns the findings in the last of `events`, which are 10 bytes and 10 ns apart.
std::vector<Finding> FindingsOf(const std::vector<EventBuilder>& events) {
  return FindingsOfLast({CheckId::kEnd, {}, events});
}

TEST(ValidatorTest, LabelOfNoGoroutineIsFound) {
  const std::vector<Finding> findings =
      FindingsOf({SyncNumber(1), EventBuilder(EventType::kGoLabel)});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].check, CheckId::kLabelEmpty);
  EXPECT_EQ(findings[1].check, CheckId::kLabelOfNothing);
  EXPECT_EQ(findings[1].resource.kind, ResourceKind::kNone);
}

TEST(ValidatorTest, ReportsHistory) {
  const std::vector<Finding> findings =
      FindingsOf({SyncNumber(1), Status(kG1, GoState::kRunning),
                  Go(EventType::kGoStop, kG1, GoState::kRunning, GoState::kRunnable),
                  Go(EventType::kGoUnblock, kG1, GoState::kWaiting, GoState::kRunnable)});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(FormatFinding(findings[0]),
            "error: byte 40, thread 1, event GoUnblock: expected goroutine 1 to go on from "
            "Runnable -> Runnable, found Waiting -> Runnable [state-mismatch]\n"
            "    goroutine 1 before that:\n"
            "      byte 20: GoStatus, Undetermined -> Running\n"
            "      byte 30: GoStop, Running -> Runnable");
}

// Events that were not read from a trace have no offset.
TEST(ValidatorTest, NumbersEventsWithoutAnOffset) {
  std::vector<Finding> findings;
  Validator validator({}, [&](Finding finding) { findings.push_back(std::move(finding)); });
  validator.Check(SyncNumber(1).Time(1).Build());
  validator.Check(Status(kG1, GoState::kWaiting).Time(2).Build());
  validator.Check(
      Go(EventType::kGoStart, kG1, GoState::kRunnable, GoState::kRunning).Time(3).Build());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_FALSE(findings[0].place.offset.has_value());
  EXPECT_EQ(FormatFinding(findings[0]),
            "error: event 3, thread 1, event GoStart: expected goroutine 1 to go on from "
            "Waiting -> Running, found Runnable -> Running [state-mismatch]\n"
            "    goroutine 1 before that:\n"
            "      GoStatus, Undetermined -> Waiting");
}

TEST(ValidatorTest, HoldsNothingAgainstWhatFollowsALoss) {
  std::vector<Finding> findings;
  Validator validator({}, [&](Finding finding) { findings.push_back(std::move(finding)); });
  validator.Check(SyncNumber(1).Time(1).Build());
  validator.NoteLoss();
  validator.Check(
      Go(EventType::kGoUnblock, kG1, GoState::kWaiting, GoState::kRunnable).Time(2).Build());
  validator.Finish().IgnoreError();
  EXPECT_TRUE(findings.empty());
}

// A validator to which generations are announced, and its findings.
class GenerationChecker {
 public:
  void Begin(bool is_damaged = false) {
    validator_.BeginGeneration(++number_);
    if (is_damaged) validator_.NoteLoss();
    Check(SyncNumber(number_));
  }
  void Check(EventBuilder event) {
    time_ += 10;
    validator_.Check(event.Time(time_).Offset(static_cast<uint64_t>(time_)).Build());
  }
  void NoteLoss() { validator_.NoteLoss(); }
  void Finish() { validator_.Finish().IgnoreError(); }

  // Returns the names of the checks with findings since the last call.
  std::vector<std::string> Found() { return std::exchange(found_, {}); }

 private:
  std::vector<std::string> found_;
  // Generations of this version have no clock snapshots.
  Validator validator_{{Version::kGo122}, [this](const Finding& finding) {
                         found_.emplace_back(SpecOf(finding.check).name);
                       }};
  uint64_t number_ = 0;
  int64_t time_ = 0;
};

using Names = std::vector<std::string>;

constexpr GoId kG2{2};
constexpr GoId kG3{3};

EventBuilder Unblock(GoId id) {
  return Go(EventType::kGoUnblock, id, GoState::kWaiting, GoState::kRunnable);
}

TEST(ValidatorTest, TheGenerationAfterALossIsCheckedAgain) {
  GenerationChecker generations;
  generations.Begin();
  generations.Check(Status(kG1, GoState::kRunning));
  generations.Check(Status(kG2, GoState::kRunnable));
  generations.NoteLoss();
  generations.Check(Unblock(kG2));
  generations.Check(Status(kG3, GoState::kWaiting));
  EXPECT_EQ(generations.Found(), Names());

  generations.Begin();
  // Some of the statuses confirm what was known, others are as if they were new.
  generations.Check(Go(EventType::kGoStatus, kG2, GoState::kRunning, GoState::kRunning));
  generations.Check(Status(kG3, GoState::kWaiting));
  EXPECT_EQ(generations.Found(), Names());
  generations.Check(Unblock(kG2));
  EXPECT_EQ(generations.Found(), Names({"state-mismatch"}));
  generations.Check(Unblock(kG1));
  EXPECT_EQ(generations.Found(), Names({"state-unknown"}));

  generations.Begin();
  generations.Check(Go(EventType::kGoStatus, GoId{4}, GoState::kWaiting, GoState::kWaiting));
  generations.Check(Status(GoId{5}, GoState::kWaiting));
  EXPECT_EQ(generations.Found(), Names({"state-unknown", "state-appears"}));
}

TEST(ValidatorTest, ReportsNothingInAnIncompleteGeneration) {
  GenerationChecker generations;
  generations.Begin();
  generations.Check(Status(kG1, GoState::kRunning));
  generations.Begin(/*is_damaged=*/true);
  generations.Check(Unblock(kG1));
  generations.Check(Status(kG2, GoState::kWaiting));
  EXPECT_EQ(generations.Found(), Names());
  generations.Begin();
  generations.Check(Status(kG2, GoState::kWaiting));
  generations.Check(Unblock(kG1));
  EXPECT_EQ(generations.Found(), Names({"state-unknown"}));
}

TEST(ValidatorTest, AnUnknownStateIsReportedOnce) {
  GenerationChecker generations;
  generations.Begin();
  generations.Check(Status(kG1, GoState::kUndetermined));
  EXPECT_EQ(generations.Found(), Names({"state-undetermined"}));
  generations.Begin();
  generations.Check(Status(kG1, GoState::kWaiting));
  EXPECT_EQ(generations.Found(), Names());
}

TEST(ValidatorTest, AWrongTimeIsReportedOnceAndNotAfterALoss) {
  std::vector<CheckId> found;
  Validator validator({}, [&](const Finding& finding) { found.push_back(finding.check); });
  validator.Check(SyncNumber(1).Time(1000).Build());
  validator.Check(SyncNumber(2).Time(10).Build());
  validator.Check(SyncNumber(3).Time(20).Build());
  EXPECT_EQ(found, std::vector<CheckId>({CheckId::kEventTime}));
  validator.NoteLoss();
  validator.BeginGeneration(1);
  validator.Check(SyncNumber(4).Time(5).Build());
  EXPECT_EQ(found.size(), 1u);
}

TEST(ValidatorTest, LaterTimesAreNotComparedWithAWrongOne) {
  std::vector<Finding> found;
  Validator validator({}, [&](Finding finding) { found.push_back(std::move(finding)); });
  validator.Check(SyncNumber(1).Time(10).Build());
  for (const int64_t time : {100, 50, 60, 110}) {
    validator.Check(EventBuilder(EventType::kHeapAlloc).Time(time).Build());
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message, "expected a time later than 100 ns, found 50 ns");
  EXPECT_EQ(found[1].message, "expected a time later than 100 ns, found 60 ns");
}

// An event of a task without a parent whose type is "".
EventBuilder OfTask(EventType type, uint64_t task) { return EventBuilder(type).Task(TaskId{task}); }

EventBuilder RegionOf(EventType type, GoId goroutine) {
  return EventBuilder(type).Goroutine(goroutine);
}

TEST(ValidatorTest, SearchesAtMostAHundredRegions) {
  for (const int inner : {99, 100}) {
    GenerationChecker generations;
    generations.Begin();
    generations.Check(Status(kG1, GoState::kRunning));
    generations.Check(RegionOf(EventType::kUserRegionBegin, kG1).Arg(0, 1));
    for (int i = 0; i < inner; ++i) {
      generations.Check(RegionOf(EventType::kUserRegionBegin, kG1).Arg(0, 2));
    }
    generations.Found();
    generations.Check(RegionOf(EventType::kUserRegionEnd, kG1).Arg(0, 1));
    const std::string task = "task-unknown";
    EXPECT_EQ(generations.Found(),
              inner == 99 ? Names({task}) : Names({task, "region-end-unknown"}));
  }
}

TEST(ValidatorTest, AcceptsEndsOfSpansThatMayHaveBegunBeforeALoss) {
  GenerationChecker generations;
  generations.Begin();
  generations.Check(Status(kG1, GoState::kRunning));
  generations.Check(OfTask(EventType::kUserTaskBegin, 1));
  generations.Check(RegionOf(EventType::kUserRegionBegin, kG1));
  generations.NoteLoss();
  // The end of the task may be missing.
  generations.Check(OfTask(EventType::kUserTaskBegin, 2));

  generations.Begin();
  generations.Check(Status(kG1, GoState::kRunning));
  generations.Check(OfTask(EventType::kUserTaskEnd, 1));
  generations.Check(OfTask(EventType::kUserLog, 2));
  generations.Check(RegionOf(EventType::kUserRegionEnd, kG1));
  generations.Check(RegionOf(EventType::kSTWEnd, kG1));
  EXPECT_EQ(generations.Found(), Names());

  // The generation stated which assists are active, and what began since the loss is known.
  generations.Check(RegionOf(EventType::kGCMarkAssistEnd, kG1).Thread(kM1));
  EXPECT_EQ(generations.Found(), Names({"range-unopened"}));
  generations.Check(Go(EventType::kGoCreate, kG2, GoState::kNotExist, GoState::kRunnable));
  generations.Check(RegionOf(EventType::kUserRegionEnd, kG2));
  EXPECT_EQ(generations.Found(), Names({"region-end-unknown"}));
  generations.Check(OfTask(EventType::kUserTaskBegin, 3));
  generations.Check(OfTask(EventType::kUserTaskEnd, 3));
  generations.Check(OfTask(EventType::kUserTaskEnd, 3));
  EXPECT_EQ(generations.Found(), Names({"task-ended-twice"}));
  generations.Finish();
  EXPECT_EQ(generations.Found(), Names());
}

TEST(ValidatorTest, ReportsWhatElseTheThreadOfALeavingGoroutineExecutes) {
  const std::vector<EventBuilder> events = {
      SyncNumber(1), Status(kG1, GoState::kRunning), Status(kG2, GoState::kRunning),
      Go(EventType::kGoStop, kG1, GoState::kRunning, GoState::kRunnable),
      Go(EventType::kGoStop, kG2, GoState::kRunning, GoState::kRunnable)};
  const auto message_of_last = [&](size_t count) {
    const std::vector<Finding> findings =
        FindingsOf(std::vector<EventBuilder>(events.begin(), events.begin() + count));
    return findings.size() == 1 ? findings[0].message : "";
  };
  EXPECT_EQ(message_of_last(3),
            "expected thread 1 to be free for goroutine 2, found it with goroutine 1");
  EXPECT_EQ(message_of_last(4),
            "expected thread 1 to execute goroutine 1 until it stops, found goroutine 2");
  EXPECT_EQ(message_of_last(5),
            "expected thread 1 to execute goroutine 2 until it stops, found nothing");
}

TEST(ValidatorTest, SpansOfAnUnknownGoroutineStayOpenWhenItIsKnown) {
  GenerationChecker generations;
  generations.Begin();
  generations.Check(RegionOf(EventType::kGCMarkAssistBegin, kG1).Thread(kM1));
  generations.Check(RegionOf(EventType::kGCMarkAssistBegin, kG2).Thread(kM1));
  EXPECT_EQ(generations.Found(), Names());
  generations.Check(Status(kG1, GoState::kRunning));
  generations.Check(RegionOf(EventType::kGCMarkAssistEnd, kG1).Thread(kM1));
  generations.Check(Go(EventType::kGoDestroy, kG1, GoState::kRunning, GoState::kNotExist));
  EXPECT_EQ(generations.Found(), Names());
  generations.Check(Status(kG2, GoState::kRunning));
  generations.Check(Go(EventType::kGoDestroy, kG2, GoState::kRunning, GoState::kNotExist));
  EXPECT_EQ(generations.Found(), Names({"range-at-end"}));
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

TEST(ReportTest, CountsErrorsBeyondTheMaximumPerCheck) {
  const std::string bytes = *AssembleText(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=1 size=auto\nProcStatus dt=1 p=0 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\nSTWEnd dt=1\nSTWEnd dt=1\nSTWEnd dt=1\n");
  ValidateOptions options;
  for (const uint64_t kept : {0, 1, 2, 3}) {
    options.max_per_check = kept;
    const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
    EXPECT_EQ(report.findings.size(), kept);
    EXPECT_EQ(report.errors, 3u);
    EXPECT_EQ(report.counts[static_cast<int>(CheckId::kFaultRangeNotBegun)], 3u);
  }
}

// In every generation that states an implausible frequency, and in every version.
TEST(ReportTest, WarnsOfImplausibleFrequencies) {
  const auto warnings = [](int version, const std::string& frequency) {
    std::string text = absl::StrCat("Trace Go1.", version, "\n");
    for (int gen = 1; gen <= 2; ++gen) {
      absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=1 size=auto\n",
                      version >= 25 ? "Sync\n" : "", "Frequency freq=", frequency, "\n",
                      version >= 25 ? "ClockSnapshot dt=0 mono=5 sec=100 nsec=7\n" : "",
                      "EventBatch gen=", gen, " m=1 time=100 size=auto\n",
                      "ProcStatus dt=1 p=0 pstatus=1\n", version >= 26 ? "EndOfGeneration\n" : "");
    }
    const ValidationReport report =
        ValidateTrace(*SourceFromBytes(*AssembleText(text)), ValidateOptions());
    return report.counts[static_cast<int>(CheckId::kFrequencyImplausible)];
  };
  for (const int version : {22, 23, 25, 26}) {
    for (const char* const frequency : {"0", "1", "999", "100000000001", "18446744073709551615"}) {
      EXPECT_EQ(warnings(version, frequency), 2u) << version << " " << frequency;
    }
    for (const char* const frequency : {"1000", "390625", "15625000", "100000000000"}) {
      EXPECT_EQ(warnings(version, frequency), 0u) << version << " " << frequency;
    }
  }
}

// Go's zero time is that of another number of seconds than 0.
TEST(ReportTest, TheWallClockIsZeroInYearOne) {
  const auto errors = [](absl::string_view seconds, int nanoseconds) {
    const std::string text = absl::StrCat(
        "Trace Go1.26\nEventBatch gen=1 m=0 time=1000 size=auto\nSync\nFrequency freq=1000000000\n",
        "ClockSnapshot dt=0 mono=5 sec=", seconds, " nsec=", nanoseconds,
        "\nEventBatch gen=1 m=1 time=1000 size=auto\nProcStatus dt=1 p=0 "
        "pstatus=1\nEndOfGeneration\n");
    const ValidationReport report =
        ValidateTrace(*SourceFromBytes(*AssembleText(text)), ValidateOptions());
    EXPECT_EQ(report.errors, report.counts[static_cast<int>(CheckId::kClockSnapshotZero)]);
    return report.errors;
  };
  EXPECT_EQ(errors("0", 0), 0u);
  EXPECT_EQ(errors("18446744011573954816", 0), 1u);
  EXPECT_EQ(errors("18446744011573954816", 1), 0u);
}

TEST(ReportTest, AMissingFileHasNoVerdict) {
  const ValidationReport report = ValidateFile("no/such/file", ValidateOptions());
  EXPECT_EQ(report.verdict(), Verdict::kUnjudged);
  EXPECT_EQ(FormatVerdict(report), "cannot be read");
}

}  // namespace event_validator_test
}  // namespace gotrace::internal
