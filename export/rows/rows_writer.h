// Writes the rows of one table to a file of any format.
#ifndef GOTRACE_EXPORT_ROWS_ROWS_WRITER_H_
#define GOTRACE_EXPORT_ROWS_ROWS_WRITER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// The first column of every table in a file.
inline constexpr TableColumn kTraceIdColumn = {
    "trace_id", ColumnType::kInt64, /*is_nullable=*/false,
    "The trace: a hash of the file that it was read from, as it is stored."};

class RowsWriter {
 public:
  virtual ~RowsWriter() = default;

  // Begins the rows of a trace. Call it before its first rows. Rows may have another interner than
  // those of the previous trace.
  virtual void BeginTrace(int64_t trace_id) = 0;

  // Appends rows of the table, which must have all of its columns. The sink keeps errors.
  virtual void Add(const TableRows& rows) = 0;

  // Appends the rest of the output. Call it once, last. `is_complete` says whether all traces were
  // read to their ends without a fault. Does not finish the sink.
  virtual absl::Status Finish(bool is_complete) = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_ROWS_ROWS_WRITER_H_
