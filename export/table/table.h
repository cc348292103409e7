// Tables of results: as text for people, as CSV, and as JSON.
#ifndef GOTRACE_EXPORT_TABLE_TABLE_H_
#define GOTRACE_EXPORT_TABLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

// What people see in the place of a name that the trace does not have: the reason of a wait that
// began before it, say.
inline constexpr absl::string_view kUnknownName = "(unknown)";

// A value for programs that is not one of the others: JSON. People see nothing of it.
struct JsonText {
  std::string text;
};

// What a row has in a column: nothing, a number, a share, a text, any number of named numbers, or
// JSON.
using Cell = std::variant<std::monostate, int64_t, double, absl::string_view,
                          std::vector<NamedNumber>, JsonText>;

enum class Unit {
  kNone,         // Text, or a number as it is.
  kNanoseconds,  // "1.24 ms" for people, and integers for programs.
  kBytes,        // "1.24 MiB".
  kShare,        // A double, where 1 is all: "12.4%".
};

struct Column {
  std::string name;         // In CSV and JSON: "running_ns". They leave out columns with "".
  absl::string_view title;  // For people: "RUNNING". Text leaves out columns with "".
  Unit unit = Unit::kNone;
  std::function<Cell(size_t row)> value;  // Cheap: may be called several times for each row.
  bool is_last_in_text = false;           // Whether people see it behind all others.
  std::function<Unit(size_t row)> unit_of = nullptr;  // If set, the unit depends on the row.
};

// Columns of rows that someone else keeps, from functions of a row.
template <class Row>
class ColumnList {
 public:
  explicit ColumnList(absl::Span<const Row> rows) : rows_(rows) {}

  // Appends a column whose cell is `of(row)`, which must be cheap.
  template <class Of>
  ColumnList& Add(std::string name, absl::string_view title, Unit unit, Of of) {
    columns_.push_back({.name = std::move(name),
                        .title = title,
                        .unit = unit,
                        .value = [=, rows = rows_](size_t row) { return Cell(of(rows[row])); }});
    return *this;
  }

  // Appends the reason of what a row is about, `of(row)`. A wait, for which `is_wait(row)`, has one
  // even if the trace does not have it.
  template <class Of, class IsWait>
  ColumnList& AddReason(absl::string_view title, Of of, IsWait is_wait) {
    Add("reason", "", Unit::kNone, of);
    return Add("", title, Unit::kNone, [=](const Row& row) {
      const absl::string_view reason = of(row);
      return reason.empty() && is_wait(row) ? kUnknownName : reason;
    });
  }

  // The columns that are made otherwise are appended to these.
  std::vector<Column>& columns() { return columns_; }

  std::vector<Column> Take() { return std::move(columns_); }

 private:
  const absl::Span<const Row> rows_;
  std::vector<Column> columns_;
};

// Returns a column of the texts that `of` makes from the rows: when they are needed, and each of
// them once.
template <class Row, class Of>
Column TextColumn(std::string name, absl::string_view title, absl::Span<const Row> rows, Of of) {
  const auto texts = std::make_shared<std::unordered_map<size_t, std::string>>();
  return {.name = std::move(name), .title = title, .value = [=](size_t row) {
            const auto known = texts->find(row);
            if (known != texts->end()) return Cell(absl::string_view(known->second));
            return Cell(absl::string_view(texts->emplace(row, of(rows[row])).first->second));
          }};
}

// Rows that someone else keeps, and what to show of them.
class Table {
 public:
  Table(size_t rows, std::vector<Column> columns);

  // Returns the names of the columns that programs see.
  std::vector<std::string> Names() const;

  // Puts the rows with the largest numbers of a column first, or texts in alphabetical order. Rows
  // that are equal keep their order. `column` is a column's name, also without its unit, or its
  // title in lower case. Fails if there is none.
  absl::Status Sort(absl::string_view column);

  // Leaves only the first `rows` rows.
  void Truncate(size_t rows);

  size_t rows() const { return order_.size(); }

  // Appends a line of titles and a line for each row, of at most `width` columns if the last text
  // can be cut to that. Of named numbers the largest is shown. Columns of times or bytes that are 0
  // in all rows are left out. Nothing if there is no row.
  void AppendText(size_t width, TextBuffer* out) const;

  // Called after each row, to write out what was appended.
  using RowDone = std::function<void()>;

  // Appends a line of names, unless `has_names` is false, and a line for each row, as in RFC 4180.
  // Named numbers are a JSON object in one field, and JSON is a field as well. `before` is the name
  // and value of a column that comes first, or "".
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

// Appends a text as a field of CSV, as in RFC 4180: in quotes if it needs them.
void AppendCsvField(absl::string_view text, TextBuffer* out);

// The same for texts where an empty field is NULL: an empty text is written as "".
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
