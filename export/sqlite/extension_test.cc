#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "export/sqlite/random_queries.h"
#include "gotrace/trace_tables.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace extension_test {

class Extension : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
    // As the shell of SQLite has it.
    const auto always = [](sqlite3_context* context, int, sqlite3_value**) {
      sqlite3_result_int(context, 7);
    };
    ASSERT_EQ(
        sqlite3_create_function(db_, "regexp", 2, SQLITE_UTF8, nullptr, always, nullptr, nullptr),
        SQLITE_OK);
    ASSERT_EQ(sqlite3_enable_load_extension(db_, 1), SQLITE_OK);
    char* error = nullptr;
    ASSERT_EQ(sqlite3_load_extension(db_, "export/sqlite/gotrace_sqlite.so", nullptr, &error),
              SQLITE_OK)
        << error;
  }
  void TearDown() override { EXPECT_EQ(sqlite3_close(db_), SQLITE_OK); }

  // The first value that a query returns, the error, or "" if it returns nothing.
  std::string Query(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
    std::string result;
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      result = text == nullptr ? "NULL" : text;
    } else if (code != SQLITE_DONE) {
      result = sqlite3_errmsg(db_);
    }
    sqlite3_finalize(statement);
    return result;
  }

  // Writes a file, and returns its path as a literal.
  static std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return "'" + path + "'";
  }

  static std::string PathOf(const std::string& name) {
    return "'" + gotrace::internal::TestFilePath(name) + "'";
  }

  sqlite3* db_ = nullptr;
};

TEST_F(Extension, OpensATraceInAFile) {
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "no such table: events");
  EXPECT_NE(Query("SELECT gotrace_open('no such file')").find("no such file"), std::string::npos);
  EXPECT_EQ(Query("SELECT gotrace_open()"), "gotrace_open: no trace is given");
  EXPECT_EQ(Query("SELECT gotrace_open('/dev/null')"),
            "gotrace_open: /dev/null is not a file that can be read several times");
  const std::string open = "SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ")";
  EXPECT_EQ(Query(open), "1");
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "8601");
  EXPECT_EQ(Query("SELECT quantile_disc(dur_ns, 0.5) > 0 FROM g_states"), "1");
  EXPECT_NE(Query(open).find("go1.27-gc.trace.zst is open already"), std::string::npos);
  EXPECT_EQ(Query("SELECT 'a' REGEXP 'b'"), "7");
}

// What the shell does for `.tables`, and other programs to show what there is.
TEST_F(Extension, ListsTables) {
  const std::string list =
      "SELECT count(*) || ' ' || min(name) FROM temp.sqlite_schema WHERE type = 'table'";
  EXPECT_EQ(Query(list), "NULL") << "before a trace is opened";
  EXPECT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ")"), "1");
  const std::string listed = std::to_string(gotrace::AllTables().size()) + " allocs";
  EXPECT_EQ(Query(list), listed);
  EXPECT_EQ(Query("SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('tasks') "
                  "LIMIT 2)"),
            "end_ns,dur_ns");
  EXPECT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.26-gc.trace.zst") + ")"), "2");
  EXPECT_EQ(Query(list), listed);
  EXPECT_EQ(Query("SELECT name FROM pragma_table_info('tasks')"), "trace_id");
  // Nothing is stored.
  EXPECT_EQ(Query("SELECT count(*) FROM main.sqlite_schema"), "0");
}

TEST_F(Extension, LeavesTablesOfTheUserAlone) {
  EXPECT_EQ(Query("CREATE TABLE Events(a)"), "");
  EXPECT_EQ(Query("CREATE TEMP TABLE Tasks(a)"), "");
  const std::string open = "SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ")";
  EXPECT_EQ(Query(open), "gotrace_open: there is a temporary table Tasks");
  EXPECT_EQ(Query(open), "gotrace_open: there is a temporary table Tasks");
  EXPECT_EQ(Query("SELECT count(*) FROM Tasks"), "0");
  EXPECT_EQ(Query("DROP TABLE Tasks"), "");
  EXPECT_EQ(Query(open), "1");
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "8601");
  EXPECT_EQ(Query("SELECT count(*) FROM main.events"), "0");
}

TEST_F(Extension, AnswersAsCopiesInSqlite) {
  using gotrace::internal::QueriesToCompare;
  ASSERT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.27-annotations.trace.zst") + ")"), "1");
  gotrace::internal::RandomQueries queries(db_);
  const uint64_t count = QueriesToCompare(/*usual=*/300);
  int differences = 0;
  for (uint64_t number = 0; number < count && differences < 10; ++number) {
    const std::string difference = queries.Compare(number);
    if (difference.empty()) continue;
    ADD_FAILURE() << difference;
    ++differences;
  }
  EXPECT_GT(queries.rows(), count);
}

TEST_F(Extension, OpensSeveralTraces) {
  EXPECT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ", " +
                  PathOf("go1.26-gc.trace.zst") + ")"),
            "2");
  EXPECT_EQ(Query("SELECT count(DISTINCT trace_id) FROM g_states"), "2");
}

