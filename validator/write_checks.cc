// Writes docs/checks.md anew:
//
//   bazel run //validator:write_checks
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "validator/check_docs.h"

int main() {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "Run this by `bazel run //validator:write_checks`.\n";
    return 2;
  }
  std::ofstream file(std::string(workspace) + "/docs/checks.md", std::ios::binary);
  file << gotrace::CheckDocs();
  file.close();
  return file ? 0 : 1;
}
