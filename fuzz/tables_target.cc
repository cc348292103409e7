// Fuzzes the tables of traces and their Parquet files: a reader of the files finds the rows that
// were written, whatever the trace is.
#include <string>
#include <vector>

#include "export/parquet/checked_files.h"
#include "fuzz/target.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {
namespace {

void CheckTables(absl::string_view input, ReadMode mode) {
  ReaderOptions reader_options;
  reader_options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, reader_options);
  if (!reader.ok()) return;
  TableOptions options;
  options.tables.fill(TableOptions::kAllColumns);
  options.stack_ids_without_pc = mode != ReadMode::kStrict;
  options.rows = 7;
  CheckedFiles files({});
  files.BeginTrace(1);
  TraceTables tables(&*reader, options, &files);
  ReadInto(*reader, {&tables}).IgnoreError();  // A broken trace has rows, too.
  const absl::StatusOr<std::vector<ParquetFile>> read = files.Check(reader->status().ok());
  FUZZ_CHECK(read.ok(), read.status().ToString());
  FUZZ_CHECK((*read)[static_cast<size_t>(TableId::kEvents)].table.rows == reader->event_count(),
             "");
  FUZZ_CHECK((*read)[static_cast<size_t>(TableId::kTraces)].table.rows == 1, "");
}

}  // namespace

void RunTarget(absl::string_view input) {
  CheckTables(input, ReadMode::kStrict);
  CheckTables(input, ReadMode::kSalvage);
}

}  // namespace gotrace::internal
