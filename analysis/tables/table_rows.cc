#include "analysis/tables/table_rows.h"

#include "absl/algorithm/container.h"

namespace gotrace {
namespace {

enum : bool { kRequired = false, kNullable = true };

#define GOTRACE_TABLE(id, ...) constexpr TableColumn k##id##Columns[] = {
#define GOTRACE_COLUMN(id, name, type, null, meaning) \
  {#name, ColumnType::k##type, k##null, meaning},
#define GOTRACE_TABLE_END(id) \
  }                           \
  ;
#include "gotrace/internal/tables.def"

constexpr TableInfo kTables[] = {
#define GOTRACE_TABLE(id, name, order, row, memory) \
  {TableId::k##id, #name, order, row, memory, k##id##Columns},
#define GOTRACE_COLUMN(...)
#define GOTRACE_TABLE_END(id)
#include "gotrace/internal/tables.def"
};

}  // namespace

absl::Span<const TableInfo> AllTables() { return kTables; }

const TableInfo* FindTable(absl::string_view name) {
  const auto found =
      absl::c_find_if(kTables, [&](const TableInfo& table) { return table.name == name; });
  return found == std::end(kTables) ? nullptr : found;
}

std::optional<size_t> TableInfo::FindColumn(absl::string_view column) const {
  const auto found =
      absl::c_find_if(columns, [&](const TableColumn& one) { return one.name == column; });
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

TableOutput::TableOutput(const TableOptions& options, const Interner* interner,
                         TableConsumer* consumer)
    : capacity_(std::max<size_t>(options.rows, 1)), consumer_(*consumer) {
  tables_.reserve(kTableIdEnd);
  for (const TableInfo& info : kTables) {
    const TableOptions::Columns columns = options.tables[static_cast<size_t>(info.id)];
    Table& table = tables_.emplace_back(
        Table{columns.has_value(), columns.value_or(0), TableRows(&info, interner)});
    if (!table.is_wanted) continue;
    table.rows.columns_.resize(info.columns.size());
    for (size_t i = 0; i < info.columns.size(); ++i) {
      if ((table.columns >> i & 1) == 0) continue;
      table.rows.columns_[i].values.resize(capacity_);
      if (info.columns[i].is_nullable) table.rows.columns_[i].present.resize(capacity_);
    }
  }
}

void TableOutput::Flush() {
  for (Table& table : tables_) Flush(&table);
}

void TableOutput::Flush(Table* table) {
  if (table->rows.size_ == 0) return;
  consumer_.AddRows(table->rows);
  table->rows.size_ = 0;
  table->rows.texts_.clear();
}

}  // namespace gotrace
