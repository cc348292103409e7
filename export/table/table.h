// Tables of results: as text for people, as CSV, and as JSON.
#ifndef GOTRACE_EXPORT_TABLE_TABLE_H_
#define GOTRACE_EXPORT_TABLE_TABLE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// A number with a name that depends on the row: the time blocked for one reason.
struct NamedNumber {
  absl::string_view name;
  int64_t number = 0;
};

// Shown to people in place of a name that the trace does not have, such as the reason of a wait
// that began before the trace.
inline constexpr absl::string_view kUnknownName = "(unknown)";

// A value of any other kind, as JSON for programs. It is not shown to people.
struct JsonText {
  std::string text;
};

// The value of a row in a column: nothing, a number, a share, a text, any number of named numbers,
// or JSON.
using Cell = std::variant<std::monostate, int64_t, double, absl::string_view,
                          std::vector<NamedNumber>, JsonText>;

enum class Unit {
  kNone,         // Text, or a number as it is.
  kNanoseconds,  // "1.24 ms" for people, and integers for programs.
  kBytes,        // "1.24 MiB".
  kShare,        // A double, where 1 is all: "12.4%".
};

struct Column {
  std::string name;         // In CSV and JSON: "running_ns". If "", they omit the column.
  absl::string_view title;  // For people: "RUNNING". If "", text omits the column.
  Unit unit = Unit::kNone;
  std::function<Cell(size_t row)> value;  // Cheap: may be called several times for each row.
  bool is_last_in_text = false;           // Whether it comes last in text.
  std::function<Unit(size_t row)> unit_of = nullptr;  // If set, the unit depends on the row.

  // If set, returns the text of a row in about `width` characters, where it is too wide. Other
  // texts lose their beginning.
  std::function<std::string(size_t row, size_t width)> fit = nullptr;

  // Whether text omits it first where lines are too long.
  bool is_minor = false;
};

// A table of rows that the caller owns.
class Table {
 public:
  Table(size_t rows, std::vector<Column> columns);

  // Returns the names of the columns in CSV and JSON.
  std::vector<std::string> Names() const;

  // Sorts the rows by a column: largest number first, or texts in alphabetical order. Equal rows
  // keep their order. `column` is the column's name, with or without its unit, or its title in
  // lower case. Fails if there is no such column.
  absl::Status Sort(absl::string_view column);

  // Keeps only the first `rows` rows.
  void Truncate(size_t rows);

  size_t rows() const { return order_.size(); }

  // Appends a line of titles and a line for each row, of at most `width` characters. For this, it
  // cuts texts, first the last one, and then omits columns: minor ones, and numbers from the right
  // on. A table of three texts needs at least 36 characters. Only the largest of named numbers is
  // shown. Columns of times or bytes that are 0 in all rows are omitted. Appends nothing if there
  // are no rows. Returns the titles of the columns that were omitted for lack of room.
  std::vector<absl::string_view> AppendText(size_t width, TextBuffer* out) const;

  // Called after each row, to write out the text so far.
  using RowDone = std::function<void()>;

  // Appends a line of names, unless `has_names` is false, and a line for each row, as in RFC 4180.
  // Named numbers are a JSON object in one field, and JSON is one field too. `before` and
  // `before_value` are the name and value of an additional first column, or "".
  void AppendCsv(bool has_names, absl::string_view before, absl::string_view before_value,
                 TextBuffer* out, const RowDone& row_done = nullptr) const;

  // Appends one JSON object for each row, with `separator` between them. Named numbers are an
  // object. Empty cells are null. `before` as for AppendCsv().
  void AppendJson(absl::string_view separator, absl::string_view before,
                  absl::string_view before_value, TextBuffer* out,
                  const RowDone& row_done = nullptr) const;

 private:
  const std::vector<Column> columns_;
  std::vector<size_t> order_;  // Of the rows.
};

// Returns the cell of a number.
template <std::integral Number>
Cell CellOf(Number number) {
  return Cell(static_cast<int64_t>(number));
}

// Returns the cell of an id, which is empty for kNone.
template <class Id>
requires requires(Id id) { id == Id::kNone, id.value; }
Cell CellOf(Id id) { return id == Id::kNone ? Cell() : CellOf(id.value); }

// Returns the cell of any other value that a cell can have.
inline Cell CellOf(Cell cell) { return cell; }

// Returns the cell of a value, or an empty cell for nullopt.
template <class Value>
Cell CellOf(const std::optional<Value>& value) {
  return value.has_value() ? CellOf(*value) : Cell();
}

// The columns of a table whose rows are of type Row.
template <class Row>
class ColumnList {
 public:
  // The rows must outlive the table.
  explicit ColumnList(absl::Span<const Row> rows)
      : rows_(std::shared_ptr<const Row[]>(), rows.data()), size_(rows.size()) {}

