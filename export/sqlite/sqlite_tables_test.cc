#include "gotrace/sqlite_tables.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/sqlite/random_queries.h"
#include "gotrace/reader.h"
#include "gotrace/trace_tables.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "util/quote.h"

namespace gotrace {
namespace sqlite_tables_test {

using internal::QueriesToCompare;
using internal::RandomQueries;
using internal::ReadTestTrace;
using internal::TestTrace;
using internal::TestTraces;

// A row as text, with NULL as "NULL".
using Rows = std::vector<std::string>;

// A connection with the tables of some traces.
class Connection {
 public:
  explicit Connection(std::vector<std::string> traces, SqliteTablesOptions options = {})
      : bytes_(std::move(traces)) {
    EXPECT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
    std::vector<SqliteTrace> tables;
    for (size_t i = 0; i < bytes_.size(); ++i) {
      tables.push_back({absl::StrCat("trace ", i), static_cast<int64_t>(100 + i), [this, i] {
                          ++opened_;
                          return SourceFromBytes(bytes_[i]);
                        }});
    }
    const absl::Status status = RegisterSqliteTables(db_, std::move(tables), std::move(options));
    EXPECT_TRUE(status.ok()) << status;
  }
  ~Connection() { EXPECT_EQ(sqlite3_close(db_), SQLITE_OK); }

  Rows Query(const std::string& sql) {
    Rows rows;
    sqlite3_stmt* statement = nullptr;
    code_ = sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
    if (code_ != SQLITE_OK) {
      ADD_FAILURE() << sqlite3_errmsg(db_) << " in " << sql;
      return rows;
    }
    while ((code_ = sqlite3_step(statement)) == SQLITE_ROW) {
      std::vector<std::string> values;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        values.push_back(
            text == nullptr
                ? "NULL"
                : std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, i))));
      }
      rows.push_back(absl::StrJoin(values, "|"));
    }
    error_ = sqlite3_errmsg(db_);
    sqlite3_finalize(statement);
    return rows;
  }

  // The plan of a query, as text.
  std::string PlanOf(const std::string& sql) {
    return absl::StrJoin(Query("EXPLAIN QUERY PLAN " + sql), "\n");
  }

  // The result of the last query: SQLITE_DONE if it was run to its end.
  int code() const { return code_; }
  const std::string& error() const { return error_; }

  sqlite3* db() const { return db_; }

  // How often a trace was opened.
  int opened() const { return opened_; }

 private:
  const std::vector<std::string> bytes_;
  sqlite3* db_ = nullptr;
  int code_ = SQLITE_OK;
  std::string error_;
  int opened_ = 0;
};

// The rows of all tables, as Connection returns them.
class AllRows final : public TableConsumer {
 public:
  void AddRows(const TableRows& rows) override {
    for (size_t row = 0; row < rows.size(); ++row) {
      std::vector<std::string> values;
      for (size_t i = 0; i < rows.info().columns.size(); ++i) {
        const ColumnType type = rows.info().columns[i].type;
        if (rows.IsNull(i, row)) {
          values.push_back("NULL");
        } else if (type == ColumnType::kName || type == ColumnType::kText) {
          std::string valid;
          values.emplace_back(internal::ValidUtf8(rows.Text(i, row), &valid));
        } else {
          values.push_back(absl::StrCat(static_cast<int64_t>(rows.column(i).values[row])));
        }
      }
      tables[rows.info().id].push_back(absl::StrJoin(values, "|"));
    }
  }

  std::map<TableId, Rows> tables;
};

std::map<TableId, Rows> RowsOf(const std::string& bytes, const std::string& source) {
  AllRows rows;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  TableOptions options;
  options.tables.fill(TableOptions::kAllColumns);
  options.source = source;
  TraceTables tables(&*reader, options, &rows);
  ReadInto(*reader, {&tables}).IgnoreError();  // A broken trace has rows, too.
  return std::move(rows.tables);
}

// A trace that has rows in most tables.
std::string MixedTrace() { return ReadTestTrace("go1.26-annotations.trace"); }

