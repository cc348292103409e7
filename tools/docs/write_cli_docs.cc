// Writes the manual pages to FOLDER/man, and the scripts for completion to FOLDER/completions:
//
//   write_cli_docs FOLDER
//
// Runs where CHANGELOG.md is, which has the day of the release.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tools/docs/cli_docs.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::cerr << "usage: write_cli_docs FOLDER\n";
    return 2;
  }
  // `bazel run` starts it elsewhere than it was typed.
  const char* const directory = std::getenv("BUILD_WORKING_DIRECTORY");
  const fs::path top = (directory == nullptr ? fs::path() : fs::path(directory)) / argv[1];
  std::ifstream changelog("CHANGELOG.md");
  const std::string text(std::istreambuf_iterator<char>(changelog), {});
  const auto docs = gotrace::internal::CliDocs(text);
  if (!docs.ok()) {
    std::cerr << docs.status().message() << "\n";
    return 1;
  }
  // Pages of commands that are gone do not stay.
  for (const char* const folder : {"man", "completions"}) {
    std::error_code failed;
    fs::remove_all(top / folder, failed);
    fs::create_directories(top / folder, failed);
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
