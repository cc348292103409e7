// Runs a fuzz target with all inputs that were ever found for it: the files of its corpus, or those
// named on the command line. Needs no fuzzer, so any compiler can build it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace {

std::vector<std::string>& Files() {
  static std::vector<std::string>& files = *new std::vector<std::string>;
  return files;
}

std::vector<std::string> FilesBelow(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Corpus, PassesTheTarget) {
  const std::vector<std::string> files = Files().empty() ? FilesBelow(GOTRACE_CORPUS) : Files();
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    // If the target ends the program, the last line shows which file it was.
    std::fprintf(stderr, "%s\n", file.c_str());
    std::ifstream stream(file, std::ios::binary);
    ASSERT_TRUE(stream.is_open()) << file;
    RunTargetOnCopy(std::string(std::istreambuf_iterator<char>(stream), {}));
  }
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gotrace::internal::Files().assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
