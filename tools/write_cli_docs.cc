// Rewrites the manual pages in docs/man/ and the scripts in completions/:
//
//   bazel run //tools:write_cli_docs
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tools/cli_docs.h"

int main() {
  namespace fs = std::filesystem;
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "Run this with `bazel run //tools:write_cli_docs`.\n";
    return 2;
  }
  const fs::path top = workspace;
  std::ifstream changelog(top / "CHANGELOG.md");
  const std::string text(std::istreambuf_iterator<char>(changelog), {});
  const auto docs = gotrace::internal::CliDocs(text);
  if (!docs.ok()) {
    std::cerr << docs.status().message() << "\n";
    return 1;
  }
  // Removes pages of commands that no longer exist.
  for (const char* const folder : {"docs/man", "completions"}) {
    fs::remove_all(top / folder);
    fs::create_directories(top / folder);
  }
  for (const gotrace::internal::CliDoc& doc : *docs) {
    std::ofstream file(top / doc.path, std::ios::binary);
    file << doc.content;
    file.close();
    if (!file) {
      std::cerr << "cannot write " << top / doc.path << "\n";
      return 1;
    }
  }
  return 0;
}
