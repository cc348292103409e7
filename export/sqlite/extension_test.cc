#include <sqlite3.h>

#include <string>

#include "export/sqlite/random_queries.h"
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

  // The first value that a query returns, or the error.
  std::string Query(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr);
    std::string result;
    if (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      result = text == nullptr ? "NULL" : text;
    } else {
      result = sqlite3_errmsg(db_);
    }
    sqlite3_finalize(statement);
    return result;
  }

  static std::string PathOf(const std::string& name) {
    return "'" + gotrace::internal::TestFilePath(name) + "'";
  }

  sqlite3* db_ = nullptr;
};

TEST_F(Extension, OpensATraceInAFile) {
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "no such table: events");
  EXPECT_NE(Query("SELECT gotrace_open('no such file')").find("no such file"), std::string::npos);
  const std::string open = "SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ")";
  EXPECT_EQ(Query(open), "1");
  EXPECT_EQ(Query("SELECT count(*) FROM events"), "8601");
  EXPECT_EQ(Query("SELECT quantile_disc(dur_ns, 0.5) > 0 FROM g_states"), "1");
  EXPECT_NE(Query(open).find("there are traces already"), std::string::npos);
  EXPECT_EQ(Query("SELECT 'a' REGEXP 'b'"), "7");
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
  EXPECT_EQ(Query("SELECT gotrace_open()"), "gotrace_open: no trace is given");
  EXPECT_EQ(Query("SELECT gotrace_open(" + PathOf("go1.27-gc.trace.zst") + ", " +
                  PathOf("go1.26-gc.trace.zst") + ")"),
            "2");
  EXPECT_EQ(Query("SELECT count(DISTINCT trace_id) FROM g_states"), "2");
}

}  // namespace extension_test
