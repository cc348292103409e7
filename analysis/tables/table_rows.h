// The rows of tables as structs, and a class that collects them column by column.
#ifndef GOTRACE_ANALYSIS_TABLES_TABLE_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_TABLE_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/trace_tables.h"
#include "parser/event/trace_clock.h"

namespace gotrace::internal {

namespace column {

using Int64 = int64_t;
using Uint64 = uint64_t;
using Bool = bool;
using Name = StringId;
using Text = absl::string_view;

template <class T>
using Required = T;
template <class T>
using Nullable = std::optional<T>;

}  // namespace column

// A struct for each table: TracesRow, EventsRow, GStatesRow. A member has the type of its column,
// and is a std::optional if it may be NULL.
#define GOTRACE_TABLE(id, ...) \
  struct id##Row {             \
    static constexpr TableId kTable = TableId::k##id;
#define GOTRACE_COLUMN(id, name, type, null, ...) column::null<column::type> name = {};
#define GOTRACE_TABLE_END(id) \
  }                           \
  ;
#include "gotrace/internal/tables.def"

}  // namespace gotrace::internal

namespace gotrace {

// Collects the rows of all tables that are wanted, and passes them to a consumer.
class TableOutput {
 public:
  // `*interner` and `*consumer` must outlive this object.
  TableOutput(const TableOptions& options, const Interner* interner, TableConsumer* consumer);

  bool Has(TableId id) const { return tables_[static_cast<size_t>(id)].is_wanted; }

  // Returns whether one of the columns is wanted.
  bool Wants(TableId id, uint64_t columns) const {
    const Table& table = tables_[static_cast<size_t>(id)];
    return table.is_wanted && (table.columns & columns) != 0;
  }

  // Sets the difference between the wall clock and the clock of the trace.
  void SetWallOffset(int64_t offset) { wall_offset_ = offset; }

  // Returns the wall-clock time of a time of the trace; nullopt if it is not known.
  std::optional<int64_t> WallTime(int64_t time) const {
    if (!wall_offset_.has_value()) return std::nullopt;
    return internal::TraceClock::Add(time, *wall_offset_);
  }

  // Adds a row, if its table is wanted. Sets the row's wall-clock time, if there is a column for
  // it.
  template <class Row>
  void Add(Row& row) {
    Table& table = tables_[static_cast<size_t>(Row::kTable)];
    if (!table.is_wanted) return;
    if constexpr (requires { row.wall_ns, row.time_ns; }) row.wall_ns = WallTime(row.time_ns);
    if constexpr (requires { row.wall_ns, row.end_ns; }) row.wall_ns = WallTime(row.end_ns);
    AppendRow(row, table.columns, &table.rows);
    if (++table.rows.size_ == capacity_) Flush(&table);
  }

  // Adds a row of which no column is wanted.
  void AddRowWithoutColumns(TableId id) {
    Table& table = tables_[static_cast<size_t>(id)];
    if (++table.rows.size_ == capacity_) Flush(&table);
  }

  // Passes all remaining rows to the consumer.
  void Flush();

 private:
  struct Table {
    bool is_wanted = false;
    uint64_t columns = 0;
    TableRows rows;
  };

  void Flush(Table* table);

  static void Store(int64_t value, size_t row, TableRows::Column* column, TableRows*) {
    column->values[row] = static_cast<uint64_t>(value);
  }
  static void Store(uint64_t value, size_t row, TableRows::Column* column, TableRows*) {
    column->values[row] = value;
  }
  static void Store(bool value, size_t row, TableRows::Column* column, TableRows*) {
    column->values[row] = value ? 1 : 0;
  }
  static void Store(StringId value, size_t row, TableRows::Column* column, TableRows*) {
    column->values[row] = static_cast<uint64_t>(value);
  }
  static void Store(absl::string_view value, size_t row, TableRows::Column* column,
                    TableRows* rows) {
    column->values[row] = rows->texts_.size();
    rows->texts_.emplace_back(value);
  }
  template <class T>
  static void Store(const std::optional<T>& value, size_t row, TableRows::Column* column,
                    TableRows* rows) {
    column->present[row] = value.has_value() ? 1 : 0;
    if (value.has_value()) {
      Store(*value, row, column, rows);
    } else {
      column->values[row] = 0;
    }
  }

  // A function for each table.
#define GOTRACE_TABLE(id, ...)                                                             \
  static void AppendRow(const internal::id##Row& row, uint64_t columns, TableRows* rows) { \
    [[maybe_unused]] const size_t index = rows->size_;                                     \
    size_t next = 0;
#define GOTRACE_COLUMN(id, name, ...)                                                  \
  if ((columns >> next & 1) != 0) Store(row.name, index, &rows->columns_[next], rows); \
  ++next;
#define GOTRACE_TABLE_END(id) }
#include "gotrace/internal/tables.def"

  std::optional<int64_t> wall_offset_;
  const size_t capacity_;
  TableConsumer& consumer_;
  std::vector<Table> tables_;
};

}  // namespace gotrace

#endif  // GOTRACE_ANALYSIS_TABLES_TABLE_ROWS_H_