// Those of the first and of the last version of the format, which have rows in all tables.
std::vector<std::string> SmallTraces() {
  std::vector<std::string> traces;
  for (const TestTrace& test : TestTraces()) {
    if (!absl::StartsWith(test.name, "go1.22") && !absl::StartsWith(test.name, "go1.27")) continue;
    std::string bytes = ReadTestTrace(test.name);
    if (bytes.size() < 100'000) traces.push_back(std::move(bytes));
  }
  EXPECT_GT(traces.size(), 10);
  return traces;
}

TEST(SqliteTables, HaveTheRowsOfTheTrace) {
  std::map<TableId, size_t> rows_of_table;
  for (const std::string& bytes : SmallTraces()) {
    Connection connection({bytes});
    const std::map<TableId, Rows> expected = RowsOf(bytes, "trace 0");
    for (const TableInfo& info : AllTables()) {
      SCOPED_TRACE(info.name);
      const auto found = expected.find(info.id);
      const Rows rows = found == expected.end() ? Rows() : found->second;
      EXPECT_EQ(connection.Query(absl::StrCat("SELECT * FROM ", info.name)), rows);
      EXPECT_EQ(connection.Query(absl::StrCat("SELECT count(*) FROM ", info.name)),
                Rows({absl::StrCat(rows.size())}));
      // The second time, from memory: twice as many rows from the right table.
      if (rows.size() < 1000) {
        EXPECT_EQ(connection.Query(absl::StrCat("SELECT b.* FROM (SELECT 1 UNION ALL SELECT 2) a "
                                                "CROSS JOIN ",
                                                info.name, " b LIMIT -1 OFFSET ", rows.size())),
                  rows);
      }
      for (const std::string& row : rows) {
        EXPECT_EQ(row.find('\xff'), std::string::npos) << "not UTF-8";
      }
      rows_of_table[info.id] += rows.size();
    }
  }
  for (const TableInfo& info : AllTables()) EXPECT_GT(rows_of_table[info.id], 0) << info.name;
}

// Conditions that are checked before SQLite sees rows must not change which ones it sees. Inside of
// CASE, SQLite checks alone.
TEST(SqliteTables, ConditionsSelectWhatSqliteWouldSelect) {
  const std::string bytes = MixedTrace();
  Connection connection({bytes});
  int conditions = 0;
  for (const TableInfo& info : AllTables()) {
    for (const TableColumn& column : info.columns) {
      const std::string from = absl::StrCat(" FROM ", info.name, " WHERE ");
      for (const Rows& values :
           {connection.Query(absl::StrCat("SELECT quote(", column.name, ") FROM ", info.name,
                                          " WHERE ", column.name, " IS NOT NULL LIMIT 1 OFFSET 3")),
            Rows({"12.5", "NULL", "'7'"})}) {
        for (const std::string& value : values) {
          for (const char* comparison : {"=", "<=", ">"}) {
            const std::string end = absl::StrCat(column.name, " ", comparison, " ", value);
            EXPECT_EQ(connection.Query(absl::StrCat("SELECT count(*)", from, end)),
                      connection.Query(absl::StrCat("SELECT count(*)", from, "CASE WHEN ", end,
                                                    " THEN 1 ELSE 0 END")))
                << info.name << ": " << end;
            ++conditions;
          }
        }
      }
    }
  }
  EXPECT_GT(conditions, 1500);
}

TEST(SqliteTables, RowsComeInTheOrderOfTheTable) {
  Connection connection({MixedTrace()});
  for (const TableInfo& info : AllTables()) {
    if (info.order.empty() || info.columns[*info.FindColumn(info.order)].is_nullable) continue;
    const std::string sql =
        absl::StrCat("SELECT ", info.order, " FROM ", info.name, " ORDER BY ", info.order);
    EXPECT_EQ(connection.PlanOf(sql).find("TEMP B-TREE"), std::string::npos) << sql;
    EXPECT_NE(connection.PlanOf(sql + " DESC").find("TEMP B-TREE"), std::string::npos);
    const std::string sorted =
        absl::StrCat("SELECT ", info.order, " FROM ", info.name, " ORDER BY +", info.order);
    EXPECT_EQ(connection.Query(sql), connection.Query(sorted)) << sql;
  }
}

TEST(SqliteTables, GenerationsHaveAllEventsButTheLastSync) {
  for (const std::string& bytes : SmallTraces()) {
    Connection connection({bytes});
    EXPECT_EQ(connection.Query("SELECT sum(events) + 1 FROM generations"),
              connection.Query("SELECT events FROM traces"));
  }
}

TEST(SqliteTables, StopsReadingAfterTheLastTime) {
  uint64_t blocks = 0;
  SqliteTablesOptions options;
  options.keep_going = [&](const Reader&) {
    ++blocks;
    return true;
  };
  Connection connection({MixedTrace()}, std::move(options));
  connection.Query("SELECT count(*) FROM g_states");
  const uint64_t all = std::exchange(blocks, 0);
  const Rows first =
      connection.Query("SELECT end_ns FROM g_states WHERE end_ns > 0 LIMIT 1 OFFSET 10");
  blocks = 0;
  const std::string condition = absl::StrCat(" FROM g_states WHERE end_ns <= ", first[0]);
  EXPECT_EQ(connection.Query("SELECT count(*)" + condition), Rows({"11"}));
  EXPECT_LT(blocks, all);
  // What is open then has not ended.
  EXPECT_EQ(connection.Query("SELECT count(*)" + condition + " AND flags >= 2"), Rows({"0"}));
}

TEST(SqliteTables, StartsReadingInALaterGeneration) {
  uint64_t blocks = 0;
  SqliteTablesOptions options;
  options.keep_going = [&](const Reader&) {
    ++blocks;
    return true;
  };
  Connection connection({ReadTestTrace("go1.27-generations.trace")}, std::move(options));
  const Rows begins = connection.Query("SELECT begin_ns FROM generations");
  ASSERT_GE(begins.size(), 3);
  for (const char* table : {"events", "metrics", "logs", "cpu_samples", "labels"}) {
    for (const std::string& begin : begins) {
      blocks = 0;
      const std::string from = absl::StrCat(" FROM ", table, " WHERE ");
      const Rows all = connection.Query(
          absl::StrCat("SELECT *", from, "CASE WHEN time_ns >= ", begin, " THEN 1 ELSE 0 END"));
      const uint64_t all_blocks = std::exchange(blocks, 0);
      EXPECT_EQ(connection.Query(absl::StrCat("SELECT *", from, "time_ns >= ", begin)), all);
      if (begin == begins.back()) {
        EXPECT_LT(blocks, all_blocks);
      }
    }
  }
}

TEST(SqliteTables, GroupsAreThoseOfSqlite) {
  Connection connection({MixedTrace()});
  for (const char* columns : {"state", "state, reason", "g, state, next_state", "reason, p"}) {
    const std::string sql = absl::StrCat("SELECT ", columns,
                                         ", count(*), sum(dur_ns), min(end_ns) "
                                         "FROM g_states GROUP BY ");
    EXPECT_EQ(connection.PlanOf(sql + columns).find("TEMP B-TREE"), std::string::npos);
    Rows groups = connection.Query(sql + columns);
    std::string unknown = absl::StrCat("+", columns);
    for (size_t at = 0; (at = unknown.find(", ", at)) != std::string::npos; at += 3) {
      unknown.replace(at, 2, ", +");
    }
    Rows expected = connection.Query(sql + unknown);
    EXPECT_GT(expected.size(), 3);
    std::sort(groups.begin(), groups.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(groups, expected);
    Rows distinct = connection.Query(absl::StrCat("SELECT DISTINCT ", columns, " FROM g_states"));
    EXPECT_EQ(distinct.size(), expected.size());
    // SQLite would not make use of the order.
    connection.Query(absl::StrCat("SELECT DISTINCT ", columns, " FROM g_states LIMIT 1"));
  }
  EXPECT_EQ(connection.Query("SELECT state, count(*) FROM g_states WHERE state = 'Running' "
                             "GROUP BY state"),
            connection.Query("SELECT 'Running', count(*) FROM g_states WHERE +state = 'Running'"));
}

// SQLite drops an ORDER BY of the columns of GROUP BY, and takes the groups as they come.
TEST(SqliteTables, GroupsComeInTheOrderThatIsAskedFor) {
  Connection connection({ReadTestTrace("go1.27-gc.trace")});
  const std::string groups = "SELECT g, count(*) FROM g_states GROUP BY g ORDER BY g";
  const Rows ascending = connection.Query(groups);
  EXPECT_GT(ascending.size(), 10);
  EXPECT_EQ(connection.Query(groups + " DESC"), Rows(ascending.rbegin(), ascending.rend()));
  EXPECT_EQ(connection.Query("SELECT state, reason FROM g_states WHERE state < 'Waiting' "
                             "GROUP BY state, reason ORDER BY state DESC, reason LIMIT 2"),
            Rows({"Syscall|NULL", "Running|NULL"}));
}

TEST(SqliteTables, AnswerAsTheirCopiesInSqlite) {
  const std::string blocking = ReadTestTrace("go1.27-blocking.trace");
  const std::string several = ReadTestTrace("go1.27-generations.trace");
  SqliteTablesOptions broken;
  broken.on_end = [](size_t, const absl::Status&, const Losses&) {};
  SqliteTablesOptions salvage;
  salvage.reader.mode = ReadMode::kSalvage;
  struct Case {
    std::vector<std::string> traces;
    SqliteTablesOptions options;
  };
  const Case cases[] = {
      {{MixedTrace()}, {}},
      {{blocking}, {}},
      {{several.substr(0, several.size() * 2 / 3)}, broken},
      {{MixedTrace(), ReadTestTrace("go1.27-coroutines.trace")}, {}},
      {{std::string(several).erase(several.size() / 2, 5)}, salvage},
  };
  const uint64_t count = QueriesToCompare(/*usual=*/3000);
  int differences = 0;
  uint64_t number = 0;
  for (const Case& test : cases) {
    Connection connection(test.traces, test.options);
    RandomQueries queries(connection.db());
    const uint64_t end = number + count / std::size(cases);
    for (; number < end && differences < 10; ++number) {
      const std::string difference = queries.Compare(number);
      if (difference.empty()) continue;
      ADD_FAILURE() << difference;
      ++differences;
    }
    EXPECT_GT(queries.rows(), count / std::size(cases) / 2);
  }
}

// SQLite finds the rows that were not joined by the numbers of the joined rows, whatever was looked
// up first.
TEST(SqliteTables, OuterJoinsKnowTheRowsThatWereJoined) {
  Connection connection({MixedTrace(), ReadTestTrace("go1.27-coroutines.trace")});
  EXPECT_EQ(connection.Query("SELECT trace_id FROM (SELECT 101 AS wanted) FULL JOIN traces "
                             "ON trace_id = wanted WHERE wanted IS NULL"),
            Rows({"100"}));
  EXPECT_EQ(connection.Query("SELECT DISTINCT trace_id FROM (SELECT 101 AS least) RIGHT JOIN "
                             "events ON trace_id >= least WHERE least IS NULL"),
            Rows({"100"}));
}

TEST(SqliteTables, JoinsLookUpInMemory) {
  Connection connection({MixedTrace()});
  const std::string join =
      "SELECT s.g, s.end_ns, o.name, k.folded FROM g_states s LEFT JOIN goroutines o ON o.g = s.g "
      "LEFT JOIN stacks k ON k.stack_id = s.stack_id ORDER BY s.end_ns, s.g";
  const Rows rows = connection.Query(join);
  // Each table is read once as rows stream, and those that are looked up in once more.
  EXPECT_LE(connection.opened(), 5);
  std::map<std::string, std::string> names;
  for (const std::string& row : connection.Query("SELECT g, name FROM goroutines")) {
    const size_t bar = row.find('|');
    names[row.substr(0, bar)] = row.substr(bar + 1);
  }
  ASSERT_EQ(connection.Query("SELECT count(*) FROM g_states"), Rows({absl::StrCat(rows.size())}));
  for (const std::string& row : rows) {
    const std::string g = row.substr(0, row.find('|'));
    EXPECT_NE(row.find(absl::StrCat("|", names[g], "|")), std::string::npos) << row;
  }
  EXPECT_EQ(connection.Query("SELECT count(*) FROM g_states WHERE stack_id IS NOT NULL AND "
                             "stack_folded(stack_id) IS NULL"),
            Rows({"0"}));
  EXPECT_EQ(connection.Query("SELECT stack_folded(1), stack_folded(NULL)"), Rows({"NULL|NULL"}));
}

// SQLite finds the rows of each alternative, and removes those that it found before.
TEST(SqliteTables, AlternativesInJoinsCountOnce) {
  Connection connection({ReadTestTrace("go1.27-blocking.trace")});
  const std::string join = "SELECT count(*) FROM g_states s JOIN goroutines o ON ";
  const std::string condition = "o.g = s.g OR o.g = s.waker_g";
  const Rows expected =
      connection.Query(absl::StrCat(join, "CASE WHEN ", condition, " THEN 1 ELSE 0 END"));
  EXPECT_EQ(expected, Rows({"322"}));
  EXPECT_EQ(connection.Query(join + condition), expected);
  Connection again({ReadTestTrace("go1.27-blocking.trace")});
  EXPECT_EQ(
      again.Query("SELECT count(*) FROM goroutines o JOIN events e ON e.g = o.g OR e.p = o.g"),
      again.Query("SELECT count(*) FROM goroutines o JOIN events e ON "
                  "CASE WHEN e.g = o.g OR e.p = o.g THEN 1 ELSE 0 END"));
}

TEST(SqliteTables, SubqueriesDoNotReadTheTraceForEachRow) {
  Connection connection({MixedTrace()});
  const Rows counts = connection.Query(
      "SELECT o.g, (SELECT count(*) FROM g_states s WHERE s.g = o.g) FROM goroutines o ORDER BY "
      "o.g");
  EXPECT_EQ(counts, connection.Query("SELECT g, count(*) FROM g_states GROUP BY g ORDER BY g"));
  EXPECT_LE(connection.opened(), 4);
  const int before = connection.opened();
  connection.Query(
      "SELECT count(*) FROM goroutines o WHERE EXISTS "
      "(SELECT 1 FROM g_states s WHERE s.waker_g = o.g)");
  EXPECT_LE(connection.opened(), before + 3);
}

TEST(SqliteTables, NullComesFirstWhereSqliteSorts) {
  Connection connection({ReadTestTrace("go1.27-oddstrings.trace")});
  EXPECT_EQ(connection.Query("SELECT type IS NULL FROM region_hist ORDER BY type LIMIT 1"),
            Rows({"1"}));
}

TEST(SqliteTables, RefuseTheSameTraceTwice) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  const SqliteTrace trace = {"a", 1, [] { return SourceFromBytes("no trace"); }};
  EXPECT_EQ(RegisterSqliteTables(db, {trace, trace}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
}

TEST(SqliteTables, OfSeveralTracesHaveTheirIds) {
  const std::vector<std::string> traces = {MixedTrace(), ReadTestTrace("go1.25-threads.trace"),
                                           MixedTrace()};
  Connection connection(traces);
  const Rows counts = connection.Query(
      "SELECT trace_id, count(*) FROM g_states GROUP BY trace_id ORDER BY trace_id");
  ASSERT_EQ(counts.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    Connection one({traces[i]});
    EXPECT_EQ(counts[i], absl::StrCat(100 + i, "|", one.Query("SELECT count(*) FROM g_states")[0]));
    EXPECT_EQ(
        connection.Query(absl::StrCat("SELECT * FROM goroutines WHERE trace_id = ", 100 + i)),
        connection.Query(absl::StrCat("SELECT * FROM goroutines WHERE +trace_id = ", 100 + i)));
    EXPECT_EQ(one.Query("SELECT DISTINCT trace_id FROM events"), Rows({"100"}));
  }
  // Two traces of one program have the same stacks.
  EXPECT_EQ(connection.Query("SELECT count(*), count(DISTINCT stack_id) FROM stacks WHERE trace_id "
                             "IN (100, 102)"),
            connection.Query("SELECT 2 * count(*), count(*) FROM stacks WHERE trace_id = 100"));
}

TEST(SqliteTables, OfABrokenTraceHaveWhatWasRead) {
  const std::string bytes = MixedTrace();
  absl::Status status;
  SqliteTablesOptions options;
  options.on_end = [&](size_t, const absl::Status& end, const Losses&) { status = end; };
  Connection connection({bytes.substr(0, bytes.size() - 100)}, options);
  EXPECT_EQ(connection.Query("SELECT count(*) > 0 FROM events"), Rows({"1"}));
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(connection.Query("SELECT complete, faults, error IS NULL FROM traces"),
            Rows({"0|1|0"}));
  // A query that needs no more rows does not know of the fault, and hides it from no other.
  status = absl::OkStatus();
  connection.Query("SELECT count(*) FROM events WHERE time_ns <= 5");
  EXPECT_TRUE(status.ok());
  // Of what is not a trace only that is known, and the traces after it are read.
  Connection second({"not a trace", bytes}, options);
  EXPECT_EQ(second.Query("SELECT trace_id, complete, error IS NULL FROM traces"),
            Rows({"100|0|0", "101|1|1"}));
  EXPECT_EQ(second.Query("SELECT count(DISTINCT trace_id) FROM events"), Rows({"1"}));
}

TEST(SqliteTables, OfABrokenTraceFailIfNothingElseReportsIt) {
  const std::string bytes = MixedTrace();
  Connection connection({bytes, bytes.substr(0, bytes.size() - 100), "not a trace"});
  // The rows before the fault come first, those of the sound trace among them.
  const Rows rows = connection.Query("SELECT trace_id FROM events");
  EXPECT_EQ(connection.code(), SQLITE_ERROR);
  EXPECT_EQ(connection.error().substr(0, 14), "trace 1: byte ");
  EXPECT_EQ(rows.front(), "100");
  EXPECT_EQ(rows.back(), "101");
  for (const char* sql : {"SELECT count(*) FROM events", "SELECT g FROM goroutines GROUP BY g",
                          "SELECT 1 FROM goroutines a JOIN goroutines b ON a.g = b.creator_g"}) {
    connection.Query(sql);
    EXPECT_EQ(connection.code(), SQLITE_ERROR) << sql;
  }
  EXPECT_EQ(connection.Query("SELECT complete, error IS NULL FROM traces"),
            Rows({"1|1", "0|0", "0|0"}));
  // The others are not read.
  EXPECT_EQ(connection.Query("SELECT DISTINCT trace_id FROM events WHERE trace_id < 101"),
            Rows({"100"}));
  EXPECT_EQ(connection.code(), SQLITE_DONE);
  EXPECT_EQ(connection.code(), SQLITE_DONE);
}

TEST(SqliteTables, QueriesCanBeInterrupted) {
  bool keeps_going = true;
  SqliteTablesOptions options;
  options.keep_going = [&](const Reader&) { return keeps_going; };
  Connection connection({MixedTrace()}, options);
  EXPECT_EQ(connection.Query("SELECT count(*) > 0 FROM goroutines"), Rows({"1"}));
  keeps_going = false;
  for (const char* sql : {"SELECT * FROM events", "SELECT state FROM g_states GROUP BY state"}) {
    EXPECT_EQ(connection.Query(sql), Rows());
    EXPECT_EQ(connection.code(), SQLITE_INTERRUPT);
  }
}

TEST(SqlFunctions, GiveWhatTheirNamesSay) {
  Connection connection({MixedTrace()});
  const auto query = [&](const std::string& what) { return connection.Query("SELECT " + what)[0]; };
  const std::string ten =
      "FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10) "
      "SELECT x FROM n UNION ALL SELECT NULL)";
  EXPECT_EQ(query("quantile_disc(x, 0.5), quantile_disc(x, 0.99), quantile_disc(x, 0), "
                  "quantile_disc(x, 1), quantile_disc(x, 0.51) " +
                  ten),
            "5|10|1|10|6");
  EXPECT_EQ(query("quantile_disc(x * 1.5, 0.5), quantile_disc(NULL, 0.5) " + ten), "7.5|NULL");
  EXPECT_EQ(query("quantile_disc(x, 0.5) FROM (SELECT 1 x WHERE 0)"), "NULL");
  EXPECT_EQ(query("format_duration(1240000), format_duration(NULL), format_bytes(2048)"),
            "1.24 ms|NULL|2.00 KiB");
  EXPECT_EQ(query("greatest(1, 3, 2), least(4, 2.5), greatest(NULL, 7), least(NULL)"),
            "3|2.5|7|NULL");
  EXPECT_EQ(query("'net/http.serve' REGEXP '^net/.*serve$', 'abc' REGEXP 'x|y', NULL REGEXP 'a'"),
            "1|0|NULL");
  connection.Query("SELECT 'a' REGEXP '('");
  EXPECT_EQ(connection.code(), SQLITE_ERROR);
  EXPECT_NE(connection.error().find("REGEXP: (: "), std::string::npos) << connection.error();
  connection.Query("SELECT quantile_disc(1, 2)");
  EXPECT_EQ(connection.error(), "quantile_disc: the share must be from 0 to 1");
}

}  // namespace sqlite_tables_test
}  // namespace gotrace
