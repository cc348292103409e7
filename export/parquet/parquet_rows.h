// Writes the rows of a table as a Parquet file.
#ifndef GOTRACE_EXPORT_PARQUET_PARQUET_ROWS_H_
#define GOTRACE_EXPORT_PARQUET_PARQUET_ROWS_H_

#include <memory>
#include <string>

#include "export/rows/rows_writer.h"
#include "gotrace/byte_sink.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// The version of the tables that files state: `gotrace.schema`.
inline constexpr int kTableSchemaVersion = 2;

struct ParquetRowsOptions {
  // Whether columns of UINT64 are written as INT64 with the same bits.
  bool is_signed = false;
  // Whether traces come in order of their ids, and the rows of each in the order of the table.
  bool is_sorted = false;
  // Where all rows come from: `gotrace.source`. "" if they come from several files.
  std::string source = {};
  // The release of gotrace: `gotrace.version`.
  std::string version = {};
};

// Returns a writer of the rows of `table`. `*out` must be empty, and outlive it. A row group has
// rows of several traces only if they are few.
std::unique_ptr<RowsWriter> MakeParquetRowsWriter(const ParquetRowsOptions& options,
                                                  const TableInfo& table, ByteSink* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_PARQUET_ROWS_H_
