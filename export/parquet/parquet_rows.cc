// A column of names has handles: their StringIds, which are mapped to numbers that stay the same
// for the whole file, since each trace has an interner of its own.
#include "export/parquet/parquet_rows.h"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/parquet/parquet_writer.h"

namespace gotrace::internal {
namespace {

// A trace begins a new row group if the current one has at least this many rows.
constexpr uint64_t kFewRows = 30'000;

ParquetType TypeOf(ColumnType type, bool is_signed) {
  switch (type) {
    case ColumnType::kInt64:
      return ParquetType::kInt64;
    case ColumnType::kUint64:
      return is_signed ? ParquetType::kInt64 : ParquetType::kUint64;
    case ColumnType::kBool:
      return ParquetType::kBool;
    case ColumnType::kName:
      return ParquetType::kText;
    case ColumnType::kText:
      return ParquetType::kFreeText;
  }
  return ParquetType::kInt64;
}

// Returns whether queries compare the column with =, and its smallest and largest values do not
// help.
bool HasBloomFilter(TableId table, absl::string_view column) {
  return column == kTraceIdColumn.name || column == "g" || column == "reason" ||
         (table == TableId::kGoroutines && column == "name");
}

class ParquetRowsWriter final : public RowsWriter {
 public:
  ParquetRowsWriter(const ParquetRowsOptions& options, const TableInfo& table, ByteSink* out)
      : table_(table),
        writer_(
            ColumnsOf(options, table), OptionsFor(options, table),
            [this](uint64_t handle) { return absl::string_view(names_[handle]); }, out) {
    if (!options.source.empty()) writer_.AddMetadata("gotrace.source", options.source);
    columns_.resize(table_.columns.size() + 1);
    mapped_.resize(table_.columns.size());
  }

  void BeginTrace(int64_t trace_id) override {
    trace_id_ = static_cast<uint64_t>(trace_id);
    handles_.clear();
    if (writer_.rows() - row_group_begin_ < kFewRows) return;
    writer_.EndRowGroup();
    row_group_begin_ = writer_.rows();
  }

  void Add(const TableRows& rows) override {
    const size_t size = rows.size();
    trace_ids_.assign(size, trace_id_);
    columns_[0] = {.values = trace_ids_, .present = {}, .texts = {}, .maps = {}};
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const TableRows::Column& column = rows.column(i);
      ColumnValues& values = columns_[i + 1];
      values = {};
      if (!column.present.empty()) {
        values.present = absl::MakeConstSpan(column.present).subspan(0, size);
      }
      switch (table_.columns[i].type) {
        case ColumnType::kName:
          MapNames(rows, i);
          values.values = mapped_[i];
          break;
        case ColumnType::kText:
          values.texts = TextsOf(rows, i);
          break;
        default:
          values.values = absl::MakeConstSpan(column.values).subspan(0, size);
          break;
      }
    }
    writer_.Append(size, columns_);
    texts_.clear();
  }

  absl::Status Finish(bool is_complete) override {
    writer_.AddMetadata("gotrace.complete", is_complete ? "true" : "false");
    return writer_.Finish();
  }

 private:
  static std::vector<ParquetColumn> ColumnsOf(const ParquetRowsOptions& options,
                                              const TableInfo& table) {
    std::vector<ParquetColumn> columns;
    const auto add = [&](const TableColumn& column) {
      columns.push_back({.name = std::string(column.name),
                         .type = TypeOf(column.type, options.is_signed),
                         .nullable = column.is_nullable,
                         .bloom_filter = HasBloomFilter(table.id, column.name)});
    };
    add(kTraceIdColumn);
    for (const TableColumn& column : table.columns) add(column);
    return columns;
  }

  static ParquetOptions OptionsFor(const ParquetRowsOptions& options, const TableInfo& table) {
    ParquetOptions parquet;
    if (options.is_sorted) {
      parquet.sorting_columns = {0};
      if (const auto order = table.FindColumn(table.order)) {
        parquet.sorting_columns.push_back(*order + 1);
      }
    }
    parquet.metadata = {{"gotrace.schema", absl::StrCat(kTableSchemaVersion)},
                        {"gotrace.table", std::string(table.name)},
                        {"gotrace.version", options.version}};
    parquet.created_by = absl::StrCat("gotrace version ", options.version);
    return parquet;
  }

  // Sets mapped_ for the column.
  void MapNames(const TableRows& rows, size_t column) {
    const std::vector<uint64_t>& ids = rows.column(column).values;
    std::vector<uint64_t>& mapped = mapped_[column];
    mapped.resize(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      mapped[row] = rows.IsNull(column, row) ? 0 : HandleOf(rows.interner(), ids[row]);
    }
  }

  uint64_t HandleOf(const Interner& interner, uint64_t id) {
    constexpr uint32_t kUnknown = ~uint32_t{0};
    if (id >= handles_.size()) handles_.resize(id + 1, kUnknown);
    uint32_t& handle = handles_[id];
    if (handle != kUnknown) return handle;
    const absl::string_view name = interner.String(static_cast<StringId>(id));
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return handle = known->second;
    handle = static_cast<uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(names_.back(), handle);
    return handle;
  }

  absl::Span<const absl::string_view> TextsOf(const TableRows& rows, size_t column) {
    std::vector<absl::string_view>& texts = texts_.emplace_back(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      if (!rows.IsNull(column, row)) texts[row] = rows.Text(column, row);
    }
    return texts;
  }

  const TableInfo& table_;
  std::deque<std::string> names_;                             // By handle.
  absl::flat_hash_map<absl::string_view, uint32_t> numbers_;  // The handles of names_.
  std::vector<uint32_t> handles_;                             // By StringId of the trace.
  uint64_t trace_id_ = 0;
  uint64_t row_group_begin_ = 0;

  // The rows that are being appended.
  std::vector<ColumnValues> columns_;
  std::vector<uint64_t> trace_ids_;
  std::vector<std::vector<uint64_t>> mapped_;
  std::deque<std::vector<absl::string_view>> texts_;

  ParquetWriter writer_;
};

}  // namespace

std::unique_ptr<RowsWriter> MakeParquetRowsWriter(const ParquetRowsOptions& options,
                                                  const TableInfo& table, ByteSink* out) {
  return std::make_unique<ParquetRowsWriter>(options, table, out);
}

}  // namespace gotrace::internal
