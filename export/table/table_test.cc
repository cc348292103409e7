#include "export/table/table.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace table_test {

struct Row {
  absl::string_view name;
  int64_t time;
  double share;
  bool has_end;
  std::vector<NamedNumber> reasons;
};

const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {"main.worker", 1240000, 0.5, true, {{"sleep", 30}, {"chan, receive", 70}}},
      {"net/http.(*conn).serve", 813, 0.25, false, {}},
      {"\x1b[31m", 2480000000, 1, true, {{"", 5}}},
  };
  return rows;
}

Table MakeTable() {
  return Table(
      Rows().size(),
      {{.name = "time_ns",
        .title = "TIME",
        .unit = Unit::kNanoseconds,
        .value = [](size_t row) { return Cell(Rows()[row].time); }},
       {.name = "share",
        .title = "SHARE",
        .unit = Unit::kShare,
        .value = [](size_t row) { return Cell(Rows()[row].share); }},
       {.name = "end_ns",
        .title = "",
        .unit = Unit::kNanoseconds,
        .value = [](size_t row) { return Rows()[row].has_end ? Cell(int64_t{7}) : Cell(); }},
       {.name = "blocked_ns",
        .title = "MOSTLY",
        .unit = Unit::kNanoseconds,
        .value = [](size_t row) { return Cell(Rows()[row].reasons); }},
       {.name = "name", .title = "NAME", .unit = Unit::kNone, .value = [](size_t row) {
          return Cell(Rows()[row].name);
        }}});
}

TEST(Table, ReadsWell) {
  TextBuffer out;
  MakeTable().AppendText(100, &out);
  EXPECT_EQ(out.view(),
            "   TIME   SHARE  MOSTLY             NAME\n"
            "1.24 ms   50.0%  chan, receive 70%  main.worker\n"
            " 813 ns   25.0%                     net/http.(*conn).serve\n"
            " 2.48 s  100.0%  (unknown) 100%     \"\\x1b[31m\"\n");
}

TEST(Table, CutsTheLastTextToTheWidth) {
  TextBuffer out;
  MakeTable().AppendText(57, &out);
  EXPECT_NE(out.view().find("  …t/http.(*conn).serve\n"), out.view().npos) << out.view();
}

TEST(Table, CutsOtherTextsIfTheLastIsNotEnough) {
  const std::string names[] = {std::string(30, 'a'), std::string(25, 'b'), std::string(40, 'c')};
  std::vector<Column> columns;
  for (const std::string& name : names) {
    columns.push_back({.name = "", .title = "N", .value = [&](size_t) { return Cell(name); }});
  }
  const Table table(1, std::move(columns));
  const auto line = [&](size_t width) {
    TextBuffer out;
    table.AppendText(width, &out);
    absl::string_view text = out.view();
    text.remove_prefix(text.find('\n') + 1);
    return std::string(absl::StripSuffix(text, "\n"));
  };
  const auto cut = [](char c, size_t count) { return absl::StrCat("…", std::string(count, c)); };
  // The widest gives way first. The last has at least 26 characters,
  EXPECT_EQ(line(85), absl::StrCat(names[0], "  ", names[1], "  ", cut('c', 25)));
  EXPECT_EQ(line(80), absl::StrCat(cut('a', 24), "  ", names[1], "  ", cut('c', 25)));
  // or 20 if others would have less than 24.
  EXPECT_EQ(line(70), absl::StrCat(cut('a', 22), "  ", cut('b', 22), "  ", cut('c', 19)));
  EXPECT_EQ(line(60), absl::StrCat(cut('a', 17), "  ", cut('b', 17), "  ", cut('c', 19)));
  // If that is not enough, all of them may become narrower.
  EXPECT_EQ(line(59), absl::StrCat(cut('a', 16), "  ", cut('b', 16), "  ", cut('c', 20)));
  EXPECT_EQ(line(43), absl::StrCat(cut('a', 12), "  ", cut('b', 12), "  ", cut('c', 12)));
  EXPECT_EQ(line(36), absl::StrCat(cut('a', 9), "  ", cut('b', 9), "  ", cut('c', 11)));
  // There is an end to it.
  EXPECT_EQ(line(10), line(36));
}

