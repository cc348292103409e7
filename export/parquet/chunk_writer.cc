#include "export/parquet/chunk_writer.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "export/parquet/thrift_compact.h"

namespace gotrace::internal::parquet {

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()), ok_(context_ != nullptr) {
  if (ok_) ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

absl::string_view Compressor::Compress(absl::string_view bytes) {
  if (!ok_) return {};
  const size_t bound = ZSTD_compressBound(bytes.size());
  if (out_.size() < bound) out_.resize(bound);
  const size_t size =
      ZSTD_compress2(context_, out_.data(), out_.size(), bytes.data(), bytes.size());
  ok_ = !ZSTD_isError(size);
  if (!ok_) return {};
  return absl::string_view(out_.data(), size);
}

namespace {

template <typename E>
int32_t Number(E value) {
  return static_cast<int32_t>(value);
}

}  // namespace

ChunkWriter::ChunkWriter(const Leaf* leaf, Compressor* compressor, ByteSink* sink)
    : leaf_(*leaf), compressor_(*compressor), sink_(*sink), offset_(sink->size()) {}

template <typename AddHeader>
ChunkWriter::Location ChunkWriter::Write(PageType type, absl::string_view body,
                                         AddHeader add_header) {
  const absl::string_view compressed = compressor_.Compress(body);
  const uint32_t crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(compressed.data()), compressed.size()));
  std::string header;
  ThriftWriter thrift(&header);
  thrift.Int32(page_header::kType, Number(type));
  thrift.Int32(page_header::kUncompressedSize, static_cast<int32_t>(body.size()));
  thrift.Int32(page_header::kCompressedSize, static_cast<int32_t>(compressed.size()));
  thrift.Int32(page_header::kCrc, static_cast<int32_t>(crc));
  add_header(&thrift);
  thrift.End();
  const Location location = {sink_.size(), header.size() + compressed.size()};
  sink_.Append(header);
  sink_.Append(compressed);
  uncompressed_size_ += header.size() + body.size();
  return location;
}

void ChunkWriter::WriteDictionary(size_t entries, absl::string_view body) {
  has_dictionary_ = true;
  Write(PageType::kDictionary, body, [&](ThriftWriter* thrift) {
    thrift->BeginStruct(page_header::kDictionaryPage);
    thrift->Int32(dictionary_page_header::kNumValues, static_cast<int32_t>(entries));
    thrift->Int32(dictionary_page_header::kEncoding, Number(Encoding::kPlain));
    thrift->End();
  });
}

void ChunkWriter::WritePage(Page page, absl::string_view body) {
  if (pages_.empty()) first_data_page_ = sink_.size();
  locations_.push_back(Write(PageType::kData, body, [&](ThriftWriter* thrift) {
    thrift->BeginStruct(page_header::kDataPage);
    thrift->Int32(data_page_header::kNumValues, static_cast<int32_t>(page.entries));
    thrift->Int32(data_page_header::kEncoding, Number(page.encoding));
    thrift->Int32(data_page_header::kDefinitionLevels, Number(Encoding::kRle));
    thrift->Int32(data_page_header::kRepetitionLevels, Number(Encoding::kRle));
    thrift->End();
  }));
  pages_.push_back(std::move(page));
}

Chunk ChunkWriter::Finish(uint64_t filter_offset, size_t filter_length) const {
  Chunk chunk;
  chunk.meta_data = MakeMetaData(filter_offset, filter_length);
  chunk.column_index = MakeColumnIndex();
  chunk.offset_index = MakeOffsetIndex();
  chunk.offset = offset_;
  chunk.compressed_size = locations_.back().offset + locations_.back().size - offset_;
  chunk.uncompressed_size = uncompressed_size_;
  return chunk;
}

