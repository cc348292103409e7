#include "export/rows/describe_tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "export/rows/rows_writer.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {
namespace {

absl::string_view TypeName(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64:
      return "INT64";
    case ColumnType::kUint64:
      return "UINT64";
    case ColumnType::kBool:
      return "BOOL";
    case ColumnType::kName:
    case ColumnType::kText:
      return "TEXT";
  }
  return "";
}

void AppendColumn(const TableColumn& column, std::string* text) {
  absl::StrAppend(text, "| `", column.name, "` | ", TypeName(column.type),
                  column.is_nullable ? " or NULL" : "", " | ",
                  absl::StrReplaceAll(column.meaning, {{"|", "\\|"}}), " |\n");
}

}  // namespace

std::string DescribeTables() {
  std::string text;
  for (const TableInfo& table : AllTables()) {
    absl::StrAppend(&text, "\n## ", table.name, "\n\nA row is ", table.row, ".");
    if (!table.order.empty()) absl::StrAppend(&text, " Sorted by `", table.order, "`.");
    if (!table.memory.empty()) {
      absl::StrAppend(&text, " Making it takes memory that grows with the number of ", table.memory,
                      ".");
    }
    absl::StrAppend(&text, "\n\n| column | type | meaning |\n|---|---|---|\n");
    AppendColumn(kTraceIdColumn, &text);
    for (const TableColumn& column : table.columns) AppendColumn(column, &text);
  }
  return text;
}

}  // namespace gotrace::internal