TEST(Table, OmitsColumnsIfCuttingTextsIsNotEnough) {
  const std::string name(30, 'n');
  const auto one = [](size_t) { return Cell(int64_t{1}); };
  const Table table(1,
                    {{.name = "", .title = "COUNT", .value = one},
                     {.name = "", .title = "CLIPPED", .value = one},
                     {.name = "", .title = "MINOR", .value = one, .is_minor = true},
                     {.name = "", .title = "OTHER", .value = one},
                     {.name = "", .title = "NAME", .value = [&](size_t) { return Cell(name); }}});
  // The columns before the name take 30 characters, and 23 without the minor one.
  struct Case {
    size_t width;
    std::vector<absl::string_view> omitted;
    size_t name_width;
  };
  const Case cases[] = {{80, {}, 30},
                        {56, {}, 26},
                        {52, {"MINOR"}, 29},
                        {42, {"MINOR"}, 19},
                        {35, {"MINOR"}, 12},
                        {34, {"MINOR", "OTHER"}, 18},
                        {20, {"MINOR", "OTHER"}, 12}};
  for (const Case& one_case : cases) {
    TextBuffer out;
    EXPECT_EQ(table.AppendText(one_case.width, &out), one_case.omitted) << one_case.width;
    EXPECT_EQ(std::count(out.view().begin(), out.view().end(), 'n') + (one_case.width < 60),
              one_case.name_width)
        << out.view();
  }
}

TEST(Table, LetsAColumnMakeItsTextsNarrower) {
  struct Stack {
    std::string whole;
  };
  const std::vector<Stack> stacks = {{"main.main;main.work;runtime.gopark"}, {"main.main"}};
  const Table table = ColumnList<Stack>(absl::MakeConstSpan(stacks))
                          .AddFitted(
                              "STACK", [](const Stack& s) { return s.whole; },
                              [](const Stack& s, size_t width) {
                                EXPECT_LT(width, s.whole.size());
                                return width < 15 ? "the program's end" : "main.work;…";
                              })
                          .ToTable();
  const auto text = [&](size_t width) {
    TextBuffer out;
    table.AppendText(width, &out);
    return std::string(out.view());
  };
  EXPECT_EQ(text(40), "STACK\nmain.main;main.work;runtime.gopark\nmain.main\n");
  EXPECT_EQ(text(30), "STACK\nmain.work;…\nmain.main\n");
  // It is cut if it is still too wide.
  EXPECT_EQ(text(14), "STACK\n…program's end\nmain.main\n");
}

TEST(Table, CutsNoEscape) {
  const std::string name = absl::StrCat(std::string(60, 'x'), "\x1b[31m", "\u00a0", "abcdefgh");
  const std::string quoted = Quoted(name);
  const Table table(1,
                    {{.name = "name", .title = "N", .value = [&](size_t) { return Cell(name); }}});
  for (size_t width = 20; width < quoted.size(); ++width) {
    TextBuffer out;
    table.AppendText(width, &out);
    absl::string_view line = out.view();
    line.remove_prefix(2);
    ASSERT_TRUE(absl::ConsumePrefix(&line, "…") && absl::ConsumeSuffix(&line, "\n")) << line;
    EXPECT_TRUE(absl::EndsWith(quoted, line));
    EXPECT_LT(line.size(), width);
    EXPECT_GT(line.size() + 10, width);
    std::string back;
    EXPECT_TRUE(AppendUnquoted(absl::StrCat("\"", line), &back)) << line;
  }
}

TEST(Table, LeavesOutTimesThatAreZeroAndPutsNamesLast) {
  const auto zero = [](size_t) { return Cell(int64_t{0}); };
  const auto name = [](size_t row) { return Cell(Rows()[row].name); };
  const auto time = [](size_t row) { return Cell(row == 0 ? int64_t{0} : Rows()[row].time); };
  const Table table(2,
                    {{.name = "name", .title = "NAME", .value = name, .is_last_in_text = true},
                     {.name = "zero", .title = "ZERO", .unit = Unit::kBytes, .value = zero},
                     {.name = "count", .title = "COUNT", .value = zero},
                     {.name = "time", .title = "TIME", .unit = Unit::kNanoseconds, .value = time}});
  TextBuffer out;
  table.AppendText(100, &out);
  EXPECT_EQ(out.view(),
            "COUNT    TIME  NAME\n"
            "    0       0  main.worker\n"
            "    0  813 ns  net/http.(*conn).serve\n");
}

