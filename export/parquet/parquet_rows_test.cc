#include "export/parquet/parquet_rows.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/built_events.h"
#include "export/parquet/parquet_reader.h"
#include "export/parquet/parquet_table.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gotrace/trace_tables.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace {

// Writes each table as a file in memory, and keeps what a reader should find in it.
class Files final : public TableConsumer {
 public:
  explicit Files(ParquetRowsOptions options) : is_signed_(options.is_signed) {
    options.version = "0.1";
    for (const TableInfo& table : AllTables()) {
      File& file = FileOf(table.id);
      file.sink = SinkToString(&file.bytes);
      file.writer = MakeParquetRowsWriter(options, table, file.sink.get());
      file.expected.metadata = {{"gotrace.schema", "1"},
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

  // Ends the files, and expects to read what was written. Returns what was read of each table.
  std::vector<ParquetFile> Check(bool is_complete) {
    std::vector<ParquetFile> files;
    for (const TableInfo& table : AllTables()) {
      SCOPED_TRACE(table.name);
      File& file = FileOf(table.id);
      EXPECT_TRUE(file.writer->Finish(is_complete).ok());
      EXPECT_TRUE(file.sink->Finish().ok());
      file.expected.metadata.emplace_back("gotrace.complete", is_complete ? "true" : "false");
      absl::StatusOr<ParquetFile> read = ReadParquet(file.bytes);
      EXPECT_TRUE(read.ok()) << read.status();
      if (!read.ok()) continue;
      MakeValid(&file.expected);
      EXPECT_EQ(FindDifference(file.expected, read->table), "");
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

void Write(const std::string& trace, int64_t trace_id, Files* files) {
  const std::string bytes = ReadTestTrace(trace);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  TableOptions options;
  for (const TableInfo& table : AllTables()) options.of(table.id) = TableOptions::kAllColumns;
  options.source = trace;
  files->BeginTrace(trace_id);
  TraceTables tables(&*reader, options, files);
  ASSERT_TRUE(ReadInto(*reader, {&tables}).ok());
}

const ParquetFile& FileOf(const std::vector<ParquetFile>& files, TableId id) {
  return files.at(static_cast<size_t>(id));
}

TEST(ParquetRows, AreReadBack) {
  Files files({.is_sorted = true, .source = "a.trace"});
  Write("go1.27-annotations.trace", 7, &files);
  const std::vector<ParquetFile> read = files.Check(/*is_complete=*/true);
  ASSERT_EQ(read.size(), kTableIdEnd);
  const ParquetFile& states = FileOf(read, TableId::kGStates);
  ASSERT_EQ(states.row_groups.size(), 1);
  EXPECT_EQ(states.created_by, "gotrace version 0.1");
  EXPECT_EQ(states.row_groups[0].sorting_columns, (std::vector<size_t>{0, 1}));
  for (size_t i = 0; i < states.table.columns.size(); ++i) {
    const std::string& name = states.table.columns[i].column.name;
    EXPECT_EQ(states.row_groups[0].chunks[i].filter_bytes > 0,
              name == "trace_id" || name == "g" || name == "reason")
        << name;
  }
  EXPECT_EQ(FileOf(read, TableId::kGoroutines).row_groups[0].sorting_columns,
            std::vector<size_t>{0});
}

// Each trace has an interner of its own.
TEST(ParquetRows, HaveSeveralTraces) {
  for (const bool is_signed : {false, true}) {
    Files files({.is_signed = is_signed});
    int64_t id = 1;
    for (const std::string trace :
         {"go1.27-gc.trace", "go1.22-annotations.trace", "go1.27-alloc.trace",
          "go1.25-oddstrings.trace", "go1.27-cpuprofile.trace"}) {
      Write(trace, id++, &files);
    }
    const std::vector<ParquetFile> read = files.Check(/*is_complete=*/false);
    ASSERT_EQ(read.size(), kTableIdEnd);
    EXPECT_EQ(FileOf(read, TableId::kTraces).table.rows, 5);
    const ParquetFile& states = FileOf(read, TableId::kGStates);
    EXPECT_EQ(states.row_groups.size(), 1);
    EXPECT_TRUE(states.row_groups[0].sorting_columns.empty());
    const ParquetTable& metrics = FileOf(read, TableId::kMetrics).table;
    EXPECT_EQ(metrics.columns[3].column.name, "value");
    EXPECT_EQ(metrics.columns[3].column.type,
              is_signed ? ParquetType::kInt64 : ParquetType::kUint64);
  }
}

TEST(ParquetRows, BeginARowGroupForATraceAfterALargeOne) {
  const absl::StatusOr<Reader> reader =
      Reader::FromBytes(ReadTestTrace("go1.27-annotations.trace"));
  ASSERT_TRUE(reader.ok());
  Files files({});
  int64_t id = 1;
  for (const int metrics : {40'000, 100, 40'000, 200}) {
    BuiltEvents events;
    events.Sync(1, 1);
    for (int i = 0; i < metrics; ++i) events.Number(EventType::kHeapAlloc, i + 2, i);
    files.BeginTrace(id++);
    TableOptions options;
    options.of(TableId::kMetrics) = TableOptions::kAllColumns;
    TraceTables tables(&*reader, options, &files);  // The reader is not asked for events.
    tables.Add(events.events());
    ASSERT_TRUE(tables.Finish().ok());
  }
  std::vector<size_t> sizes;
  const std::vector<ParquetFile> read = files.Check(/*is_complete=*/true);
  for (const auto& group : FileOf(read, TableId::kMetrics).row_groups) sizes.push_back(group.rows);
  EXPECT_EQ(sizes, (std::vector<size_t>{40'000, 40'100, 200}));
}

}  // namespace
}  // namespace gotrace::internal