std::string ChunkWriter::MakeMetaData(uint64_t filter_offset, size_t filter_length) const {
  std::set<Encoding> encodings = {Encoding::kRle};
  std::map<Encoding, int32_t> pages_with;
  uint64_t entries = 0, nulls = 0;
  const Page* min = nullptr;
  const Page* max = nullptr;
  bool is_min_exact = false, is_max_exact = false;
  for (const Page& page : pages_) {
    encodings.insert(page.encoding);
    ++pages_with[page.encoding];
    entries += page.entries;
    nulls += page.nulls;
    if (page.nulls == page.entries) continue;
    // Of equal bounds, an exact one makes the result exact.
    if (min == nullptr || page.min.order < min->min.order) min = &page, is_min_exact = false;
    if (page.min.order == min->min.order) is_min_exact |= page.min.is_exact;
    if (max == nullptr || page.max.order > max->max.order) max = &page, is_max_exact = false;
    if (page.max.order == max->max.order) is_max_exact |= page.max.is_exact;
  }
  if (has_dictionary_) encodings.insert(Encoding::kPlain);

  std::string out;
  ThriftWriter thrift(&out);
  thrift.Int32(column_meta_data::kType, Number(leaf_.type));
  thrift.BeginList(column_meta_data::kEncodings, ThriftType::kInt32, encodings.size());
  for (const Encoding encoding : encodings) thrift.IntElement(Number(encoding));
  thrift.BeginList(column_meta_data::kPath, ThriftType::kBinary, leaf_.path.size());
  for (const std::string& name : leaf_.path) thrift.BinaryElement(name);
  thrift.Int32(column_meta_data::kCodec, Number(Codec::kZstd));
  thrift.Int64(column_meta_data::kNumValues, static_cast<int64_t>(entries));
  thrift.Int64(column_meta_data::kTotalUncompressedSize, static_cast<int64_t>(uncompressed_size_));
  const uint64_t end = locations_.back().offset + locations_.back().size;
  thrift.Int64(column_meta_data::kTotalCompressedSize, static_cast<int64_t>(end - offset_));
  thrift.Int64(column_meta_data::kDataPageOffset, static_cast<int64_t>(first_data_page_));
  if (has_dictionary_) {
    thrift.Int64(column_meta_data::kDictionaryPageOffset, static_cast<int64_t>(offset_));
  }
  thrift.BeginStruct(column_meta_data::kStatistics);
  thrift.Int64(statistics::kNullCount, static_cast<int64_t>(nulls));
  if (min != nullptr) {
    thrift.Binary(statistics::kMaxValue, max->max.value);
    thrift.Binary(statistics::kMinValue, min->min.value);
    thrift.Bool(statistics::kIsMaxExact, is_max_exact);
    thrift.Bool(statistics::kIsMinExact, is_min_exact);
  }
  thrift.End();
  thrift.BeginList(column_meta_data::kEncodingStats, ThriftType::kStruct,
                   pages_with.size() + (has_dictionary_ ? 1 : 0));
  const auto add = [&](PageType type, Encoding encoding, int32_t count) {
    thrift.BeginStructElement();
    thrift.Int32(page_encoding_stats::kPageType, Number(type));
    thrift.Int32(page_encoding_stats::kEncoding, Number(encoding));
    thrift.Int32(page_encoding_stats::kCount, count);
    thrift.End();
  };
  if (has_dictionary_) add(PageType::kDictionary, Encoding::kPlain, 1);
  for (const auto& [encoding, count] : pages_with) add(PageType::kData, encoding, count);
  if (filter_length > 0) {
    thrift.Int64(column_meta_data::kBloomFilterOffset, static_cast<int64_t>(filter_offset));
    thrift.Int32(column_meta_data::kBloomFilterLength, static_cast<int32_t>(filter_length));
  }
  thrift.End();
  return out;
}

namespace {

BoundaryOrder FindOrder(const std::vector<Page>& pages) {
  const Page* last = nullptr;
  bool ascends = true, descends = true;
  for (const Page& page : pages) {
    if (page.nulls == page.entries) continue;
    if (last != nullptr) {
      if (page.min.order < last->min.order || page.max.order < last->max.order) ascends = false;
      if (page.min.order > last->min.order || page.max.order > last->max.order) descends = false;
    }
    last = &page;
  }
  return ascends    ? BoundaryOrder::kAscending
         : descends ? BoundaryOrder::kDescending
                    : BoundaryOrder::kUnordered;
}

}  // namespace

std::string ChunkWriter::MakeColumnIndex() const {
  std::string out;
  ThriftWriter thrift(&out);
  thrift.BeginList(column_index::kNullPages, ThriftType::kTrue, pages_.size());
  for (const Page& page : pages_) thrift.BoolElement(page.nulls == page.entries);
  thrift.BeginList(column_index::kMinValues, ThriftType::kBinary, pages_.size());
  for (const Page& page : pages_) thrift.BinaryElement(page.min.value);
  thrift.BeginList(column_index::kMaxValues, ThriftType::kBinary, pages_.size());
  for (const Page& page : pages_) thrift.BinaryElement(page.max.value);
  thrift.Int32(column_index::kBoundaryOrder, Number(FindOrder(pages_)));
  thrift.BeginList(column_index::kNullCounts, ThriftType::kInt64, pages_.size());
  for (const Page& page : pages_) thrift.IntElement(static_cast<int64_t>(page.nulls));
  thrift.End();
  return out;
}

std::string ChunkWriter::MakeOffsetIndex() const {
  std::string out;
  ThriftWriter thrift(&out);
  thrift.BeginList(offset_index::kPages, ThriftType::kStruct, pages_.size());
  for (size_t i = 0; i < pages_.size(); ++i) {
    thrift.BeginStructElement();
    thrift.Int64(page_location::kOffset, static_cast<int64_t>(locations_[i].offset));
    thrift.Int32(page_location::kCompressedSize, static_cast<int32_t>(locations_[i].size));
    thrift.Int64(page_location::kFirstRow, static_cast<int64_t>(pages_[i].first_row));
    thrift.End();
  }
  thrift.End();
  return out;
}

void AppendBloomFilterHeader(size_t bytes, std::string* out) {
  ThriftWriter thrift(out);
  thrift.Int32(bloom_filter_header::kNumBytes, static_cast<int32_t>(bytes));
  for (const int field : {bloom_filter_header::kAlgorithm, bloom_filter_header::kHash,
                          bloom_filter_header::kCompression}) {
    thrift.BeginStruct(field);
    thrift.EmptyStruct(bloom_filter_choice::kOnly);
    thrift.End();
  }
  thrift.End();
}

}  // namespace gotrace::internal::parquet
