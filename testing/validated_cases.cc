#include "testing/validated_cases.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/finding_case.h"
#include "testing/golden_case.h"

namespace gotrace::internal {

std::string ShowFinding(const Finding& finding) {
  return absl::StrCat(FormatFinding(finding), " event ", finding.event_number);
}

std::string ShowReport(const ValidationReport& report) {
  std::string text = absl::StrCat(FormatReportOutcome(report), report.good_events, " ",
                                  report.lost_events, " ", report.bytes, " ", report.good_bytes);
  for (const uint64_t count : report.counts) absl::StrAppend(&text, " ", count);
  for (const Finding& finding : report.findings) absl::StrAppend(&text, "\n", ShowFinding(finding));
  return text;
}

void ForEachCase(
    const std::function<void(const std::string& name, const std::string& bytes)>& validate) {
  for (const char* directory : {"testdata/cases", "testdata/findings"}) {
    const std::vector<std::string> paths = ListGoldenCases(directory);
    ASSERT_FALSE(paths.empty());
    for (const std::string& path : paths) {
      const absl::StatusOr<GoldenCase> golden = ParseGoldenCase(*ReadTextFile(path));
      ASSERT_TRUE(golden.ok()) << path;
      validate(path, *GoldenInput(*golden));
    }
  }
}

void ForEachDamaged(const std::string& bytes, size_t count,
                    const std::function<void(const std::string& damaged)>& validate) {
  for (size_t i = 0; i < count; ++i) {
    std::string damaged = bytes;
    damaged[100 + i * (bytes.size() - 100) / count] ^= static_cast<char>(1 << i % 8);
    SCOPED_TRACE(i);
    validate(damaged);
  }
}

}  // namespace gotrace::internal
