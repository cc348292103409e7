// Rewrites the outcome and the events of every case in testdata/cases to the current result of
// reading it:
//
//   bazel run //testing:rebase_goldens
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "testing/golden_case.h"

namespace gotrace::internal {
namespace {

// Rewrites the case at `path` if it changes, and returns whether it did.
absl::StatusOr<bool> Rebase(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<GoldenCase> golden = ParseGoldenCase(*text);
  if (!golden.ok()) return golden.status();
  const absl::StatusOr<std::string> input = GoldenInput(*golden);
  if (!input.ok()) return input.status();
  RebaseGoldenCase(*input, &*golden);
  const std::string rebased = FormatGoldenCase(*golden);
  if (rebased == *text) return false;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << rebased;
  file.close();
  if (!file) return absl::UnavailableError("cannot write the file");
  return true;
}

int RebaseAll(const std::string& directory) {
  int changed = 0;
  int failed = 0;
  const std::vector<std::string> paths = ListGoldenCases(directory);
  for (const std::string& path : paths) {
    const absl::StatusOr<bool> is_changed = Rebase(path);
    if (!is_changed.ok()) {
      std::cerr << path << ": " << is_changed.status().message() << "\n";
      ++failed;
    } else if (*is_changed) {
      std::cout << path << "\n";
      ++changed;
    }
  }
  std::cout << changed << " of " << paths.size() << " cases rewritten\n";
  return failed == 0 && !paths.empty() ? 0 : 1;
}

}  // namespace
}  // namespace gotrace::internal

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "Run this by `bazel run //testing:rebase_goldens`.\n";
    return 2;
  }
  return gotrace::internal::RebaseAll(absl::StrCat(workspace, "/testdata/cases"));
}
