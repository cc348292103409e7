#include "rewrite/table_source.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/reader/reader_access.h"
#include "rewrite/generation_writer.h"
#include "rewrite/joined_tables.h"
#include "rewrite/replacer.h"
#include "rewrite/table_additions.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace table_source_test {

using Frame = TableSource::Frame;
using Frames = std::vector<Frame>;

// Tables with the texts of each string and the frames of each stack, by id from 1.
class SmallTables final : public TableSource {
 public:
  SmallTables(std::vector<std::string> strings, std::vector<Frames> stacks,
              uint64_t missing_string = 0)
      : strings_(std::move(strings)), stacks_(std::move(stacks)), missing_(missing_string) {}

  std::vector<uint64_t> StringIds() const override { return Ids(strings_.size()); }
  std::vector<uint64_t> StackIds() const override { return Ids(stacks_.size()); }
  std::optional<absl::string_view> FindString(uint64_t id) const override {
    if (id == 0) return "";
    if (id > strings_.size()) return std::nullopt;
    return strings_[id - 1];
  }
  bool FindStack(uint64_t id, Frames* frames) const override {
    frames->clear();
    if (id > stacks_.size()) return false;
    if (id > 0) *frames = stacks_[id - 1];
    return true;
  }
  bool IsMissingString(uint64_t id) const override { return id != 0 && id == missing_; }

 private:
  static std::vector<uint64_t> Ids(size_t count) {
    std::vector<uint64_t> ids;
    for (uint64_t id = 1; id <= count; ++id) ids.push_back(id);
    return ids;
  }

  const std::vector<std::string> strings_;
  const std::vector<Frames> stacks_;
  const uint64_t missing_;
};

Frames StackOf(const TableSource& tables, uint64_t id) {
  Frames frames;
  EXPECT_TRUE(tables.FindStack(id, &frames)) << id;
  return frames;
}

// Returns the frames of the stack as "func file:line pc".
std::vector<std::string> Show(const TableSource& tables, uint64_t id) {
  std::vector<std::string> shown;
  for (const Frame& frame : StackOf(tables, id)) {
    shown.push_back(absl::StrCat(*tables.FindString(frame.func), " ",
                                 *tables.FindString(frame.file), ":", frame.line, " ",
                                 frame.pc.has_value() ? absl::StrCat(*frame.pc) : "unknown"));
  }
  return shown;
}

using Shown = std::vector<std::string>;

// Returns the frames that a reader finds in a trace with these tables, by id of the stack.
std::vector<Shown> ReadBack(const TableSource& tables) {
  GenerationContent content(tables);
  content.number = 1;
  std::string bytes = MakeHeader(Version::kGo126);
  GenerationWriter(Version::kGo126).Write(std::move(content), &bytes);
  const FirstGeneration first(bytes);
  EXPECT_NE(first.generation, nullptr);
  if (first.generation == nullptr) return {};
  const OwnTables own(first.generation->tables());
  std::vector<Shown> stacks;
  for (const uint64_t id : tables.StackIds()) stacks.push_back(Show(own, id));
  return stacks;
}

const SmallTables& TwoStrings() {
  static const auto& tables = *new SmallTables(
      {"main", "main.go"}, {{{10, 1, 2, 3}, {11, 1, 2, 4}}, {}, {{std::nullopt, 1, 0, 0}}});
  return tables;
}

TEST(TableSource, OwnTablesAreThoseThatWereRead) {
  GenerationTables tables;
  tables.AddMissingString(7);
  tables.AddMissingStack(5);
  const OwnTables own(tables);
  EXPECT_EQ(own.StringIds(), (std::vector<uint64_t>{7, ~uint64_t{0}}));
  EXPECT_EQ(own.StackIds(), std::vector<uint64_t>{5});
  EXPECT_EQ(own.FindString(0), "");
  EXPECT_EQ(own.FindString(7), "?string#7");
  EXPECT_EQ(own.FindString(8), std::nullopt);
  EXPECT_TRUE(own.IsMissingString(7));
  EXPECT_FALSE(own.IsMissingString(0));
  EXPECT_FALSE(own.IsMissingString(8));
  EXPECT_EQ(Show(own, 5), Shown{"?stack#5 :0 unknown"});
  Frames frames(3);
  EXPECT_FALSE(own.FindStack(6, &frames));
  EXPECT_TRUE(frames.empty());
}

