// Collects the values of a leaf column for a row group, chooses how to encode them, and writes them
// as a column chunk.
#ifndef GOTRACE_EXPORT_PARQUET_LEAF_WRITER_H_
#define GOTRACE_EXPORT_PARQUET_LEAF_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/parquet/chunk_writer.h"
#include "export/parquet/parquet_writer.h"

namespace gotrace::internal::parquet {

// The maximum number of rows in a page, however small the values. With 8 bytes for each value, a
// page is far below the limit of 2 GB.
constexpr size_t kMaxPageRows = size_t{1} << 20;

// The objects that all columns of a file share: the output, the options, and memory for one column
// at a time.
struct WriteContext {
  const ParquetOptions* options = nullptr;
  Compressor* compressor = nullptr;
  ByteSink* sink = nullptr;
  std::string page;               // The page that is being encoded.
  std::vector<uint32_t> indices;  // For each value of a column, its place in the dictionary.
  std::vector<uint32_t> slots;    // The hash table of a dictionary of integers.
};

// The values of a leaf column.
class LeafWriter {
 public:
  explicit LeafWriter(Leaf leaf) : leaf_(std::move(leaf)) {}
  virtual ~LeafWriter() = default;

  const Leaf& leaf() const { return leaf_; }

  // Returns about how much memory the row group takes.
  virtual size_t bytes() const { return definitions_.size() + repetitions_.size(); }

  // Writes the chunk, and begins the next row group.
  Chunk WriteChunk(WriteContext* context);

 protected:
  // Adds `count` rows of a column that is not nested. A row is null where `present`, which has
  // `count` elements or none, is 0.
  void AddRows(size_t count, absl::Span<const uint8_t> present);
  // Adds an entry of a map, or a map without entries.
  void AddEntry(bool begins_row, int definition);

  virtual size_t values() const = 0;
  // Chooses the encoding, and writes the dictionary if there is one.
  virtual void BeginChunk(WriteContext* context, ChunkWriter* chunk) = 0;
  // Returns about how large the values [begin, end) are in a page, before compression.
  virtual size_t SizeOf(size_t begin, size_t end) const = 0;
  // Appends the values [begin, end), at least one, to `context->page`. Sets the encoding and the
  // bounds of `page`.
  virtual void EncodeValues(size_t begin, size_t end, WriteContext* context, Page* page) = 0;
  virtual void AddTo(BloomFilter* filter) const = 0;
  // Returns the maximum number of different values.
  virtual size_t distinct_values() const = 0;
  // Forgets the values.
  virtual void EndChunk() = 0;

 private:
  // A position in a row group.
  struct Position {
    size_t row = 0;
    size_t entry = 0;
    size_t value = 0;
  };

  Position Advance(Position from, size_t rows) const;
  Position FindPageEnd(Position begin, const ParquetOptions& options) const;
  void WritePage(Position begin, Position end, WriteContext* context, ChunkWriter* chunk);

  const Leaf leaf_;
  size_t rows_ = 0;
  size_t entries_ = 0;  // The same as rows, except in maps.
  // The levels of each entry. Of a column that is not nested, empty if nothing is null.
  std::vector<uint8_t> definitions_;
  std::vector<uint8_t> repetitions_;
};

class IntegerWriter : public LeafWriter {
 public:
  using LeafWriter::LeafWriter;

  // Appends rows. `values` has an element for each row, including null.
  void Append(absl::Span<const uint64_t> values, absl::Span<const uint8_t> present);

  size_t bytes() const override {
    return LeafWriter::bytes() + values_.size() * sizeof(values_[0]);
  }

 private:
  size_t values() const override { return values_.size(); }
  void BeginChunk(WriteContext* context, ChunkWriter* chunk) override;
  size_t SizeOf(size_t begin, size_t end) const override;
  void EncodeValues(size_t begin, size_t end, WriteContext* context, Page* page) override;
  void AddTo(BloomFilter* filter) const override;
  size_t distinct_values() const override;
  void EndChunk() override;

  bool MakeDictionary(WriteContext* context);
  void AppendPlain(absl::Span<const uint64_t> values, std::string* out) const;
  absl::Span<const uint64_t> Sample() const;
  Bound MakeBound(uint64_t value) const;

  std::vector<uint64_t> values_;  // Without nulls, extended to 64 bits.
  Encoding encoding_ = Encoding::kPlain;
  size_t bits_each_ = 64;             // About the size of a value.
  std::vector<uint64_t> dictionary_;  // In order of appearance; empty if there is none.
};

class TextWriter : public LeafWriter {
 public:
  TextWriter(Leaf leaf, const ParquetTexts* texts) : LeafWriter(std::move(leaf)), texts_(texts) {}

  // Append rows with handles of texts, or with texts; see ColumnValues.
  absl::Status AppendHandles(absl::Span<const uint64_t> handles, absl::Span<const uint8_t> present);
  absl::Status AppendTexts(absl::Span<const absl::string_view> texts,
                           absl::Span<const uint8_t> present);
  // An entry of a map.
  absl::Status AppendEntry(bool begins_row, absl::string_view text);
  // A map without entries, or null.
  void AppendNoEntry(int definition) { AddEntry(true, definition); }

  size_t bytes() const override;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  size_t values() const override { return indices_.size(); }
  void BeginChunk(WriteContext* context, ChunkWriter* chunk) override;
  size_t SizeOf(size_t begin, size_t end) const override;
  void EncodeValues(size_t begin, size_t end, WriteContext* context, Page* page) override;
  void AddTo(BloomFilter* filter) const override;
  size_t distinct_values() const override { return ends_.size(); }
  void EndChunk() override;

  // Adds a text to the table, unless it is there, and returns its index.
  absl::StatusOr<uint32_t> AddText(absl::string_view text);
  absl::Status AddHandle(uint64_t handle);
  absl::string_view TextAt(uint32_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(characters_).substr(begin, ends_[index] - begin);
  }
  void FindBounds(size_t begin, size_t end, Page* page);

  const ParquetTexts* const texts_;
  std::vector<uint32_t> indices_;  // For each value, the index of its text in the table.
  // The table of texts: all characters, and the end of each text.
  std::string characters_;
  std::vector<size_t> ends_;
  // From the hash of a text to its index.
  absl::flat_hash_map<uint64_t, uint32_t> index_of_hash_;
  // Whether equal texts share an entry. False once most texts turned out to be different.
  bool finds_equal_ = true;
  std::vector<uint32_t> index_of_handle_;  // kNone if the row group does not have it yet.
  std::vector<uint64_t> handles_;          // The handles that it has.
  std::string repaired_;
  bool has_dictionary_ = false;
  // For each text, the last page that has it, so that each text is examined only once per page.
  std::vector<uint32_t> page_of_text_;
  uint32_t page_ = 0;
};

}  // namespace gotrace::internal::parquet

#endif  // GOTRACE_EXPORT_PARQUET_LEAF_WRITER_H_
