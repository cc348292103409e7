// Tests that each check has either a case in testdata/findings or a case in synthetic_case.h.
#include "gotrace/check.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/check_docs.h"
#include "testing/finding_case.h"
#include "testing/synthetic_case.h"

namespace gotrace::internal {
namespace check_test {

// Tests run in the root of their runfiles.
constexpr char kDirectory[] = "testdata/findings";

// A P can be on no thread only after a status that the validator refuses too. Damage around a trace
// is reported in addition to what it causes.
constexpr std::pair<CheckId, CheckId> kNeverAlone[] = {
    {CheckId::kFaultProcThreadUnknown, CheckId::kThreadMissing},
    {CheckId::kFaultTransportCorrupt, CheckId::kTransportBase64},
};

std::string PathOf(CheckId id) { return absl::StrCat(kDirectory, "/", SpecOf(id).name, ".case"); }

bool HasCase(CheckId id) { return ReadTextFile(PathOf(id)).ok(); }

bool IsMade(CheckId id) {
  const std::vector<SyntheticCase> made = AllSyntheticCases();
  const std::vector<RawCase> raw = AllRawCases();
  const std::vector<LimitCase> limits = AllLimitCases();
  return std::any_of(made.begin(), made.end(), [id](const auto& c) { return c.check == id; }) ||
         std::any_of(raw.begin(), raw.end(),
                     [id](const auto& c) { return CheckOf(c.fault) == id; }) ||
         std::any_of(limits.begin(), limits.end(),
                     [id](const auto& c) { return CheckOf(c.fault) == id; });
}

bool MayComeWith(CheckId id, CheckId other) {
  return std::find(std::begin(kNeverAlone), std::end(kNeverAlone), std::pair(id, other)) !=
         std::end(kNeverAlone);
}

class CheckTest : public testing::TestWithParam<int> {
 protected:
  const CheckId id_ = static_cast<CheckId>(GetParam());
};

TEST_P(CheckTest, HasExactlyOneCase) {
  EXPECT_NE(HasCase(id_), IsMade(id_))
      << "expected " << PathOf(id_) << " or a row of synthetic_case.cc";
}

TEST_P(CheckTest, IsTheOnlyFindingOfItsCase) {
  if (!HasCase(id_)) return;
  const absl::StatusOr<FindingCase> loaded = LoadFindingCase(PathOf(id_));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  bool is_found = false;
  for (const Finding& finding : ValidateInput(loaded->input).findings) {
    is_found |= finding.check == id_;
    EXPECT_TRUE(finding.check == id_ || finding.severity == Severity::kNote ||
                MayComeWith(id_, finding.check))
        << FormatFinding(finding);
  }
  EXPECT_TRUE(is_found);
}

std::string TestName(const testing::TestParamInfo<int>& info) {
  std::string name(SpecOf(static_cast<CheckId>(info.param)).name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Checks, CheckTest, testing::Range(0, kCheckIdEnd), TestName);

TEST(SyntheticCasesTest, ShowOnlyTheirCheck) {
  for (const SyntheticCase& made : AllSyntheticCases()) {
    const std::vector<Finding> findings = FindingsOfLast(made);
    ASSERT_EQ(findings.size(), 1u) << SpecOf(made.check).name;
    EXPECT_EQ(findings[0].check, made.check) << FormatFinding(findings[0]);
    EXPECT_EQ(findings[0].place.offset, 10 * made.events.size()) << FormatFinding(findings[0]);
    EXPECT_EQ(findings[0].event_number, made.events.size()) << FormatFinding(findings[0]);
    EXPECT_EQ(FormatResource(findings[0].resource), FormatResource(made.resource));
  }
}

TEST(SyntheticCasesTest, RawBytesShowTheirFault) {
  for (const RawCase& raw : AllRawCases()) {
    const Fault fault = FaultOfRaw(raw);
    EXPECT_EQ(fault.id, raw.fault) << FormatFault(fault);
    EXPECT_EQ(fault.place.offset, raw.offset) << FormatFault(fault);
  }
}

TEST(SyntheticCasesTest, TracesExceedOnlyTheirLimit) {
  for (const LimitCase& limit : AllLimitCases()) {
    const Fault fault = FaultOfLimit(limit);
    EXPECT_EQ(fault.id, limit.fault) << FormatFault(fault);
    // With the default limits the trace is far from passing them.
    const ValidationReport report = ValidateInput(limit.bytes);
    EXPECT_EQ(report.counts[static_cast<int>(CheckOf(limit.fault))], 0u) << FaultName(limit.fault);
  }
}

TEST(CheckNamesTest, AreUnique) {
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckId id = static_cast<CheckId>(i);
    EXPECT_EQ(FindCheck(SpecOf(id).name), id) << SpecOf(id).name;
  }
  EXPECT_EQ(FindCheck("no-such-check"), std::nullopt);
}

TEST(RemediesTest, SayWhetherTheTraceIsRecoverable) {
  int recoverable = 0;
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckSpec& spec = SpecOf(static_cast<CheckId>(i));
    EXPECT_EQ(spec.is_recoverable,
              absl::StrContains(spec.remedy, "; repairing or salvaging recovers "))
        << spec.name;
    recoverable += spec.is_recoverable ? 1 : 0;
  }
  EXPECT_EQ(recoverable, 14);
}

TEST(CheckDocsTest, AreFresh) {
  const absl::StatusOr<std::string> text = ReadTextFile("docs/checks.md");
  ASSERT_TRUE(text.ok()) << text.status();
  const absl::StatusOr<std::string> docs = CheckDocs(kDirectory);
  ASSERT_TRUE(docs.ok()) << docs.status();
  EXPECT_EQ(*text, *docs) << "run `bazel run //testing:write_checks`";
}

}  // namespace check_test
}  // namespace gotrace::internal