  // The table keeps the rows.
  explicit ColumnList(std::vector<Row>&& rows) : size_(rows.size()) {
    const auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
    rows_ = std::shared_ptr<const Row[]>(kept, kept->data());
  }

  // Appends a column. `of` is a member of Row, or a function of a row, which must be cheap. It
  // returns what a cell can have, an integer, an id, or an optional. If it returns a std::string,
  // it is called once for each row, when that is needed. `unit` is a Unit, or a function that
  // returns the unit of a row.
  template <class UnitOf, class Of>
  ColumnList& Add(std::string name, absl::string_view title, UnitOf unit, Of of) {
    Column& column = columns_.emplace_back();
    column.name = std::move(name);
    column.title = title;
    if constexpr (std::is_same_v<UnitOf, Unit>) {
      column.unit = unit;
    } else {
      column.unit_of = [=, rows = rows_](size_t row) { return unit(rows[row]); };
    }
    column.value = ValueOf(std::move(of));
    return *this;
  }

  // Appends a column if the table has it.
  template <class UnitOf, class Of>
  ColumnList& AddIf(bool has_it, std::string name, absl::string_view title, UnitOf unit, Of of) {
    return has_it ? Add(std::move(name), title, unit, std::move(of)) : *this;
  }

  // Appends a column that comes last in text.
  template <class Of>
  ColumnList& AddLast(std::string name, absl::string_view title, Unit unit, Of of) {
    Add(std::move(name), title, unit, std::move(of));
    columns_.back().is_last_in_text = true;
    return *this;
  }

  // Appends a column of texts for people that `fit(row, width)` makes narrower where that is
  // needed; see Column::fit.
  template <class Of, class Fit>
  ColumnList& AddFitted(absl::string_view title, Of of, Fit fit) {
    Add("", title, Unit::kNone, std::move(of));
    columns_.back().fit = [=, rows = rows_](size_t row, size_t width) {
      return fit(rows[row], width);
    };
    return *this;
  }

  // Marks the columns with these titles as minor; see Column::is_minor.
  ColumnList& Minor(std::initializer_list<absl::string_view> titles) {
    for (Column& column : columns_) {
      for (const absl::string_view title : titles) column.is_minor |= column.title == title;
    }
    return *this;
  }

  // Appends a column of reasons, `of(row)`. A row for which `is_wait(row)` has a reason even if the
  // trace does not state it.
  template <class Of, class IsWait>
  ColumnList& AddReason(absl::string_view title, Of of, IsWait is_wait) {
    Add("reason", "", Unit::kNone, of);
    return Add("", title, Unit::kNone, [=](const Row& row) {
      const absl::string_view reason = of(row);
      return reason.empty() && is_wait(row) ? kUnknownName : reason;
    });
  }

  // Appends the columns that `group(this)` appends, which several tables have.
  template <class Group>
  ColumnList& Add(const Group& group) {
    group(this);
    return *this;
  }

  Table ToTable() { return Table(size_, std::move(columns_)); }

 private:
  template <class Of>
  std::function<Cell(size_t row)> ValueOf(Of of) const {
    using Result = std::decay_t<std::invoke_result_t<const Of&, const Row&>>;
    if constexpr (std::is_same_v<Result, std::string>) {
      const auto texts = std::make_shared<std::unordered_map<size_t, std::string>>();
      return [=, rows = rows_](size_t row) {
        auto text = texts->find(row);
        if (text == texts->end()) text = texts->emplace(row, std::invoke(of, rows[row])).first;
        return Cell(absl::string_view(text->second));
      };
    } else {
      return [=, rows = rows_](size_t row) { return CellOf(std::invoke(of, rows[row])); };
    }
  }

  std::shared_ptr<const Row[]> rows_;
  const size_t size_;
  std::vector<Column> columns_;
};

// Appends a text as a field of CSV, as in RFC 4180: in quotes if it needs them.
void AppendCsvField(absl::string_view text, TextBuffer* out);

// The same, but writes an empty text as "", since an empty field is NULL.
void AppendCsvText(absl::string_view text, TextBuffer* out);

// Appends a text as a field of TSV, where \N is NULL: tabs, line breaks and backslashes are escaped
// as ClickHouse does.
void AppendTsvText(absl::string_view text, TextBuffer* out);

// Formats a duration for people, with three digits: "1.24 ms", "813 ns", "62.0 s".
std::string FormatNanoseconds(int64_t nanoseconds);

// Formats a number of bytes for people: "1.24 MiB".
std::string FormatBytes(int64_t bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TABLE_TABLE_H_
