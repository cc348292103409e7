// Writes the pages of column chunks: a column chunk is the values of one column in one row group.
#ifndef GOTRACE_EXPORT_PARQUET_CHUNK_WRITER_H_
#define GOTRACE_EXPORT_PARQUET_CHUNK_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "export/parquet/bloom_filter.h"
#include "export/parquet/parquet_format.h"
#include "gotrace/byte_sink.h"

struct ZSTD_CCtx_s;

namespace gotrace::internal::parquet {

// Compresses with zstd. One context serves all pages of a file.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Returns the compressed bytes, valid until the next call; "" if memory ran out.
  absl::string_view Compress(absl::string_view bytes);

  // Returns whether memory sufficed for all calls.
  bool ok() const { return ok_; }

 private:
  ZSTD_CCtx_s* const context_;
  bool ok_;
  std::string out_;
};

// A leaf of the schema, which holds values: a column, or the keys or the values of a map.
struct Leaf {
  std::vector<std::string> path;
  PhysicalType type = PhysicalType::kInt64;
  int bits = 64;          // Of an integer.
  bool is_signed = true;  // Of an integer.
  int max_definition = 0;
  int max_repetition = 0;
  bool bloom_filter = false;
};

// The smallest or largest value of a page or chunk, or for texts a shorter bound.
struct Bound {
  std::string order;  // Bytes that compare like the values.
  std::string value;  // As stored in the file.
  bool is_exact = true;
};

struct Page {
  Encoding encoding = Encoding::kPlain;
  size_t first_row = 0;
  size_t entries = 0;  // Values and nulls.
  size_t nulls = 0;    // Includes empty maps and null maps.
  Bound min, max;      // Set if there is a value that is not null.
};

// The description of a chunk in the footer.
struct Chunk {
  std::string meta_data;     // A ColumnMetaData.
  std::string column_index;  // A ColumnIndex.
  std::string offset_index;  // An OffsetIndex.
  uint64_t offset = 0;       // Of the first page.
  uint64_t compressed_size = 0;
  uint64_t uncompressed_size = 0;
};

// Writes the pages of one chunk: the dictionary, if there is one, and then the data pages.
class ChunkWriter {
 public:
  // The arguments must outlive this object.
  ChunkWriter(const Leaf* leaf, Compressor* compressor, ByteSink* sink);

  void WriteDictionary(size_t entries, absl::string_view body);
  void WritePage(Page page, absl::string_view body);

  // Call it after the last page. `filter_offset` and `filter_length` are the place of the chunk's
  // Bloom filter; the length is 0 if there is none.
  Chunk Finish(uint64_t filter_offset, size_t filter_length) const;

 private:
  struct Location {
    uint64_t offset;
    size_t size;
  };

  // Writes a page with its header, of which `add_header` writes the part that depends on the type.
  template <typename AddHeader>
  Location Write(PageType type, absl::string_view body, AddHeader add_header);
  std::string MakeMetaData(uint64_t filter_offset, size_t filter_length) const;
  std::string MakeColumnIndex() const;
  std::string MakeOffsetIndex() const;

  const Leaf& leaf_;
  Compressor& compressor_;
  ByteSink& sink_;
  const uint64_t offset_;
  bool has_dictionary_ = false;
  uint64_t first_data_page_ = 0;
  uint64_t uncompressed_size_ = 0;
  std::vector<Page> pages_;
  std::vector<Location> locations_;  // Of each page.
};

// Appends the header of a Bloom filter, which its bytes follow.
void AppendBloomFilterHeader(size_t bytes, std::string* out);

}  // namespace gotrace::internal::parquet

#endif  // GOTRACE_EXPORT_PARQUET_CHUNK_WRITER_H_