TEST_F(Extension, OpensTracesOneAfterAnother) {
  EXPECT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ")"), "1");
  // Prepared for one trace, whose order is that of the table, and run for two.
  const std::string sorted = "SELECT end_ns FROM g_states ORDER BY end_ns";
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(db_, sorted.c_str(), -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const std::string open = "SELECT gotrace_open(" + PathOf("go1.26-gc.trace.zst") + ")";
  EXPECT_EQ(Query(open), "gotrace_open: database table is locked");
  EXPECT_EQ(Query("SELECT count(DISTINCT trace_id) FROM g_states"), "1");
  EXPECT_EQ(sqlite3_reset(statement), SQLITE_OK);
  EXPECT_EQ(Query(open), "2");
  EXPECT_EQ(Query("SELECT count(DISTINCT trace_id) FROM g_states"), "2");
  int64_t rows = 0;
  int64_t last = 0;
  for (; sqlite3_step(statement) == SQLITE_ROW; ++rows) {
    const int64_t time = sqlite3_column_int64(statement, 0);
    EXPECT_LE(last, time);
    last = time;
  }
  sqlite3_finalize(statement);
  EXPECT_EQ(Query("SELECT count(*) FROM g_states"), std::to_string(rows));
}

TEST_F(Extension, OpensAllTracesOfAFile) {
  const std::string gc = gotrace::internal::ReadTestTrace("go1.27-gc.trace");
  const std::string both = Write("both.trace", gc + gc.substr(0, gc.size() - 500));
  EXPECT_EQ(Query("SELECT gotrace_open(" + both + ")"), "2");
  EXPECT_EQ(Query("SELECT group_concat(number || ' ' || complete || ' ' || (error IS NULL)) "
                  "FROM traces"),
            "1 1 1,2 0 0");
  EXPECT_EQ(Query("SELECT count(*) FROM events WHERE trace_id = (SELECT trace_id FROM traces "
                  "WHERE number = 1)"),
            "8601");
  EXPECT_NE(Query("SELECT count(*) FROM events").find("both.trace, trace 2: byte "),
            std::string::npos);
}

TEST_F(Extension, FailsAtDamage) {
  const std::string gc = gotrace::internal::ReadTestTrace("go1.27-gc.trace");
  const std::string cut = Write("cut.trace", gc.substr(0, gc.size() - 500));
  EXPECT_EQ(Query("SELECT gotrace_open(" + cut + ", " + PathOf("go1.26-gc.trace.zst") + ")"), "2");
  for (const char* sql :
       {"SELECT count(*) FROM events", "SELECT state, count(*) FROM g_states GROUP BY state",
        "SELECT count(*) FROM stacks a JOIN goroutines b ON a.stack_id = b.creator_stack_id",
        "SELECT stack_folded(7)", "SELECT count(*) FROM traces, generations"}) {
    for (int i = 0; i < 2; ++i) {
      const std::string error = Query(sql);
      EXPECT_NE(error.find("cut.trace: byte "), std::string::npos) << sql << ": " << error;
      EXPECT_EQ(error.back(), ']') << "the id of the fault in " << error;
    }
  }
  // As far as this is read, the trace is sound.
  EXPECT_EQ(Query("SELECT kind FROM events LIMIT 1"), "Sync");
  const std::string damage =
      "SELECT group_concat(complete || (faults > 0) || (error IS NULL)) FROM traces";
  EXPECT_EQ(Query(damage), "010,101");

  EXPECT_EQ(Query("SELECT gotrace_salvage(" + PathOf("go1.25-gc.trace.zst") + ")"), "3");
  EXPECT_EQ(Query("SELECT count(DISTINCT trace_id) FROM events"), "3");
  EXPECT_EQ(Query("SELECT sum(e.n = t.events) FROM traces t JOIN (SELECT trace_id, count(*) AS n "
                  "FROM events GROUP BY trace_id) e ON e.trace_id = t.trace_id"),
            "3");
  EXPECT_EQ(Query(damage), "011,101,101");
}

TEST_F(Extension, NoticesThatAFileChanged) {
  const std::string trace = gotrace::internal::ReadTestTrace("go1.27-gc.trace");
  const std::string path = Write("changing.trace", trace);
  EXPECT_EQ(Query("SELECT gotrace_open(" + path + ")"), "1");
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "8601");
  Write("changing.trace", gotrace::internal::ReadTestTrace("go1.26-gc.trace"));
  for (const char* sql : {"SELECT count(*) FROM events", "SELECT error FROM traces"}) {
    EXPECT_NE(Query(sql).find("changing.trace: the file changed while it was being read"),
              std::string::npos)
        << sql;
  }
}

// A program that loads the extension may have a libgotrace of its own.
TEST_F(Extension, ExportsWhatSqliteLooksFor) {
  FILE* const nm = popen("nm -D --defined-only export/sqlite/gotrace_sqlite.so", "r");
  ASSERT_NE(nm, nullptr);
  std::string symbols;
  char line[4096];
  while (std::fgets(line, sizeof(line), nm) != nullptr) {
    const std::string text = line;
    symbols += text.substr(text.rfind(' ') + 1);
  }
  EXPECT_EQ(pclose(nm), 0);
  // Gold exports functions of the C++ library that it has found in other libraries, too.
  std::string others;
  for (const absl::string_view symbol : absl::StrSplit(symbols, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(symbol, "_ZNSt")) absl::StrAppend(&others, symbol, "\n");
  }
  EXPECT_EQ(others, "sqlite3_extension_init\n");
}

}  // namespace extension_test
