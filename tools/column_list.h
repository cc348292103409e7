// Makes the columns of a table whose rows are structs.
#ifndef GOTRACE_TOOLS_COLUMN_LIST_H_
#define GOTRACE_TOOLS_COLUMN_LIST_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/table/table.h"

namespace gotrace::internal {

// Columns of one of `rows`, from functions of a row. The rows must outlive the columns.
template <class Row>
class ColumnList {
 public:
  explicit ColumnList(absl::Span<const Row> rows) : rows_(rows) {}

  // Adds a column whose cells are made of what `of` returns for a row. See Column for the rest.
  template <class Of>
  ColumnList& Add(std::string name, absl::string_view title, Unit unit, Of of) {
    columns_.push_back({.name = std::move(name),
                        .title = title,
                        .unit = unit,
                        .value = [=, rows = rows_](size_t row) { return Cell(of(rows[row])); }});
    return *this;
  }

  std::vector<Column> Take() { return std::move(columns_); }

 private:
  const absl::Span<const Row> rows_;
  std::vector<Column> columns_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COLUMN_LIST_H_
