// Writes the rows of a table as text: CSV, TSV or JSON lines.
#ifndef GOTRACE_EXPORT_ROWS_TEXT_ROWS_H_
#define GOTRACE_EXPORT_ROWS_TEXT_ROWS_H_

#include <cstdint>
#include <memory>

#include "export/rows/rows_writer.h"
#include "gotrace/byte_sink.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// In all formats, bytes of a text that are not UTF-8 become U+FFFD, as in Parquet files.
enum class TextRowsFormat : uint8_t {
  // RFC 4180, except that lines end in "\n". The first line has the names of the columns. NULL is
  // empty, and an empty text is "".
  kCsv,
  // As ClickHouse's TabSeparatedWithNames: the first line has the names of the columns; a tab, a
  // line break, a backslash and the like are escaped with a backslash; NULL is \N.
  kTsv,
  // An object on a line for each row. NULL is null.
  kJsonLines,
};

// Returns a writer of the rows of `table`. `*out` must outlive it.
std::unique_ptr<RowsWriter> MakeTextRowsWriter(TextRowsFormat format, const TableInfo& table,
                                               ByteSink* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_ROWS_TEXT_ROWS_H_
