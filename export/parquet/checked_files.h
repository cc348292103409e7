// The tables of traces as Parquet files that are read back. For tests.
#ifndef GOTRACE_EXPORT_PARQUET_CHECKED_FILES_H_
#define GOTRACE_EXPORT_PARQUET_CHECKED_FILES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/parquet_reader.h"
#include "export/parquet/parquet_rows.h"
#include "export/parquet/parquet_table.h"
#include "gotrace/byte_sink.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// Writes each table as a file in memory, and keeps the expected contents.
class CheckedFiles final : public TableConsumer {
 public:
  explicit CheckedFiles(ParquetRowsOptions options) : is_signed_(options.is_signed) {
    options.version = "0.1";
    for (const TableInfo& table : AllTables()) {
      File& file = FileOf(table.id);
      file.sink = SinkToString(&file.bytes);
      file.writer = MakeParquetRowsWriter(options, table, file.sink.get());
      file.expected.metadata = {{"gotrace.schema", "2"},
                                {"gotrace.table", std::string(table.name)},
                                {"gotrace.version", "0.1"}};
      if (!options.source.empty()) {
        file.expected.metadata.emplace_back("gotrace.source", options.source);
      }
      AddColumn(kTraceIdColumn, &file);
      for (const TableColumn& column : table.columns) AddColumn(column, &file);
    }
  }

  void BeginTrace(int64_t trace_id) {
    trace_id_ = static_cast<uint64_t>(trace_id);
    for (File& file : files_) file.writer->BeginTrace(trace_id);
  }

  void AddRows(const TableRows& rows) override {
    File& file = FileOf(rows.info().id);
    file.writer->Add(rows);
    for (size_t row = 0; row < rows.size(); ++row) {
      AddCell(/*is_null=*/false, trace_id_, "", &file.expected.columns[0]);
      for (size_t i = 0; i < rows.info().columns.size(); ++i) {
        const ColumnType type = rows.info().columns[i].type;
        const bool is_null = rows.IsNull(i, row);
        const bool is_text = type == ColumnType::kName || type == ColumnType::kText;
        AddCell(is_null, is_null || is_text ? 0 : rows.column(i).values[row],
                is_text && !is_null ? rows.Text(i, row) : "", &file.expected.columns[i + 1]);
      }
      ++file.expected.rows;
    }
  }

  // Ends the files and reads them. Returns the contents of each table, or the first difference from
  // the expected contents.
  absl::StatusOr<std::vector<ParquetFile>> Check(bool is_complete) {
    std::vector<ParquetFile> files;
    for (const TableInfo& table : AllTables()) {
      File& file = FileOf(table.id);
      absl::Status status = file.writer->Finish(is_complete);
      status.Update(file.sink->Finish());
      if (!status.ok()) return status;
      file.expected.metadata.emplace_back("gotrace.complete", is_complete ? "true" : "false");
      absl::StatusOr<ParquetFile> read = ReadParquet(file.bytes);
      if (!read.ok()) return read.status();
      MakeValid(&file.expected);
      const std::string difference = FindDifference(file.expected, read->table);
      if (!difference.empty()) {
        return absl::DataLossError(absl::StrCat(table.name, ": ", difference));
      }
      files.push_back(*std::move(read));
    }
    return files;
  }

 private:
  struct File {
    std::string bytes;
    std::unique_ptr<ByteSink> sink;
    std::unique_ptr<RowsWriter> writer;
    ParquetTable expected;
  };

  File& FileOf(TableId id) { return files_[static_cast<size_t>(id)]; }

  void AddColumn(const TableColumn& column, File* file) const {
    ParquetTableColumn& added = file->expected.columns.emplace_back();
    added.column.name = std::string(column.name);
    added.column.nullable = column.is_nullable;
    switch (column.type) {
      case ColumnType::kInt64:
        added.column.type = ParquetType::kInt64;
        break;
      case ColumnType::kUint64:
        added.column.type = is_signed_ ? ParquetType::kInt64 : ParquetType::kUint64;
        break;
      case ColumnType::kBool:
        added.column.type = ParquetType::kBool;
        break;
      default:
        added.column.type = ParquetType::kText;
        break;
    }
  }

  static void AddCell(bool is_null, uint64_t number, absl::string_view text,
                      ParquetTableColumn* column) {
    column->present.push_back(is_null ? 0 : 1);
    if (column->column.type == ParquetType::kText) {
      column->texts.emplace_back(text);
    } else {
      column->integers.push_back(number);
    }
  }

  const bool is_signed_;
  uint64_t trace_id_ = 0;
  std::array<File, kTableIdEnd> files_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_CHECKED_FILES_H_
