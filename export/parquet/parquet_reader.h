// Reads Parquet files that ParquetWriter wrote, and checks all statistics and indexes against the
// values. For tests.
#ifndef GOTRACE_EXPORT_PARQUET_PARQUET_READER_H_
#define GOTRACE_EXPORT_PARQUET_PARQUET_READER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/parquet/parquet_format.h"
#include "export/parquet/parquet_table.h"

namespace gotrace::internal {

struct ParquetFile {
  ParquetTable table;
  std::string created_by;
  struct RowGroup {
    size_t rows = 0;
    std::vector<size_t> sorting_columns;  // Leaves.
    struct Chunk {
      std::map<parquet::Encoding, size_t> pages;  // How many data pages have an encoding.
      size_t dictionary_entries = 0;
      size_t filter_bytes = 0;  // Of the Bloom filter; 0 if there is none.
      std::string min, max;
      bool is_min_exact = false, is_max_exact = false;
      parquet::BoundaryOrder order = parquet::BoundaryOrder::kUnordered;
      uint64_t compressed_size = 0;
    };
    std::vector<Chunk> chunks;  // Of each leaf.
  };
  std::vector<RowGroup> row_groups;
};

struct ParquetReadOptions {
  bool checks_crc = true;
  size_t max_values = size_t{1} << 28;  // Values and nulls.
  size_t max_bytes = size_t{1} << 32;   // Of pages and texts.
};

// Reads `bytes`, a whole file. Returns an InvalidArgumentError if it is not valid, uses a part of
// the format that the writer does not use, or has checksums, sizes, statistics, indexes or filters
// that do not match its values. Returns a ResourceExhaustedError if it exceeds `options`.
absl::StatusOr<ParquetFile> ReadParquet(absl::string_view bytes,
                                        const ParquetReadOptions& options = {});

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_PARQUET_READER_H_
