// A table in memory, for tests that make, write, read and print it.
#ifndef GOTRACE_EXPORT_PARQUET_PARQUET_TABLE_H_
#define GOTRACE_EXPORT_PARQUET_PARQUET_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "export/parquet/parquet_writer.h"

namespace gotrace::internal {

// A column with its values. `present` and the vectors for its type have an element for each row,
// which is 0 or empty for null.
struct ParquetTableColumn {
  ParquetColumn column;
  std::vector<uint8_t> present;
  std::vector<uint64_t> integers;  // Extended to 64 bits.
  std::vector<std::string> texts;
  std::vector<std::vector<std::pair<std::string, std::string>>> maps;
};

struct ParquetTable {
  size_t rows = 0;
  std::vector<ParquetTableColumn> columns;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Returns the table as a file. Calls Append() with the numbers of rows in `batches`, in turn.
absl::StatusOr<std::string> WriteParquet(const ParquetTable& table, ParquetOptions options,
                                         std::vector<size_t> batches = {1000});

// Changes the values like the writer does: integers are reduced to the bits of their types, and
// bytes that are not UTF-8 become U+FFFD.
void MakeValid(ParquetTable* table);

// Returns the first difference between two tables, or an empty text. kText and kFreeText count as
// the same, since they are the same in a file.
std::string FindDifference(const ParquetTable& expected, const ParquetTable& actual);

// Returns a JSON object for each row, on a line of its own. Integers are strings, since not every
// reader of JSON keeps 64 bits.
std::string ToJsonLines(const ParquetTable& table);

struct RandomTable {
  ParquetTable table;  // Valid.
  ParquetOptions options;
  std::vector<size_t> batches;
};

// Returns a table for a seed: any types, nulls, distributions of values and options, also extreme
// ones, with up to `max_rows` rows.
RandomTable MakeRandomTable(uint64_t seed, size_t max_rows);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_PARQUET_TABLE_H_
