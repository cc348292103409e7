// Writes tables as Parquet files, column by column.
//
// FORMAT.md lists the parts of the format that are written. The encoding of a column is chosen from
// its values, for each row group.
//
// Memory: a row group is kept in memory until it is complete. It takes 8 bytes for each integer, 4
// for each text, 40 plus its characters for each different text (or for each text, if most are
// different), and one for each row of a column that has a null in the group.
// ParquetOptions::row_group_bytes limits the sum of these. Encoding it takes about as much as its
// largest column. In addition, a column with handles keeps 4 bytes for each handle up to the
// largest one seen, and the footer needs about 300 bytes for each column of each complete row
// group, and 50 for each page.
#ifndef GOTRACE_EXPORT_PARQUET_PARQUET_WRITER_H_
#define GOTRACE_EXPORT_PARQUET_PARQUET_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"

namespace gotrace::internal {

enum class ParquetType : uint8_t {
  kBool,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kText,      // Text that repeats, given as handles: ColumnValues::values.
  kFreeText,  // Text, given directly: ColumnValues::texts. In the file the same as kText.
  kTextMap,   // A map from text to text: ColumnValues::maps.
};

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::kInt64;
  bool nullable = false;
  bool bloom_filter =
      false;  // Whether to write filters for look-ups by value. Not for bools and maps.
};

struct ParquetOptions {
  // A row group ends when it has this many rows, or takes this much memory (see above).
  size_t row_group_rows = 122'880;
  size_t row_group_bytes = size_t{256} << 20;
  // A page has at least this many rows, at most 2^20, unless it would exceed about `page_bytes`
  // before compression.
  size_t page_rows = 20'480;
  size_t page_bytes = size_t{1} << 20;
  int zstd_level = 3;
  // The columns by which the rows are sorted, in ascending order with nulls last. Not checked.
  std::vector<size_t> sorting_columns;
  // Keys and values that readers find in the footer.
  std::vector<std::pair<std::string, std::string>> metadata;
  // The program that writes the file: "NAME version VERSION", which some readers parse.
  std::string created_by = "gotrace version 1";
};

// The entries of a map. Keys should be unique.
using ParquetMap = absl::Span<const std::pair<absl::string_view, absl::string_view>>;

// The values of a column for some rows. The type of the column determines which of `values`,
// `texts` and `maps` is used; the others are empty.
struct ColumnValues {
  // One for each row: the bits of an integer (the lower 32 for 32-bit types), a bool as 0 or 1, or
  // the handle of a text. Elements of null rows are ignored.
  absl::Span<const uint64_t> values;
  // Empty if no row is null, and otherwise 1 (not null) or 0 (null) for each row.
  absl::Span<const uint8_t> present;
  // One for each row. Bytes that are not UTF-8 become U+FFFD, here and in maps and texts with
  // handles.
  absl::Span<const absl::string_view> texts;
  absl::Span<const ParquetMap> maps;
};

// Returns the text of a handle. The same handle has the same text while a writer exists; the view
// needs to be valid only until the next call. Handles should be small numbers.
using ParquetTexts = std::function<absl::string_view(uint64_t handle)>;

// Writes one file. The bytes depend only on the rows and the options, not on how the rows are
// divided between calls of Append().
class ParquetWriter {
 public:
  // `texts` is called by Append(), and may be empty if there are no columns of kText. `sink`, which
  // must be empty, must outlive the writer.
  ParquetWriter(std::vector<ParquetColumn> columns, ParquetOptions options, ParquetTexts texts,
                ByteSink* sink);
  ~ParquetWriter();
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;

  // Appends `rows` rows. `columns` are the values of each column, in the order of the schema. All
  // data is copied. Does nothing after an error.
  void Append(size_t rows, absl::Span<const ColumnValues> columns);

  // Ends the row group, if it has any rows. The next row begins another one.
  void EndRowGroup();

  // Adds a key and its value to ParquetOptions::metadata.
  void AddMetadata(std::string key, std::string value);

  // Writes the remaining rows and the footer, without which the file is not valid. Does not finish
  // the sink. Returns status(). Call it once, last.
  absl::Status Finish();

  // Returns OK, or the first error: an InvalidArgumentError if the columns, options or values are
  // not as described here, a ResourceExhaustedError if something is larger than the format allows
  // or memory ran out, or an error of the sink.
  const absl::Status& status() const;

  // Returns how many rows were appended.
  uint64_t rows() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_PARQUET_WRITER_H_
