#include "export/rows/text_rows.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/table/table.h"
#include "export/text_sink.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The text of a format between and around values.
struct Notation {
  bool has_names_line;
  absl::string_view separator;
  absl::string_view null;
  void (*append_text)(absl::string_view text, TextBuffer* out);
};

constexpr Notation kNotations[] = {
    {.has_names_line = true, .separator = ",", .null = "", .append_text = AppendCsvText},
    {.has_names_line = true, .separator = "\t", .null = "\\N", .append_text = AppendTsvText},
    {.has_names_line = false, .separator = ",", .null = "null", .append_text = AppendJsonString},
};

class TextRowsWriter final : public RowsWriter {
 public:
  TextRowsWriter(TextRowsFormat format, const TableInfo& table, ByteSink* out)
      : notation_(kNotations[static_cast<size_t>(format)]),
        is_json_(format == TextRowsFormat::kJsonLines),
        table_(table),
        sink_(out) {
    if (!notation_.has_names_line) return;
    TextBuffer& text = sink_.buffer();
    text.Append(kTraceIdColumn.name);
    for (const TableColumn& column : table_.columns) text.Append(notation_.separator, column.name);
    text.Append('\n');
  }

  void BeginTrace(int64_t trace_id) override { trace_id_ = trace_id; }

  void Add(const TableRows& rows) override {
    TextBuffer& text = sink_.buffer();
    for (size_t row = 0; row < rows.size(); ++row) {
      if (is_json_) text.Append("{\"", kTraceIdColumn.name, "\":");
      text.Append(trace_id_);
      for (size_t column = 0; column < table_.columns.size(); ++column) {
        text.Append(notation_.separator);
        if (is_json_) text.Append('"', table_.columns[column].name, "\":");
        AppendValue(rows, column, row);
      }
      text.Append(is_json_ ? absl::string_view("}\n") : absl::string_view("\n"));
      sink_.MaybeFlush();
    }
  }

  absl::Status Finish(bool /*is_complete*/) override {
    sink_.Flush();
    return sink_.status();
  }

 private:
  void AppendValue(const TableRows& rows, size_t column, size_t row) {
    TextBuffer& text = sink_.buffer();
    if (rows.IsNull(column, row)) return text.Append(notation_.null);
    const uint64_t value = rows.column(column).values[row];
    switch (table_.columns[column].type) {
      case ColumnType::kInt64:
        return text.Append(static_cast<int64_t>(value));
      case ColumnType::kUint64:
        return text.Append(value);
      case ColumnType::kBool:
        return text.Append(value != 0 ? absl::string_view("true") : absl::string_view("false"));
      case ColumnType::kName:
      case ColumnType::kText:
        return notation_.append_text(ValidUtf8(rows.Text(column, row), &valid_), &text);
    }
  }

  const Notation& notation_;
  const bool is_json_;
  const TableInfo& table_;
  TextSink sink_;
  int64_t trace_id_ = 0;
  std::string valid_;  // A text whose bytes were not all UTF-8.
};

}  // namespace

std::unique_ptr<RowsWriter> MakeTextRowsWriter(TextRowsFormat format, const TableInfo& table,
                                               ByteSink* out) {
  return std::make_unique<TextRowsWriter>(format, table, out);
}

}  // namespace gotrace::internal
