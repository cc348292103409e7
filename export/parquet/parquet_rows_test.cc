#include "export/parquet/parquet_rows.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/core/built_events.h"
#include "export/parquet/checked_files.h"
#include "export/parquet/parquet_reader.h"
#include "export/parquet/parquet_table.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gotrace/trace_tables.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace parquet_rows_test {

// What was read of each table.
std::vector<ParquetFile> Check(bool is_complete, CheckedFiles* files) {
  absl::StatusOr<std::vector<ParquetFile>> read = files->Check(is_complete);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *std::move(read) : std::vector<ParquetFile>(kTableIdEnd);
}

void Write(const std::string& trace, int64_t trace_id, CheckedFiles* files) {
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
  CheckedFiles files({.is_sorted = true, .source = "a.trace"});
  Write("go1.27-annotations.trace", 7, &files);
  const std::vector<ParquetFile> read = Check(/*is_complete=*/true, &files);
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
    CheckedFiles files({.is_signed = is_signed});
    int64_t id = 1;
    for (const std::string trace :
         {"go1.27-gc.trace", "go1.22-annotations.trace", "go1.27-alloc.trace",
          "go1.25-oddstrings.trace", "go1.27-cpuprofile.trace"}) {
      Write(trace, id++, &files);
    }
    const std::vector<ParquetFile> read = Check(/*is_complete=*/false, &files);
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
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  const absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  CheckedFiles files({});
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
  const std::vector<ParquetFile> read = Check(/*is_complete=*/true, &files);
  for (const auto& group : FileOf(read, TableId::kMetrics).row_groups) sizes.push_back(group.rows);
  EXPECT_EQ(sizes, (std::vector<size_t>{40'000, 40'100, 200}));
}

}  // namespace parquet_rows_test
}  // namespace gotrace::internal
