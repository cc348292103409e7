// Rows of a table that SQLite reads, from one trace or several.
#ifndef GOTRACE_EXPORT_SQLITE_ROW_SET_H_
#define GOTRACE_EXPORT_SQLITE_ROW_SET_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// Columns as SQLite counts them: 0 is trace_id, and the others follow in the order of the table.
using SqlColumn = size_t;
inline constexpr SqlColumn kTraceIdColumn = 0;

enum class Comparison : uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

// A condition that rows must meet. NULL meets none.
struct RowCondition {
  SqlColumn column = 0;
  Comparison comparison = Comparison::kEqual;
  int64_t value = 0;  // For a name, its number in the interner of the RowSet.

  bool IsMetBy(int64_t other) const;
};

// Keeps some columns of the rows that meet some conditions. Names are mapped to one interner, so
// that rows of several traces can be stored together.
class RowSet final : public TableConsumer {
 public:
  // `columns` has a bit for each column to keep, as SQLite counts them, including those of the
  // conditions. `*names` must outlive this object.
  RowSet(const TableInfo* info, uint64_t columns, std::vector<RowCondition> conditions,
         Interner* names);

  // Declares that the following rows belong to this trace, which is the `place`th.
  void BeginTrace(int64_t trace_id, size_t place);

  void AddRows(const TableRows& rows) override;

  // Removes all rows.
  void Clear();

  uint64_t columns() const { return columns_; }
  size_t size() const { return size_; }

  // Returns a number of the row among those of all traces. It depends only on the place of the
  // trace, and on how many rows of the trace were added before, including those that did not meet
  // the conditions.
  int64_t Number(size_t row) const {
    return conditions_.empty() ? NumberAt(added_ - size_ + row) : numbers_[row];
  }

  bool IsNull(SqlColumn column, size_t row) const {
    const std::vector<uint8_t>& present = data_[column].present;
    return !present.empty() && present[row] == 0;
  }

  // Returns the integer, the number of the name, or the place of the text.
  int64_t Value(SqlColumn column, size_t row) const {
    return static_cast<int64_t>(data_[column].values[row]);
  }
  bool Meets(const RowCondition& condition, size_t row) const;

  bool IsName(SqlColumn column) const {
    return column != kTraceIdColumn && info_.columns[column - 1].type == ColumnType::kName;
  }

  // Returns the name with a number from Value(). Valid as long as the interner.
  absl::string_view NameText(int64_t number) const {
    return names_.String(static_cast<StringId>(number));
  }

  absl::string_view Text(SqlColumn column, size_t row) const {
    return texts_[data_[column].values[row]];
  }

 private:
  // Sets `selected_` to the places of the rows that meet the conditions.
  void Select(const TableRows& rows);

  uint64_t NameOf(const TableRows& rows, uint64_t value);

  // Returns the number of the row before which `before` rows were added.
  int64_t NumberAt(uint64_t before) const;

  const TableInfo& info_;
  const uint64_t columns_;
  const std::vector<RowCondition> conditions_;
  Interner& names_;
  int64_t trace_id_ = 0;
  std::vector<uint64_t> names_of_trace_;  // By the trace's own numbers of names.
  size_t size_ = 0;
  uint64_t added_ = 0;            // How many rows were added, including removed ones.
  std::vector<int64_t> numbers_;  // With conditions: the number of each row.
  // How many rows were added before each trace, and the number of its first row.
  std::vector<std::pair<uint64_t, int64_t>> begins_ = {{0, 0}};
  std::vector<TableRows::Column> data_;
  std::deque<std::string> texts_;
  std::vector<uint32_t> selected_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_ROW_SET_H_