TEST(Table, MayHaveAUnitForEachRow) {
  static constexpr double kNumbers[] = {1240000.4, 2048, 0.12345, 73000.6, -1e300};
  static constexpr Unit kUnits[] = {Unit::kNanoseconds, Unit::kBytes, Unit::kNone, Unit::kNone,
                                    Unit::kBytes};
  Column column = {
      .name = "value", .title = "VALUE", .value = [](size_t row) { return Cell(kNumbers[row]); }};
  column.unit_of = [](size_t row) { return kUnits[row]; };
  TextBuffer out;
  Table(5, {column}).AppendText(100, &out);
  EXPECT_EQ(out.view(),
            "       VALUE\n"
            "     1.24 ms\n"
            "    2.00 KiB\n"
            "       0.123\n"
            "       73001\n"
            "-8367351 TiB\n");
}

TEST(Table, IsCsv) {
  TextBuffer out;
  MakeTable().AppendCsv(/*has_names=*/true, "file", "a\"b", &out);
  EXPECT_EQ(out.view(),
            "file,time_ns,share,end_ns,blocked_ns,name\n"
            "\"a\"\"b\",1240000,0.5,7,\"{\"\"sleep\"\":30,\"\"chan, "
            "receive\"\":70}\",main.worker\n"
            "\"a\"\"b\",813,0.25,,{},net/http.(*conn).serve\n"
            "\"a\"\"b\",2480000000,1,7,\"{\"\"\"\":5}\",\x1b[31m\n");
}

TEST(Table, IsJson) {
  TextBuffer out;
  MakeTable().AppendJson("\n", "", "", &out);
  EXPECT_EQ(out.view(),
            "{\"time_ns\":1240000,\"share\":0.5,\"end_ns\":7,\"blocked_ns\":{\"sleep\":30,"
            "\"chan, receive\":70},\"name\":\"main.worker\"}\n"
            "{\"time_ns\":813,\"share\":0.25,\"end_ns\":null,\"blocked_ns\":{},"
            "\"name\":\"net/http.(*conn).serve\"}\n"
            "{\"time_ns\":2480000000,\"share\":1,\"end_ns\":7,\"blocked_ns\":{\"\":5},"
            "\"name\":\"\\u001b[31m\"}");
}

TEST(Table, HasColumnsForPeopleOnly) {
  const auto name = [](size_t row) { return Cell(Rows()[row].name); };
  Table table(
      1,
      {{.name = "time_ns", .title = "", .value = [](size_t row) { return Cell(Rows()[row].time); }},
       {.name = "", .title = "NAME", .value = name}});
  TextBuffer out;
  table.AppendText(100, &out);
  table.AppendCsv(/*has_names=*/true, "", "", &out);
  table.AppendJson("\n", "", "", &out);
  EXPECT_EQ(out.view(),
            "NAME\n"
            "main.worker\n"
            "time_ns\n"
            "1240000\n"
            "{\"time_ns\":1240000}");
  EXPECT_EQ(table.Sort("speed").message(), "there is no column \"speed\"; the columns are time_ns");
}

TEST(Table, SortsByAColumn) {
  const auto sorted_by = [](absl::string_view column) {
    Table table = MakeTable();
    EXPECT_TRUE(table.Sort(column).ok()) << column;
    table.Truncate(1);
    TextBuffer out;
    table.AppendJson("", "", "", &out);
    return std::string(out.view().substr(0, 14));
  };
  EXPECT_EQ(sorted_by("time_ns"), "{\"time_ns\":248");
  EXPECT_EQ(sorted_by("time"), "{\"time_ns\":248");
  EXPECT_EQ(sorted_by("mostly"), "{\"time_ns\":124");
  EXPECT_EQ(sorted_by("end_ns"), "{\"time_ns\":124");
  EXPECT_EQ(sorted_by("name"), "{\"time_ns\":248");
  const absl::Status status = MakeTable().Sort("tim");
  EXPECT_EQ(status.message(),
            "there is no column \"tim\"; the columns are time_ns, share, end_ns, "
            "blocked_ns, name");
}

