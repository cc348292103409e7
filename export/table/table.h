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
};

// Columns computed by functions of a row. The caller owns the rows.
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

  // Returns the columns, so that columns made in other ways can be appended.
  std::vector<Column>& columns() { return columns_; }

  std::vector<Column> Take() { return std::move(columns_); }

 private:
  const absl::Span<const Row> rows_;
  std::vector<Column> columns_;
};

// Returns a column of the texts that `of` makes from the rows. Each text is made once, when it is
// needed.
template <class Row, class Of>
Column TextColumn(std::string name, absl::string_view title, absl::Span<const Row> rows, Of of) {
  const auto texts = std::make_shared<std::unordered_map<size_t, std::string>>();
  return {.name = std::move(name), .title = title, .value = [=](size_t row) {
            const auto known = texts->find(row);
            if (known != texts->end()) return Cell(absl::string_view(known->second));
            return Cell(absl::string_view(texts->emplace(row, of(rows[row])).first->second));
          }};
}

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

  // Appends a line of titles and a line for each row, of at most `width` characters if cutting the
  // last text is enough. Only the largest of named numbers is shown. Columns of times or bytes that
  // are 0 in all rows are omitted. Appends nothing if there are no rows.
  void AppendText(size_t width, TextBuffer* out) const;

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
