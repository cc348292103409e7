#include "export/sqlite/random_queries.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gotrace/trace_tables.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace {

using Column = RandomQueries::Column;
using Table = RandomQueries::Table;

// Marks the names of tables in queries; replaced with the prefix of the copies.
constexpr absl::string_view kMark = "@@";
constexpr absl::string_view kCopy = "temp.copy_";

// Larger tables are used only as the first table of a join, so that joins stay small.
constexpr size_t kMaxJoinedRows = 60;

// A value: its type and its text.
using Value = std::string;
using Row = std::vector<Value>;

// Runs a query. Returns its rows, and sets `*error` if it fails.
std::vector<Row> Run(sqlite3* db, const std::string& sql, std::string* error) {
  std::vector<Row> rows;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW) break;
    Row& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      constexpr absl::string_view kTypes = " ifsbn";  // In the order of SQLite's numbers.
      const int type = sqlite3_column_type(statement, i);
      const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
      row.push_back(absl::StrCat(kTypes.substr(static_cast<size_t>(type), 1),
                                 absl::string_view(text == nullptr ? "" : text, size)));
    }
  }
  if (code != SQLITE_DONE) *error = sqlite3_errmsg(db);
  sqlite3_finalize(statement);
  return rows;
}

struct Query {
  std::string sql;        // Without LIMIT.
  std::string limit;      // " LIMIT 3", or "".
  size_t columns = 0;     // c0, c1, …
  std::vector<int> keys;  // The columns of ORDER BY.

  // Returns whether all columns are keys, so that only equal rows can come in another order.
  bool is_total() const { return std::set<int>(keys.begin(), keys.end()).size() == columns; }
};

class Generator {
 public:
  Generator(const std::vector<Table>& tables, uint64_t seed) : tables_(tables), random_(seed) {}

  Query Make() {
    Query query;
    switch (Below(10)) {
      case 0:
      case 1:
      case 2:
        query = Plain();
        break;
      case 3:
        query = Window();
        break;
      case 4:
        query = Compound();
        break;
      default:
        query = Grouped();
        break;
    }
    return Chance(20) ? Around(query) : query;
  }

 private:
  // A column that a query can use: "a.g".
  struct Use {
    std::string name;
    const Column* column = nullptr;
  };

  size_t Below(size_t end) { return static_cast<size_t>(random_() % end); }
  bool Chance(size_t percent) { return Below(100) < percent; }
  template <class T>
  const T& Any(const std::vector<T>& values) {
    return values[Below(values.size())];
  }
  std::string AnyOf(std::vector<std::string> values) { return Any(values); }

  const Table& AnyTable(size_t max_rows) {
    while (true) {
      const Table& table = Any(tables_);
      if (table.rows > 0 && table.rows <= max_rows) return table;
    }
  }

  // Sets `from_` and `uses_`.
  void ChooseTables() {
    uses_.clear();
    const Table& first = AnyTable(~size_t{0});
    if (Chance(10)) {
      // Groups by one column, so that the order is total.
      const Column& by = Any(first.columns);
      const std::string direction = Chance(50) ? " DESC" : "";
      from_ = absl::StrCat("(SELECT ", by.name, ", count(*) AS n FROM ", kMark, first.name,
                           " GROUP BY ", by.name, " ORDER BY ", by.name, direction, " LIMIT ",
                           1 + Below(6), ") a");
      uses_.push_back({absl::StrCat("a.", by.name), &by});
    } else {
      from_ = absl::StrCat(kMark, first.name, " a");
      AddUses("a", first);
    }
    for (const char* alias : {"b", "c"}) {
      if (Chance(65)) break;
      Join(alias);
    }
  }

  void AddUses(absl::string_view alias, const Table& table) {
    for (const Column& column : table.columns) {
      uses_.push_back({absl::StrCat(alias, ".", column.name), &column});
    }
  }

  void Join(absl::string_view alias) {
    const Table& table = AnyTable(kMaxJoinedRows);
    std::vector<std::string> pairs;
    for (const Use& use : uses_) {
      for (const Column& column : table.columns) {
        if (use.column->name == column.name) {
          pairs.push_back(absl::StrCat(use.name, " = ", alias, ".", column.name));
        }
      }
    }
    if (pairs.empty()) return;
    std::string on = Any(pairs);
    if (Chance(20)) absl::StrAppend(&on, Chance(60) ? " AND " : " OR ", Any(pairs));
    AddUses(alias, table);
    if (Chance(10)) absl::StrAppend(&on, " AND ", Condition());
    absl::StrAppend(&from_,
                    AnyOf({" JOIN ", " JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ",
                           " CROSS JOIN ", " RIGHT JOIN ", " FULL JOIN "}),
                    kMark, table.name, " ", alias, " ON ", on);
  }

