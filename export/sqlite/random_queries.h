// Compares the results of queries of the tables with those of ordinary SQLite tables with the same
// rows.
#ifndef GOTRACE_EXPORT_SQLITE_RANDOM_QUERIES_H_
#define GOTRACE_EXPORT_SQLITE_RANDOM_QUERIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct sqlite3;

namespace gotrace::internal {

class RandomQueries {
 public:
  // Copies the tables that exist on `*db`, which must outlive this object, to temporary tables.
  explicit RandomQueries(sqlite3* db);

  // Makes a query that depends only on `number` and the tables, and runs it on the tables and on
  // the copies. Returns "", or the query and how the results differ.
  std::string Compare(uint64_t number);

  // Returns how many rows the queries returned.
  uint64_t rows() const { return rows_; }

  struct Column {
    std::string name;
    std::vector<std::string> values;  // Some of its values, as literals.
  };
  struct Table {
    std::string name;
    size_t rows = 0;
    std::vector<Column> columns;
  };

 private:
  sqlite3* const db_;
  std::vector<Table> tables_;
  uint64_t rows_ = 0;
};

// Returns how many queries a test should compare: TestRounds(usual), or the number in the
// environment variable GOTRACE_SQL_QUERIES.
uint64_t QueriesToCompare(uint64_t usual);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_RANDOM_QUERIES_H_
