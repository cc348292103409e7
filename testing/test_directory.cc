#include "testing/test_directory.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace gotrace::internal {

std::string MakeTestDirectory() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string name =
      absl::StrReplaceAll(absl::StrCat(test.test_suite_name(), ".", test.name()), {{"/", "-"}});
  std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  return path;
}

std::string WriteFile(absl::string_view name, absl::string_view content) {
  const bool is_absolute = absl::StartsWith(name, "/");
  std::string path = is_absolute ? std::string(name) : absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace gotrace::internal