  std::string Literal(const Column& column) {
    return column.values.empty() || Chance(5) ? AnyOf({"0", "2.5", "'x'", "-1"})
                                              : Any(column.values);
  }

  // A pattern that some of the column's texts may match.
  std::string Pattern(const Column& column, absl::string_view any) {
    absl::string_view text;  // Of a literal, up to the first quote in it.
    std::string literal = Literal(column);
    if (absl::StartsWith(literal, "'")) {
      text = absl::string_view(literal).substr(1);
      text = text.substr(0, std::min(text.find('\''), 1 + Below(12)));
    }
    return absl::StrCat("'", Chance(30) ? any : "", text, Chance(80) ? any : "", "'");
  }

  std::string Case() {
    const Use& use = Any(uses_);
    const std::string values =
        absl::StrCat(" THEN ", Any(uses_).name, " ELSE ",
                     Chance(50) ? Any(uses_).name : Literal(*use.column), " END");
    return Chance(50) ? absl::StrCat("CASE WHEN ", Condition(), values)
                      : absl::StrCat("CASE ", use.name, " WHEN ", Literal(*use.column), values);
  }

  std::string Condition() {
    const Use& use = Any(uses_);
    const std::string comparison =
        AnyOf({" = ", " = ", " < ", " <= ", " > ", " >= ", " <> ", " IS ", " IS NOT "});
    switch (Below(12)) {
      case 0:
        return absl::StrCat(use.name, AnyOf({" IS NULL", " IS NOT NULL"}));
      case 1:
        return absl::StrCat(use.name, " IN (", Literal(*use.column), ", ", Literal(*use.column),
                            ")");
      case 2: {
        const Table& table = AnyTable(kMaxJoinedRows);
        return absl::StrCat(use.name, AnyOf({" IN ", " NOT IN "}), "(SELECT ",
                            Any(table.columns).name, " FROM ", kMark, table.name, ")");
      }
      case 3: {
        const Table& table = AnyTable(kMaxJoinedRows);
        return absl::StrCat(AnyOf({"", "NOT "}), "EXISTS (SELECT 1 FROM ", kMark, table.name,
                            " e WHERE e.", Any(table.columns).name, comparison, use.name, ")");
      }
      case 4:
        return absl::StrCat(use.name, " BETWEEN ", Literal(*use.column), " AND ",
                            Literal(*use.column));
      case 5:
        return absl::StrCat(use.name, comparison, Any(uses_).name);
      case 6:
        return absl::StrCat(use.name, AnyOf({" LIKE ", " NOT LIKE "}), Pattern(*use.column, "%"));
      case 7:
        return absl::StrCat(use.name, AnyOf({" GLOB ", " NOT GLOB "}), Pattern(*use.column, "*"));
      case 8: {
        // A subquery of the rows that belong to the outer row.
        const Table& table = AnyTable(kMaxJoinedRows);
        return absl::StrCat(use.name, AnyOf({" IN ", " NOT IN "}), "(SELECT e.",
                            Any(table.columns).name, " FROM ", kMark, table.name, " e WHERE e.",
                            Any(table.columns).name, " = ", Any(uses_).name, ")");
      }
      default:
        return absl::StrCat(use.name, comparison, Literal(*use.column));
    }
  }

  std::string Where() {
    if (Chance(40)) return "";
    std::string text = absl::StrCat(" WHERE ", Condition());
    while (Chance(35)) absl::StrAppend(&text, Chance(70) ? " AND " : " OR ", Condition());
    return text;
  }

  std::string Direction() {
    return absl::StrCat(AnyOf({"", "", " ASC", " DESC", " DESC"}),
                        Chance(10) ? AnyOf({" NULLS FIRST", " NULLS LAST"}) : "");
  }

  // Adds ORDER BY some of the outputs, which are in `names`, and LIMIT. The first `groups` of them
  // are those of GROUP BY.
  void AddOrder(const std::vector<std::string>& names, size_t groups, Query* query) {
    std::vector<std::string> terms;
    if (Chance(75)) {
      const auto add = [&](size_t column) {
        terms.push_back(absl::StrCat(Chance(50)   ? names[column]
                                     : Chance(50) ? absl::StrCat("c", column)
                                                  : absl::StrCat(column + 1),
                                     Direction()));
        query->keys.push_back(static_cast<int>(column));
      };
      if (groups > 0 && Chance(60)) {
        for (size_t i = 0; i < groups; ++i) add(i);
        if (Chance(15)) std::rotate(terms.begin(), terms.begin() + 1, terms.end());
        if (Chance(15)) terms.pop_back();
        // The set of keys matters, but not their order.
        if (terms.size() < groups) query->keys.clear();
      } else {
        const size_t count = 1 + Below(names.size());
        for (size_t i = 0; i < count; ++i) add(Below(names.size()));
      }
      if (Chance(25)) {
        for (size_t i = 0; i < names.size(); ++i) add(i);
      }
    }
    if (!terms.empty()) absl::StrAppend(&query->sql, " ORDER BY ", absl::StrJoin(terms, ", "));
    if (Chance(50)) {
      query->limit = absl::StrCat(" LIMIT ", 1 + Below(8));
      if (Chance(40)) absl::StrAppend(&query->limit, " OFFSET ", Below(10));
    }
  }

