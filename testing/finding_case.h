// Hand-written traces with the findings that the validator must report: cases of
// testing/golden_case.h whose outcome is the report.
#ifndef GOTRACE_TESTING_FINDING_CASE_H_
#define GOTRACE_TESTING_FINDING_CASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/validate.h"
#include "testing/golden_case.h"

namespace gotrace::internal {

// A case with the bytes of its trace.
struct FindingCase {
  std::string text;  // The content of the file.
  GoldenCase golden;
  std::string input;
};
absl::StatusOr<FindingCase> LoadFindingCase(const std::string& path);

// Returns the report of validating `input`.
ValidationReport ValidateInput(absl::string_view input);

// Returns the report in the form of the outcome of a case.
std::string FormatReportOutcome(const ValidationReport& report);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_FINDING_CASE_H_