// Shows the role of each text, and how often it was replaced.
class Shouter final : public Replacer {
 public:
  std::string Replace(TextRole role, absl::string_view text) override {
    ++calls;
    return absl::StrCat(static_cast<int>(role), absl::AsciiStrToUpper(text));
  }
  void Replace(FullFrame* frame) override {
    ++calls;
    frame->func = absl::AsciiStrToUpper(frame->func);
    frame->line += 100;
  }
  void Replace(ClockSnapshot*) override {}

  int calls = 0;
};

TEST(TableSource, JoinedTablesReplaceTextsByTheirRoles) {
  Shouter shouter;
  JoinedTables joined;
  JoinedTables::Part part(&TwoStrings(), &joined, &shouter);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(part.StringId(0, TextRole::kTask), 0U);
    EXPECT_EQ(joined.FindString(*part.StringId(1, TextRole::kTask)), "4MAIN");
    EXPECT_EQ(joined.FindString(*part.StringId(1, TextRole::kLabel)), "3MAIN");
    EXPECT_EQ(Show(joined, *part.StackId(1)),
              (Shown{"MAIN main.go:103 10", "MAIN main.go:104 11"}));
  }
  EXPECT_EQ(shouter.calls, 4);
  // What is missing has no text to replace.
  const SmallTables lacks({"?string#1"}, {{{10, 1, 1, 3}}}, 1);
  JoinedTables::Part other(&lacks, &joined, &shouter);
  EXPECT_EQ(joined.FindString(*other.StringId(1, TextRole::kMessage)), "?string#1");
  EXPECT_EQ(Show(joined, *other.StackId(1)), Shown{"?string#1 ?string#1:103 unknown"});
  EXPECT_EQ(shouter.calls, 5);
}

TEST(TableSource, AdditionsTakeIdsThatAreFree) {
  GenerationTables tables;
  tables.AddMissingStack(~uint64_t{0});  // Its name is string 2^64 - 1.
  const OwnTables own(tables);
  TableAdditions additions(own);
  const uint64_t stack = additions.StackId("func", "file", 3);
  EXPECT_EQ(stack, ~uint64_t{0} - 1);
  EXPECT_EQ(additions.StackId("func", "file", 3), stack);
  EXPECT_EQ(additions.StringId("func"), ~uint64_t{0} - 1);
  EXPECT_EQ(additions.StringId(""), 0U);
  EXPECT_EQ(additions.added_strings(), 2U);
  EXPECT_EQ(additions.FindString(~uint64_t{0}), "?stack#18446744073709551615");
  EXPECT_TRUE(additions.IsMissingString(~uint64_t{0}));
  EXPECT_EQ(Show(additions, stack), Shown{"func file:3 unknown"});
  EXPECT_EQ(additions.StackIds(), (std::vector<uint64_t>{~uint64_t{0}, stack}));
  EXPECT_EQ(additions.StringIds().size(), 3U);
}

