// Manual pages are whole, and what man expects. completion_test.* try the scripts for completion in
// the shells.
#include "tools/docs/cli_docs.h"

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/library_version.h"
#include "gtest/gtest.h"
#include "tools/cli/registry.h"
#include "tools/docs/man_page.h"

namespace gotrace::internal {
namespace cli_docs_test {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// By path.
std::map<std::string, std::string> MakeDocs() {
  const auto docs = CliDocs(ReadText("CHANGELOG.md"));
  EXPECT_TRUE(docs.ok()) << docs.status();
  std::map<std::string, std::string> by_path;
  for (const CliDoc& doc : *docs) by_path[doc.path] = doc.content;
  return by_path;
}

bool IsManPage(absl::string_view path) { return absl::EndsWith(path, ".1"); }

TEST(CliDocs, NeedTheReleaseInTheChangelog) {
  EXPECT_TRUE(CliDocs("# Changes\n\n## " GOTRACE_VERSION " - 2026-11-26\n").ok());
  EXPECT_FALSE(CliDocs("# Changes\n\n## 0.0.1 - 2026-11-26\n").ok());
  EXPECT_FALSE(CliDocs("").ok());
  // Only the latest release counts.
  EXPECT_FALSE(CliDocs("\n## 99.0.0 - 2030-01-01\n\n## " GOTRACE_VERSION " - 2026-11-26\n").ok());
}

TEST(CliDocs, ManPagesAreWhole) {
  const std::map<std::string, std::string> docs = MakeDocs();
  for (const auto& command : MakeCommands()) {
    const std::string& page =
        docs.at(absl::StrCat("man/gotrace-dump-", command->text().name, ".1"));
    for (const Flag& flag : command->Flags()) {
      EXPECT_TRUE(absl::StrContains(
          page, absl::StrCat("\n.TP\n\\fB", EscapeForMan(flag.Spelling(), true), "\\fP")))
          << command->text().name << " " << flag.Spelling();
    }
    EXPECT_TRUE(
        absl::StrContains(docs.at("man/gotrace-dump.1"),
                          absl::StrCat("gotrace\\-dump\\-", command->text().name, "\\fP(1)")));
  }
}

// What man reads otherwise than it is meant is escaped. `mandoc -Tlint` checks more.
TEST(CliDocs, ManPagesAreValid) {
  const std::set<absl::string_view> requests = {".SH", ".PP", ".TP", ".EX", ".EE", ".RS", ".RE"};
  for (const auto& [path, content] : MakeDocs()) {
    if (!IsManPage(path)) continue;
    const std::vector<std::string> lines = absl::StrSplit(content, '\n');
    ASSERT_GT(lines.size(), 2u);
    EXPECT_TRUE(absl::StartsWith(lines[1], ".TH GOTRACE\\-DUMP")) << path;
    EXPECT_TRUE(absl::EndsWith(lines[1], " \"gotrace " GOTRACE_VERSION "\" \"gotrace manual\""));
    std::vector<std::string> open;  // Blocks that were begun and must end.
    for (size_t i = 2; i < lines.size(); ++i) {
      const std::string& line = lines[i];
      SCOPED_TRACE(absl::StrCat(path, ":", i + 1, ": ", line));
      EXPECT_EQ(line.empty(), i + 1 == lines.size());
      for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~');
      EXPECT_FALSE(absl::StartsWith(line, "'"));
      EXPECT_FALSE(absl::EndsWith(line, " "));
      for (size_t at = line.find('\\'); at != line.npos; at = line.find('\\', at + 2)) {
        ASSERT_LT(at + 1, line.size());
        EXPECT_TRUE(absl::StrContains("-e(f&", line[at + 1]));
      }
      if (!absl::StartsWith(line, ".")) continue;
      const std::string request = line.substr(0, line.find(' '));
      EXPECT_TRUE(requests.contains(request));
      if (request == ".EX" || request == ".RS") {
        open.push_back(request);
      } else if (request == ".EE" || request == ".RE") {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), request == ".EE" ? ".EX" : ".RS");
        open.pop_back();
      }
    }
    EXPECT_TRUE(open.empty());
  }
}

TEST(ManPage, EscapesText) {
  EXPECT_EQ(EscapeForMan("a-b", false), "a-b");
  EXPECT_EQ(EscapeForMan("--a-b", true), "\\-\\-a\\-b");
  EXPECT_EQ(EscapeForMan("\\N", true), "\\eN");
  EXPECT_EQ(EscapeForMan("'`^~", false), "\\(aq\\(ga\\(ha\\(ti");
}

}  // namespace cli_docs_test
}  // namespace gotrace::internal
