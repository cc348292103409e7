// That a trace is judged in halves changes nothing.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "parser/reader/split_trace.h"
#include "testdata/test_data.h"
#include "testing/judged_cases.h"
#include "validator/validator.h"

namespace gotrace::internal {
namespace {

// A Validator and its findings, by the name of the check and the place of the event.
struct Half {
  std::vector<Finding> findings;
  Validator validator{{}, [this](Finding finding) { findings.push_back(std::move(finding)); }};

  void Read(Reader* reader) {
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      const bool begins = block.front().kind() == EventKind::kSync;
      if (begins && reader->generation().number != generation) {
        generation = reader->generation().number;
        validator.BeginGeneration(generation);
      }
      validator.CheckAll(block);
    }
  }

  uint64_t generation = 0;
};

std::vector<std::string> JudgeWhole(const std::string& bytes) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  Half whole;
  whole.Read(&*reader);
  whole.validator.Finish();
  std::vector<std::string> shown;
  for (const Finding& finding : whole.findings) shown.push_back(ShowFinding(finding));
  return shown;
}

// The same in halves, or nothing if they cannot be put together.
std::optional<std::vector<std::string>> JudgeHalves(const std::string& bytes,
                                                    const SplitTrace& split) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  split.Stop(&*reader);
  Half first;
  first.Read(&*reader);
  absl::StatusOr<Reader> second_reader = split.OpenSecond({});
  if (!second_reader.ok()) return std::nullopt;
  Half second;
  second.validator.Assume();
  second.Read(&*second_reader);
  const uint64_t events = first.validator.event_count();
  if (!SplitTrace::Continues(*second_reader, *reader) ||
      !first.validator.Append(second.validator)) {
    return std::nullopt;
  }
  for (Finding& finding : second.findings) {
    finding.event_number += events;
    first.findings.push_back(std::move(finding));
  }
  first.validator.Finish();
  std::vector<std::string> shown;
  for (const Finding& finding : first.findings) shown.push_back(ShowFinding(finding));
  return shown;
}

TEST(HalvesTest, AreJudgedLikeTheWhole) {
  int together = 0;
  int apart = 0;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const std::vector<std::string> whole = JudgeWhole(bytes);
    const std::vector<SplitTrace> splits = SplitTrace::FindAll(**SourceFromBytes(bytes));
    for (size_t i = 0; i < splits.size(); i += splits.size() / 8 + 1) {
      const auto halves = JudgeHalves(bytes, splits[i]);
      ++(halves.has_value() ? together : apart);
      if (halves.has_value()) {
        EXPECT_EQ(*halves, whole) << trace.name << " at " << splits[i].offset();
      }
    }
  }
  EXPECT_GT(together, 40);
  // Flight recorders leave out where tasks began, and some goroutines end inside of regions: what
  // is found of those in the second half rests on the first.
  EXPECT_LT(apart, together / 5);
}

std::string ReportOf(const std::string& bytes, size_t jobs) {
  ValidateOptions options;
  options.jobs = jobs;
  options.jobs_from_bytes = 0;
  options.max_per_check = 3;
  return ShowReport(ValidateTrace(*SourceFromBytes(bytes), options));
}

TEST(HalvesTest, ReportsDoNotDependOnCores) {
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    EXPECT_EQ(ReportOf(bytes, 1), ReportOf(bytes, 2)) << trace.name;
  }
}

TEST(HalvesTest, ReportsOfDamagedTracesDoNotDependOnCores) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  ASSERT_GT(SplitTrace::FindAll(**SourceFromBytes(bytes)).size(), 2u);
  ForEachDamaged(bytes, 40, [](const std::string& damaged) {
    EXPECT_EQ(ReportOf(damaged, 1), ReportOf(damaged, 2));
  });
}

TEST(HalvesTest, ReportsOfCasesDoNotDependOnCores) {
  int splits = 0;
  ForEachCase([&](const std::string& name, const std::string& bytes) {
    splits += SplitTrace::Find(**SourceFromBytes(bytes), 0).has_value();
    EXPECT_EQ(ReportOf(bytes, 1), ReportOf(bytes, 2)) << name;
  });
  EXPECT_GT(splits, 30);
}

}  // namespace
}  // namespace gotrace::internal
