// What users include: each public header compiles alone, which building this test shows, and
// includes nothing that a user does not have.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/library_version.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace {

TEST(PublicHeaders, IncludeOnlyEachOtherAbseilAndTheStandardLibrary) {
  int headers = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("include/gotrace")) {
    if (!entry.is_regular_file()) continue;
    ++headers;
    std::ifstream file(entry.path());
    for (std::string text; std::getline(file, text);) {
      absl::string_view line = text;
      if (!absl::ConsumePrefix(&line, "#include ")) continue;
      const bool is_allowed = absl::StartsWith(line, "\"gotrace/") ||
                              absl::StartsWith(line, "\"absl/") || absl::StartsWith(line, "<");
      EXPECT_TRUE(is_allowed) << entry.path() << ": " << text;
    }
  }
  EXPECT_GT(headers, 20);
}

// Adds the header and all that it includes to `*names`.
void AddIncluded(const std::string& name, std::set<std::string>* names) {
  if (!names->insert(name).second) return;
  std::ifstream file(absl::StrCat("include/", name));
  for (std::string text; std::getline(file, text);) {
    absl::string_view line = text;
    if (!absl::ConsumePrefix(&line, "#include \"") || !absl::StartsWith(line, "gotrace/")) continue;
    AddIncluded(std::string(line.substr(0, line.find('"'))), names);
  }
}

// A program needs one header for each thing that it does.
TEST(PublicHeaders, AreIncludedByThoseOfATask) {
  std::set<std::string> included;
  for (const absl::string_view task :
       {"read", "validate", "repair", "write", "analyze", "export", "sql", "trace_view"}) {
    AddIncluded(absl::StrCat("gotrace/", task, ".h"), &included);
  }
  std::set<std::string> others;
  for (const auto& entry : std::filesystem::directory_iterator("include/gotrace")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = absl::StrCat("gotrace/", entry.path().filename().string());
    if (!included.contains(name)) others.insert(name);
  }
  EXPECT_EQ(others, (std::set<std::string>{"gotrace/fxt_reader.h", "gotrace/library_version.h",
                                           "gotrace/trace2.h", "gotrace/trace2_event.h"}));
}

// Internal types may be members and friends, but users cannot name what a public function takes.
TEST(PublicHeaders, HaveNoInternalTypesInPublicDeclarations) {
  int lines = 0;
  for (const auto& entry : std::filesystem::directory_iterator("include/gotrace")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    bool is_public = false;
    for (std::string text; std::getline(file, text);) {
      const bool is_struct = absl::StartsWith(text, "struct ") && text.back() == '{';
      if (is_struct || text == " public:") is_public = true;
      if (text == " private:" || text == " protected:" || text == "};") is_public = false;
      // Members of a class; what is indented further belongs to a function's body.
      if (!absl::StartsWith(text, "  ") || absl::StartsWith(text, "   ") || !is_public) continue;
      ++lines;
      EXPECT_FALSE(absl::StrContains(text, "internal::")) << entry.path() << ": " << text;
    }
  }
  EXPECT_GT(lines, 1000);
}

// Users see `gotrace`; what they should not rely on is in `gotrace::internal`.
TEST(PublicHeaders, DeclareInternalNamesInTheInternalNamespace) {
  int namespaces = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("include/gotrace")) {
    if (entry.path().extension() != ".h") continue;
    const bool is_internal = entry.path().parent_path().filename() == "internal";
    std::ifstream file(entry.path());
    for (std::string text; std::getline(file, text);) {
      absl::string_view line = absl::StripLeadingAsciiWhitespace(text);
      absl::ConsumePrefix(&line, "inline ");
      if (!absl::StartsWith(line, "namespace")) continue;
      ++namespaces;
      const bool is_allowed = line == "namespace gotrace::internal {" ||
                              (!is_internal && line == "namespace gotrace {");
      EXPECT_TRUE(is_allowed) << entry.path() << ": " << text;
    }
  }
  EXPECT_GT(namespaces, 20);
}

// docs/library.md has a row for each: "| [gotrace/reader.h](../include/gotrace/reader.h) | ... |".
TEST(PublicHeaders, AreAllInTheListOfTheDocument) {
  std::set<std::string> rows;
  std::ifstream document("docs/library.md");
  for (std::string line; std::getline(document, line);) {
    if (!absl::StartsWith(line, "| [gotrace/")) continue;
    const std::string name = line.substr(3, line.find(']') - 3);
    const std::string begin = absl::StrCat("| [", name, "](../include/", name, ") | ");
    EXPECT_TRUE(absl::StartsWith(line, begin) && line.size() > begin.size() + 2) << line;
    EXPECT_TRUE(rows.insert(name).second) << line;
  }
  std::set<std::string> headers;
  for (const auto& entry : std::filesystem::directory_iterator("include/gotrace")) {
    if (!entry.is_regular_file()) continue;
    headers.insert(absl::StrCat("gotrace/", entry.path().filename().string()));
  }
  EXPECT_EQ(rows, headers);
}

TEST(PublicHeaders, NumbersOfTheVersionAreThoseOfItsText) {
  EXPECT_EQ(GOTRACE_VERSION, absl::StrCat(GOTRACE_VERSION_MAJOR, ".", GOTRACE_VERSION_MINOR, ".",
                                          GOTRACE_VERSION_PATCH));
}

TEST(PublicHeaders, IdsCanBeComparedHashedAndPrinted) {
  EXPECT_LT(GoId{1}, GoId{2});
  EXPECT_GE(ProcId{2}, ProcId{2});
  EXPECT_EQ((std::set<ThreadId>{ThreadId{1}, ThreadId{1}}).size(), 1u);
  EXPECT_EQ((std::unordered_set<TaskId>{TaskId{1}, TaskId{2}, TaskId{1}}).size(), 2u);
  EXPECT_EQ((absl::flat_hash_set<GoId>{GoId{1}, GoId{2}, GoId{1}}).size(), 2u);
  std::ostringstream out;
  out << GoId{7} << ' ' << GoId::kNone << ' ' << kBackgroundTask;
  EXPECT_EQ(out.str(), "7 -1 0");
}

TEST(PublicHeaders, ResourcesCanBeCompared) {
  const ResourceId a = {ResourceKind::kGoroutine, 1};
  EXPECT_EQ(a, (ResourceId{ResourceKind::kGoroutine, 1}));
  EXPECT_NE(a, (ResourceId{ResourceKind::kProc, 1}));
  EXPECT_NE(a, (ResourceId{ResourceKind::kGoroutine, 2}));
}

}  // namespace
}  // namespace gotrace::internal
