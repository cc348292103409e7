// Rows of a table in memory, for statements that scan it more than once or sort it.
#ifndef GOTRACE_EXPORT_SQLITE_STORED_ROWS_H_
#define GOTRACE_EXPORT_SQLITE_STORED_ROWS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "export/sqlite/row_set.h"

namespace gotrace::internal {

// A column to sort by.
struct SortColumn {
  SqlColumn column = 0;
  bool is_descending = false;
};

class StoredRows {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit StoredRows(RowSet rows) : rows_(std::move(rows)) {}

  const RowSet& rows() const { return rows_; }

  // Return the first row, in the order of the table, that has the value in the column, and the next
  // row after `row` with the same value; kNone if there is none. The first use of a column builds
  // an index.
  uint32_t FirstWith(SqlColumn column, int64_t value);
  uint32_t NextWith(SqlColumn column, uint32_t row) const { return chains_.at(column).next[row]; }

  // Returns the rows in the order of SQLite: NULL is the smallest value, and names are compared
  // byte by byte. The columns must not have the type kText.
  std::vector<uint32_t> Sorted(absl::Span<const SortColumn> columns) const;

 private:
  // Maps the numbers of the names in a column to their places in alphabetical order.
  absl::flat_hash_map<int64_t, int64_t> RanksOf(SqlColumn column) const;

  // The rows with the same value, linked.
  struct Chains {
    absl::flat_hash_map<int64_t, uint32_t> first;
    std::vector<uint32_t> next;
  };

  const RowSet rows_;
  absl::flat_hash_map<SqlColumn, Chains> chains_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_STORED_ROWS_H_