  static std::string List(const std::vector<std::string>& names) {
    std::vector<std::string> outputs;
    for (size_t i = 0; i < names.size(); ++i) {
      outputs.push_back(absl::StrCat(names[i], " AS c", i));
    }
    return absl::StrJoin(outputs, ", ");
  }

  std::vector<std::string> SomeColumns() {
    std::vector<std::string> names;
    do {
      names.push_back(Chance(8) ? Case() : Any(uses_).name);
    } while (names.size() < 4 && Chance(50));
    return names;
  }

  Query Plain() {
    ChooseTables();
    std::vector<std::string> names = SomeColumns();
    if (Chance(10)) {
      const Table& table = AnyTable(kMaxJoinedRows);
      names.push_back(absl::StrCat("(SELECT count(*) FROM ", kMark, table.name, " e WHERE e.",
                                   Any(table.columns).name, " = ", Any(uses_).name, ")"));
    }
    Query query;
    query.columns = names.size();
    query.sql = absl::StrCat("SELECT ", Chance(30) ? "DISTINCT " : "", List(names), " FROM ", from_,
                             Where());
    AddOrder(names, 0, &query);
    return query;
  }

  // Aggregates whose value does not depend on the order of rows, and that do not overflow.
  std::string Aggregate() {
    const std::string column = Any(uses_).name;
    switch (Below(5)) {
      case 0:
        return absl::StrCat("min(", column, ")");
      case 1:
        return absl::StrCat("max(", column, ")");
      case 2:
        return absl::StrCat("sum(", column, " & 1023)");
      case 3:
        return absl::StrCat("count(DISTINCT ", column, ")");
      default:
        return "count(*)";
    }
  }

  Query Grouped() {
    ChooseTables();
    std::vector<std::string> names = SomeColumns();
    const std::vector<std::string> groups = names;
    std::vector<std::string> by = groups;
    if (Chance(20)) std::rotate(by.begin(), by.begin() + 1, by.end());
    if (Chance(10)) by.push_back(Any(uses_).name);
    while (Chance(60)) names.push_back(Aggregate());
    Query query;
    query.columns = names.size();
    query.sql = absl::StrCat("SELECT ", Chance(10) ? "DISTINCT " : "", List(names), " FROM ", from_,
                             Where(), " GROUP BY ", absl::StrJoin(by, ", "));
    if (Chance(20)) {
      absl::StrAppend(&query.sql, " HAVING ",
                      Chance(50) ? absl::StrCat(Aggregate(), " > ", Below(5))
                                 : absl::StrCat(Any(groups), " IS NOT NULL"));
    }
    AddOrder(names, groups.size(), &query);
    return query;
  }

  Query Window() {
    ChooseTables();
    std::vector<std::string> names = SomeColumns();
    const std::string function =
        AnyOf({"count(*)", "rank()", "dense_rank()", absl::StrCat("max(", Any(uses_).name, ")"),
               absl::StrCat("sum(", Any(uses_).name, " & 255)")});
    const std::string partition =
        Chance(60) ? absl::StrCat("PARTITION BY ", Any(uses_).name) : std::string();
    // Rows with equal keys have equal values, unlike with ROWS or row_number().
    names.push_back(absl::StrCat(function, " OVER (", partition, " ORDER BY ", Any(uses_).name,
                                 Direction(), ")"));
    Query query;
    query.columns = names.size();
    query.sql = absl::StrCat("SELECT ", List(names), " FROM ", from_, Where());
    AddOrder(names, 0, &query);
    return query;
  }

  Query Compound() {
    const size_t columns = 1 + Below(2);
    const auto part = [&] {
      ChooseTables();
      std::vector<std::string> names;
      while (names.size() < columns) names.push_back(Any(uses_).name);
      return absl::StrCat("SELECT ", List(names), " FROM ", from_, Where());
    };
    Query query;
    query.columns = columns;
    query.sql = part();
    absl::StrAppend(&query.sql, AnyOf({" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "}),
                    part());
    std::vector<std::string> names;
    for (size_t i = 0; i < columns; ++i) names.push_back(absl::StrCat("c", i));
    AddOrder(names, 0, &query);
    return query;
  }