TEST(TableSource, JoinedTablesHoldEqualEntriesOnce) {
  const SmallTables other({"other", "main.go", "main"}, {{}, {{10, 3, 2, 3}, {11, 3, 2, 4}}});
  JoinedTables joined;
  JoinedTables::Part first(&TwoStrings(), &joined);
  JoinedTables::Part second(&other, &joined);
  EXPECT_EQ(first.StackId(1), 1U);
  EXPECT_EQ(second.StackId(2), 1U);
  EXPECT_EQ(first.StackId(2), 2U);
  EXPECT_EQ(second.StackId(1), 2U);
  EXPECT_EQ(first.StackId(0), 0U);
  EXPECT_EQ(first.StackId(4), std::nullopt);
  EXPECT_EQ(first.StringId(2), second.StringId(2));
  EXPECT_EQ(first.StringId(0), 0U);
  EXPECT_EQ(first.StringId(3), std::nullopt);
  EXPECT_EQ(first.StringId(3), std::nullopt);
  EXPECT_EQ(joined.StackIds(), (std::vector<uint64_t>{1, 2}));
  // What nobody asked for is not copied.
  EXPECT_EQ(joined.StringIds(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(joined.FindString(3), std::nullopt);
  EXPECT_EQ(Show(joined, 1), (Shown{"main main.go:3 10", "main main.go:4 11"}));
  EXPECT_EQ(Show(joined, 2), Shown{});
}

TEST(TableSource, JoinedTablesKeepMissingStringsApart) {
  const SmallTables lacks({"?string#1"}, {}, /*missing_string=*/1);
  const SmallTables has({"?string#1"}, {});
  JoinedTables joined;
  const uint64_t missing = *JoinedTables::Part(&lacks, &joined).StringId(1);
  const uint64_t present = *JoinedTables::Part(&has, &joined).StringId(1);
  EXPECT_TRUE(joined.IsMissingString(missing));
  EXPECT_FALSE(joined.IsMissingString(present));
  EXPECT_EQ(joined.FindString(missing), joined.FindString(present));
}

TEST(TableSource, JoinedTablesTranslateEvents) {
  const SmallTables other({"a", "key", "value"}, {{{9, 1, 1, 1}}});
  JoinedTables joined;
  JoinedTables::Part first(&TwoStrings(), &joined);
  first.StackId(1);
  JoinedTables::Part second(&other, &joined);
  WriterEvent log;
  log.type = EventType::kUserLog;
  const uint64_t args[] = {5, 2, 3, 1};
  std::copy(std::begin(args), std::end(args), log.args);
  EXPECT_TRUE(second.Translate(&log));
  EXPECT_EQ(log.args[0], 5U);
  EXPECT_EQ(joined.FindString(log.args[1]), "key");
  EXPECT_EQ(joined.FindString(log.args[2]), "value");
  EXPECT_EQ(Show(joined, log.args[3]), Shown{"a a:1 9"});
  log.args[1] = 2;
  log.args[2] = 9;
  EXPECT_FALSE(second.Translate(&log));
}

// PCs of different programs mean different things, and readers identify frames by their PCs.
TEST(TableSource, FramesOfDifferentProgramsStayApart) {
  const SmallTables other({"init", "init.go"},
                          {{{10, 1, 2, 3}}, {{12, 1, 2, 9}}, {{~uint64_t{0}, 1, 2, 5}}});
  JoinedTables joined;
  JoinedTables::Part first(&TwoStrings(), &joined);
  JoinedTables::Part second(&other, &joined);
  for (const uint64_t id : {1, 3}) first.StackId(id);
  for (const uint64_t id : {1, 2, 3}) second.StackId(id);
  const std::vector<Shown> found = ReadBack(joined);
  EXPECT_EQ(found, (std::vector<Shown>{{"main main.go:3 10", "main main.go:4 11"},
                                       // The first PC that nobody uses.
                                       {"main :0 18446744073709551614"},
                                       {"init init.go:3 18446744073709551613"},
                                       {"init init.go:9 12"},
                                       {"init init.go:5 18446744073709551615"}}));
}

TEST(TableSource, JoinedTablesOfTracesHaveAllOfTheirStacks) {
  JoinedTables joined;
  std::vector<Shown> expected;
  std::vector<uint64_t> ids;
  const auto add = [&](const GenerationTables& tables, const TableUse&) {
    const OwnTables own(tables);
    JoinedTables::Part part(&own, &joined);
    for (const uint64_t id : own.StackIds()) {
      ids.push_back(*part.StackId(id));
      expected.push_back(Show(own, id));
    }
  };
  for (const absl::string_view name : {"go1.22-annotations", "go1.25-gc", "go1.27-annotations"}) {
    const std::string bytes = ReadTestTrace(absl::StrCat(name, ".trace"));
    ReaderHooks hooks;
    hooks.on_generation_end = add;
    ReadAll(ReaderAccess::FromSource(*SourceFromBytes(bytes), {}, hooks));
  }
  const std::vector<Shown> found = ReadBack(joined);
  const auto without_pcs = [](Shown stack) {
    for (std::string& frame : stack) frame.resize(frame.rfind(' '));
    return stack;
  };
  ASSERT_GT(ids.size(), 100U);
  size_t same_pcs = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Shown& stack = found[ids[i] - 1];
    ASSERT_EQ(without_pcs(stack), without_pcs(expected[i]));
    same_pcs += stack == expected[i];
  }
  EXPECT_GT(same_pcs, ids.size() / 4);
  EXPECT_LT(same_pcs, ids.size());
}

}  // namespace table_source_test
}  // namespace gotrace::internal
