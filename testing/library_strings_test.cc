// Tests that no text of the library names a flag of gotrace-dump: a program that uses the library
// has other flags. tools/cli/hints.h has what the program adds.
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace library_strings_test {

// Calls `function(literal)` for each string literal in a line of C++.
template <class Function>
void ForEachLiteral(absl::string_view line, Function function) {
  size_t begin = line.npos;
  for (size_t i = 0; i < line.size(); ++i) {
    if (begin != line.npos && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"' && !absl::EndsWith(line.substr(0, i), "'")) {
      if (begin == line.npos) {
        begin = i + 1;
      } else {
        function(line.substr(begin, i - begin));
        begin = line.npos;
      }
    } else if (begin == line.npos && absl::StartsWith(line.substr(i), "//")) {
      return;
    }
  }
}

// Returns the flag that the text names, or "".
absl::string_view FlagIn(absl::string_view text) {
  for (size_t at = text.find("--"); at != text.npos; at = text.find("--", at + 1)) {
    const absl::string_view rest = text.substr(at);
    if (rest.size() > 2 && rest[2] >= 'a' && rest[2] <= 'z') return rest;
  }
  return "";
}

TEST(LibraryStringsTest, NameNoFlagsOfTheProgram) {
  int files = 0;
  int literals = 0;
  for (const char* const folder :
       {"analysis", "export", "include", "parser", "rewrite", "tracev2", "util", "validator"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string path = entry.path().string();
      const std::string extension = entry.path().extension().string();
      if (extension != ".cc" && extension != ".h" && extension != ".def") continue;
      if (absl::StrContains(path, "_test.")) continue;
      // The page of `gotrace-dump summary` names commands that say more.
      if (absl::StartsWith(path, "export/summary/")) continue;
      ++files;
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);) {
        ForEachLiteral(line, [&](absl::string_view literal) {
          ++literals;
          const absl::string_view flag = FlagIn(literal);
          const bool is_of_another_program =
              absl::StrContains(literal, "zstd ") || absl::StrContains(literal, "`curl`");
          // Only the program prints a report without notes.
          const bool is_of_program = path == "export/report/report_text.cc" &&
                                     absl::StartsWith(flag, "--notes prints them");
          EXPECT_TRUE(flag.empty() || is_of_another_program || is_of_program)
              << path << ": " << literal;
        });
      }
    }
  }
  EXPECT_GE(files, 300);
  EXPECT_GT(literals, 3000);
}

}  // namespace library_strings_test
}  // namespace gotrace::internal