  // A query of the rows of another one.
  Query Around(const Query& inner) {
    const std::string rows = absl::StrCat("(", inner.sql, inner.is_total() ? inner.limit : "", ")");
    Query query;
    query.columns = 2;
    const std::string start =
        Chance(30) ? absl::StrCat("WITH q AS ", rows, " SELECT ") : std::string("SELECT ");
    const std::string from = start == "SELECT " ? absl::StrCat(" FROM ", rows, " q") : " FROM q";
    const std::vector<std::string> names = {absl::StrCat("q.c", Below(inner.columns)),
                                            Chance(50) ? "count(*)" : "max(q.c0)"};
    query.sql = absl::StrCat(start, List(names), from, " GROUP BY ", names[0]);
    AddOrder(names, 1, &query);
    return query;
  }

  const std::vector<Table>& tables_;
  std::mt19937_64 random_;
  std::string from_;
  std::vector<Use> uses_;
};

std::string ShownRow(const std::vector<Row>& rows, size_t i) {
  return i < rows.size() ? absl::StrJoin(rows[i], "|") : "none";
}

}  // namespace

RandomQueries::RandomQueries(sqlite3* db) : db_(db) {
  std::string error;
  for (const TableInfo& info : AllTables()) {
    Table table;
    table.name = std::string(info.name);
    const std::string copy = absl::StrCat(kCopy, table.name);
    Run(db_, absl::StrCat("CREATE TABLE ", copy, " AS SELECT * FROM ", table.name), &error);
    const std::vector<Row> count = Run(db_, absl::StrCat("SELECT count(*) FROM ", copy), &error);
    if (!error.empty() || !absl::SimpleAtoi(count[0][0].substr(1), &table.rows)) std::abort();
    std::vector<std::string> names;
    for (const Row& row :
         Run(db_, absl::StrCat("SELECT name FROM pragma_table_info('copy_", table.name, "')"),
             &error)) {
      Column column;
      column.name = row[0].substr(1);
      for (const Row& value :
           Run(db_,
               absl::StrCat("SELECT DISTINCT quote(", column.name, ") FROM ", copy, " WHERE ",
                            column.name, " IS NOT NULL LIMIT 12"),
               &error)) {
        column.values.push_back(value[0].substr(1));
      }
      table.columns.push_back(std::move(column));
    }
    tables_.push_back(std::move(table));
  }
}

std::string RandomQueries::Compare(uint64_t number) {
  const Query query = Generator(tables_, number).Make();
  const std::string text = query.sql + query.limit;
  const auto run = [&](const std::string& sql, absl::string_view prefix, std::string* error) {
    return Run(db_, absl::StrReplaceAll(sql, {{kMark, prefix}}), error);
  };
  std::string error;
  std::string expected_error;
  std::vector<Row> rows = run(text, "", &error);
  std::vector<Row> expected = run(text, kCopy, &expected_error);
  const std::string shown =
      absl::StrCat("query ", number, ": ", absl::StrReplaceAll(text, {{kMark, ""}}), "\n");
  if (!error.empty() || !expected_error.empty()) {
    return absl::StrCat(shown, "error: ", error, "\nexpected: ", expected_error);
  }
  rows_ += rows.size();
  if (rows.size() != expected.size()) {
    return absl::StrCat(shown, rows.size(), " rows, expected ", expected.size());
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const int key : query.keys) {
      if (rows[i][static_cast<size_t>(key)] == expected[i][static_cast<size_t>(key)]) continue;
      return absl::StrCat(shown, "row ", i, ": ", ShownRow(rows, i),
                          "\nexpected: ", ShownRow(expected, i));
    }
  }
  // It is not defined which of the rows with equal keys LIMIT keeps, but the keys must be the same.
  const bool is_part = !query.limit.empty() && !query.is_total();
  if (is_part) expected = run(query.sql, kCopy, &expected_error);
  std::sort(rows.begin(), rows.end());
  std::sort(expected.begin(), expected.end());
  if (is_part ? std::includes(expected.begin(), expected.end(), rows.begin(), rows.end())
              : rows == expected) {
    return "";
  }
  return absl::StrCat(shown, "other rows, the first of ", rows.size(), ": ", ShownRow(rows, 0),
                      "\nexpected: ", ShownRow(expected, 0));
}

uint64_t QueriesToCompare(uint64_t usual) {
  usual = TestRounds(usual);
  const char* const text = std::getenv("GOTRACE_SQL_QUERIES");
  uint64_t count = usual;
  if (text != nullptr && !absl::SimpleAtoi(text, &count)) return usual;
  return count;
}

}  // namespace gotrace::internal
