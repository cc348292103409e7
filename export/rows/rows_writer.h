// What writes the rows of one table to a file, whatever its format.
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

  // Begins the rows of a trace. Call it before its first rows. The interner of rows may be another
  // one from now on.
  virtual void BeginTrace(int64_t trace_id) = 0;

  // Appends rows of the table, which must have all of its columns. Errors are those of the sink
  // that is written to, which keeps them.
  virtual void Add(const TableRows& rows) = 0;

  // Appends what is left. Call it once, last. `is_complete` says whether all traces were read to
  // their ends without a fault. Does not finish the sink that is written to.
  virtual absl::Status Finish(bool is_complete) = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_ROWS_ROWS_WRITER_H_