struct TestId {
  int64_t value = -1;
  static const TestId kNone;
  friend bool operator==(TestId a, TestId b) = default;
};
constexpr TestId TestId::kNone{-1};

struct Wait {
  uint64_t count = 0;
  TestId id;
  std::optional<uint64_t> end;
  absl::string_view reason;
  Unit unit = Unit::kNone;

  int64_t Length() const { return 2 * static_cast<int64_t>(count); }
};

const std::vector<Wait>& Waits() {
  static const auto& waits = *new std::vector<Wait>{{1024, TestId{7}, 5, "sleep", Unit::kBytes},
                                                    {2000, TestId::kNone, {}, "", Unit::kNone}};
  return waits;
}

TEST(ColumnList, TakesMembersAndFunctionsOfRows) {
  int made = 0;
  const auto amounts = [](auto* columns) {
    columns->Add("b", "", Unit::kNone, &Wait::end).Add("c", "C", Unit::kNanoseconds, &Wait::Length);
  };
  const Table table = ColumnList<Wait>(absl::Span<const Wait>(Waits()))
                          .AddLast("name", "NAME", Unit::kNone,
                                   [&](const Wait& w) {
                                     ++made;
                                     return absl::StrCat("wait ", w.count);
                                   })
                          .Add(
                              "a", "A", [](const Wait& w) { return w.unit; }, &Wait::count)
                          .Add(amounts)
                          .Add("id", "", Unit::kNone, &Wait::id)
                          .AddIf(false, "d", "D", Unit::kNone, &Wait::count)
                          .AddIf(true, "e", "", Unit::kShare, [](const Wait&) { return 0.5; })
                          .AddReason(
                              "WHY", [](const Wait& w) { return w.reason; },
                              [](const Wait& w) { return w.count == 2000; })
                          .ToTable();
  TextBuffer out;
  table.AppendText(100, &out);
  EXPECT_EQ(out.view(),
            "       A        C  WHY        NAME\n"
            "1.00 KiB  2.05 µs  sleep      wait 1024\n"
            "    2000  4.00 µs  (unknown)  wait 2000\n");
  TextBuffer json;
  table.AppendJson("\n", "", "", &json);
  EXPECT_EQ(json.view(),
            "{\"name\":\"wait 1024\",\"a\":1024,\"b\":5,\"c\":2048,\"id\":7,\"e\":0.5,"
            "\"reason\":\"sleep\"}\n"
            "{\"name\":\"wait 2000\",\"a\":2000,\"b\":null,\"c\":4000,\"id\":null,\"e\":0.5,"
            "\"reason\":\"\"}");
  EXPECT_EQ(made, 2);
}

TEST(ColumnList, KeepsRowsThatItIsGiven) {
  std::vector<Wait> rows = Waits();
  const Table table =
      ColumnList<Wait>(std::move(rows)).Add("a", "", Unit::kNone, &Wait::count).ToTable();
  TextBuffer out;
  table.AppendJson("", "", "", &out);
  EXPECT_EQ(out.view(), "{\"a\":1024}{\"a\":2000}");
}

TEST(Table, HumanUnits) {
  EXPECT_EQ(FormatNanoseconds(0), "0 ns");
  EXPECT_EQ(FormatNanoseconds(999), "999 ns");
  EXPECT_EQ(FormatNanoseconds(1000), "1.00 µs");
  EXPECT_EQ(FormatNanoseconds(9994), "9.99 µs");
  EXPECT_EQ(FormatNanoseconds(9996), "10.0 µs");
  EXPECT_EQ(FormatNanoseconds(999499), "999 µs");
  EXPECT_EQ(FormatNanoseconds(999500), "1.00 ms");
  EXPECT_EQ(FormatNanoseconds(62000000000), "62.0 s");
  EXPECT_EQ(FormatNanoseconds(-1500), "-1.50 µs");
  EXPECT_EQ(FormatBytes(1023), "1.00 KiB");
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(1300000), "1.24 MiB");
}

}  // namespace table_test
}  // namespace gotrace::internal
