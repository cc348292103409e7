// Rewrites the outcome of every case in testdata/findings to the current result of validating it:
//
//   bazel run //testing:rebase_findings
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "testing/finding_case.h"

namespace gotrace::internal {
namespace {

bool Rebase(const std::string& path) {
  absl::StatusOr<FindingCase> loaded = LoadFindingCase(path);
  if (!loaded.ok()) {
    std::cerr << path << ": " << loaded.status().message() << "\n";
    return false;
  }
  loaded->golden.outcome = FormatReportOutcome(ValidateInput(loaded->input));
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << FormatGoldenCase(loaded->golden);
  file.close();
  return static_cast<bool>(file);
}

}  // namespace
}  // namespace gotrace::internal

int main() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "Run this by `bazel run //testing:rebase_findings`.\n";
    return 2;
  }
  bool ok = true;
  for (const std::string& path :
       gotrace::internal::ListGoldenCases(absl::StrCat(workspace, "/testdata/findings"))) {
    ok = gotrace::internal::Rebase(path) && ok;
  }
  return ok ? 0 : 1;
}
