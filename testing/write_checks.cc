// Rewrites docs/checks.md:
//
//   bazel run //testing:write_checks
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "testing/check_docs.h"

int main() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "Run this by `bazel run //testing:write_checks`.\n";
    return 2;
  }
  const absl::StatusOr<std::string> docs =
      gotrace::internal::CheckDocs(std::string(workspace) + "/testdata/findings");
  if (!docs.ok()) {
    std::cerr << docs.status().message() << "\n";
    return 1;
  }
  std::ofstream file(std::string(workspace) + "/docs/checks.md", std::ios::binary);
  file << *docs;
  file.close();
  return file ? 0 : 1;
}
