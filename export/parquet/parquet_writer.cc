#include "export/parquet/parquet_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "export/parquet/chunk_writer.h"
#include "export/parquet/encodings.h"
#include "export/parquet/leaf_writer.h"
#include "export/parquet/parquet_format.h"
#include "export/parquet/thrift_compact.h"

namespace gotrace::internal {
namespace parquet {
namespace {

// How a type of column is written. One row for each ParquetType, in order.
struct TypeSpec {
  ParquetType type;
  PhysicalType physical;
  int bits;        // Of an integer or bool.
  bool is_signed;  // Of an integer.
};
constexpr TypeSpec kTypes[] = {
    {ParquetType::kBool, PhysicalType::kBoolean, 1, false},
    {ParquetType::kInt32, PhysicalType::kInt32, 32, true},
    {ParquetType::kUint32, PhysicalType::kInt32, 32, false},
    {ParquetType::kInt64, PhysicalType::kInt64, 64, true},
    {ParquetType::kUint64, PhysicalType::kInt64, 64, false},
    {ParquetType::kText, PhysicalType::kByteArray, 0, false},
    {ParquetType::kFreeText, PhysicalType::kByteArray, 0, false},
    {ParquetType::kTextMap, PhysicalType::kByteArray, 0, false},
};

const TypeSpec& SpecOf(ParquetType type) { return kTypes[static_cast<int>(type)]; }

// Writes a column: one leaf, or two if it is a map.
class ColumnWriter {
 public:
  virtual ~ColumnWriter() = default;
  virtual absl::Status Append(const ColumnValues& values) = 0;
  virtual std::vector<LeafWriter*> Leaves() = 0;
};

class IntegerColumn : public ColumnWriter {
 public:
  explicit IntegerColumn(Leaf leaf) : leaf_(std::move(leaf)) {}

  absl::Status Append(const ColumnValues& values) override {
    leaf_.Append(values.values, values.present);
    return absl::OkStatus();
  }
  std::vector<LeafWriter*> Leaves() override { return {&leaf_}; }

 private:
  IntegerWriter leaf_;
};

class TextColumn : public ColumnWriter {
 public:
  TextColumn(Leaf leaf, ParquetType type, const ParquetTexts* texts)
      : type_(type), leaf_(std::move(leaf), texts) {}

  absl::Status Append(const ColumnValues& values) override {
    return type_ == ParquetType::kText ? leaf_.AppendHandles(values.values, values.present)
                                       : leaf_.AppendTexts(values.texts, values.present);
  }
  std::vector<LeafWriter*> Leaves() override { return {&leaf_}; }

 private:
  const ParquetType type_;
  TextWriter leaf_;
};

class MapColumn : public ColumnWriter {
 public:
  MapColumn(Leaf key, Leaf value)
      : key_(std::move(key), nullptr), value_(std::move(value), nullptr) {}

  absl::Status Append(const ColumnValues& values) override {
    // The definition level of an empty map is one less than that of an entry, and that of null, if
    // the map is nullable, is one less again.
    const int empty = key_.leaf().max_definition - 1;
    for (size_t i = 0; i < values.maps.size(); ++i) {
      const bool is_null = !values.present.empty() && values.present[i] == 0;
      if (is_null || values.maps[i].empty()) {
        const int definition = is_null ? empty - 1 : empty;
        key_.AppendNoEntry(definition);
        value_.AppendNoEntry(definition);
        continue;
      }
      bool begins_row = true;
      for (const auto& [key, value] : values.maps[i]) {
        absl::Status status = key_.AppendEntry(begins_row, key);
        if (status.ok()) status = value_.AppendEntry(begins_row, value);
        if (!status.ok()) return status;
        begins_row = false;
      }
    }
    return absl::OkStatus();
  }
  std::vector<LeafWriter*> Leaves() override { return {&key_, &value_}; }

 private:
  TextWriter key_;
  TextWriter value_;
};

std::unique_ptr<ColumnWriter> MakeColumn(const ParquetColumn& column, const ParquetTexts* texts) {
  const TypeSpec& spec = SpecOf(column.type);
  Leaf leaf;
  leaf.path = {column.name};
  leaf.type = spec.physical;
  leaf.bits = spec.bits;
  leaf.is_signed = spec.is_signed;
  leaf.max_definition = column.nullable ? 1 : 0;
  switch (column.type) {
    case ParquetType::kText:
    case ParquetType::kFreeText:
      leaf.bloom_filter = column.bloom_filter;
      return std::make_unique<TextColumn>(std::move(leaf), column.type, texts);
    case ParquetType::kTextMap: {
      ++leaf.max_definition;
      leaf.max_repetition = 1;
      Leaf key = leaf, value = leaf;
      key.path = {column.name, "key_value", "key"};
      value.path = {column.name, "key_value", "value"};
      return std::make_unique<MapColumn>(std::move(key), std::move(value));
    }
    default:
      leaf.bloom_filter = column.bloom_filter && column.type != ParquetType::kBool;
      return std::make_unique<IntegerColumn>(std::move(leaf));
  }
}

// Writes the beginning of a SchemaElement.
void BeginElement(const PhysicalType* type, Repetition repetition, absl::string_view name,
                  ThriftWriter* thrift) {
  thrift->BeginStructElement();
  if (type != nullptr) thrift->Int32(schema_element::kType, static_cast<int32_t>(*type));
  thrift->Int32(schema_element::kRepetition, static_cast<int32_t>(repetition));
  thrift->Binary(schema_element::kName, name);
}

void AddLogicalType(ConvertedType converted, ThriftWriter* thrift) {
  thrift->Int32(schema_element::kConvertedType, static_cast<int32_t>(converted));
  thrift->BeginStruct(schema_element::kLogicalType);
  switch (converted) {
    case ConvertedType::kUtf8:
      thrift->EmptyStruct(logical_type::kString);
      break;
    case ConvertedType::kMap:
      thrift->EmptyStruct(logical_type::kMap);
      break;
    case ConvertedType::kUint32:
    case ConvertedType::kUint64:
      thrift->BeginStruct(logical_type::kInteger);
      thrift->Byte(int_type::kBitWidth, converted == ConvertedType::kUint32 ? 32 : 64);
      thrift->Bool(int_type::kIsSigned, false);
      thrift->End();
      break;
  }
  thrift->End();
}

// Returns how many SchemaElements a column has.
size_t SchemaElements(const ParquetColumn& column) {
  return column.type == ParquetType::kTextMap ? 4 : 1;
}

void AddSchemaElements(const ParquetColumn& column, ThriftWriter* thrift) {
  const PhysicalType type = SpecOf(column.type).physical;
  const Repetition repetition = column.nullable ? Repetition::kOptional : Repetition::kRequired;
  if (column.type == ParquetType::kTextMap) {
    BeginElement(nullptr, repetition, column.name, thrift);
    thrift->Int32(schema_element::kNumChildren, 1);
    AddLogicalType(ConvertedType::kMap, thrift);
    thrift->End();
    BeginElement(nullptr, Repetition::kRepeated, "key_value", thrift);
    thrift->Int32(schema_element::kNumChildren, 2);
    thrift->End();
    for (const char* name : {"key", "value"}) {
      BeginElement(&type, Repetition::kRequired, name, thrift);
      AddLogicalType(ConvertedType::kUtf8, thrift);
      thrift->End();
    }
    return;
  }
  BeginElement(&type, repetition, column.name, thrift);
  switch (column.type) {
    case ParquetType::kUint32:
      AddLogicalType(ConvertedType::kUint32, thrift);
      break;
    case ParquetType::kUint64:
      AddLogicalType(ConvertedType::kUint64, thrift);
      break;
    case ParquetType::kText:
    case ParquetType::kFreeText:
      AddLogicalType(ConvertedType::kUtf8, thrift);
      break;
    default:
      break;
  }
  thrift->End();
}

// Returns the rows [first, first + count) of `values`.
ColumnValues Slice(const ColumnValues& values, size_t first, size_t count) {
  const auto slice = [&](auto span) { return span.empty() ? span : span.subspan(first, count); };
  return {slice(values.values), slice(values.present), slice(values.texts), slice(values.maps)};
}

}  // namespace
}  // namespace parquet

using namespace parquet;  // NOLINT(google-build-using-namespace)

class ParquetWriter::Impl {
 public:
  Impl(std::vector<ParquetColumn> schema, ParquetOptions options, ParquetTexts texts,
       ByteSink* sink);

  void Append(size_t rows, absl::Span<const ColumnValues> columns);
  void EndRowGroup();
  void AddMetadata(std::string key, std::string value) {
    options_.metadata.emplace_back(std::move(key), std::move(value));
  }
  absl::Status Finish();

  const absl::Status& status() const { return status_; }
  uint64_t rows() const { return rows_; }

 private:
  struct RowGroup {
    uint64_t rows;
    std::vector<Chunk> chunks;  // Of each leaf.
  };
  // The place of a part of the page index.
  struct Place {
    uint64_t offset;
    size_t size;
  };

  absl::Status CheckSchema() const;
  absl::Status CheckValues(size_t rows, const ParquetColumn& column,
                           const ColumnValues& values) const;
  size_t RowGroupBytes() const;
  std::vector<Place> WriteIndexes(std::string Chunk::*index);
  std::string MakeFooter(const std::vector<Place>& column_indexes,
                         const std::vector<Place>& offset_indexes) const;
  void AddRowGroup(const RowGroup& row_group, const Place* column_indexes,
                   const Place* offset_indexes, ThriftWriter* thrift) const;

  const std::vector<ParquetColumn> schema_;
  ParquetOptions options_;
  const ParquetTexts texts_;
  ByteSink& sink_;
  Compressor compressor_;
  WriteContext context_;
  absl::Status status_;
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  std::vector<LeafWriter*> leaves_;
  std::vector<size_t> first_leaves_;  // Of each column.
  uint64_t rows_ = 0;
  size_t row_group_rows_ = 0;
  std::vector<RowGroup> row_groups_;
};

ParquetWriter::Impl::Impl(std::vector<ParquetColumn> schema, ParquetOptions options,
                          ParquetTexts texts, ByteSink* sink)
    : schema_(std::move(schema)),
      options_(std::move(options)),
      texts_(std::move(texts)),
      sink_(*sink),
      compressor_(options_.zstd_level) {
  context_.options = &options_;
  context_.compressor = &compressor_;
  context_.sink = sink;
  status_ = CheckSchema();
  if (!status_.ok()) return;
  for (const ParquetColumn& column : schema_) {
    columns_.push_back(MakeColumn(column, &texts_));
    first_leaves_.push_back(leaves_.size());
    for (LeafWriter* leaf : columns_.back()->Leaves()) leaves_.push_back(leaf);
  }
  sink_.Append(kMagic);
}

absl::Status ParquetWriter::Impl::CheckSchema() const {
  if (sink_.size() > 0) return absl::InvalidArgumentError("a file begins where its sink begins");
  if (schema_.empty()) return absl::InvalidArgumentError("a table has at least one column");
  std::vector<absl::string_view> names;
  for (const ParquetColumn& column : schema_) {
    if (column.type == ParquetType::kText && texts_ == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", column.name, " has handles, but nothing returns their texts"));
    }
    names.push_back(column.name);
  }
  std::sort(names.begin(), names.end());
  const auto equal = std::adjacent_find(names.begin(), names.end());
  if (equal != names.end()) {
    return absl::InvalidArgumentError(absl::StrCat("there are two columns ", *equal));
  }
  for (const size_t column : options_.sorting_columns) {
    if (column >= schema_.size() || schema_[column].type == ParquetType::kTextMap) {
      return absl::InvalidArgumentError("rows cannot be sorted by a map or a missing column");
    }
  }
  constexpr size_t kMaxRows = std::numeric_limits<int32_t>::max();
  if (options_.row_group_rows == 0 || options_.row_group_rows > kMaxRows ||
      options_.page_rows == 0 || options_.page_rows > kMaxPageRows || options_.page_bytes == 0 ||
      options_.page_bytes > kMaxRows / 4) {
    return absl::InvalidArgumentError(
        "the size of a row group or page is 0, or larger than the format allows");
  }
  return absl::OkStatus();
}

absl::Status ParquetWriter::Impl::CheckValues(size_t rows, const ParquetColumn& column,
                                              const ColumnValues& values) const {
  const bool has_texts = column.type == ParquetType::kFreeText;
  const bool has_maps = column.type == ParquetType::kTextMap;
  if (values.values.size() != (has_texts || has_maps ? 0 : rows) ||
      values.texts.size() != (has_texts ? rows : 0) ||
      values.maps.size() != (has_maps ? rows : 0) ||
      (!values.present.empty() && values.present.size() != rows)) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", column.name, " does not have one value for each row"));
  }
  if (!column.nullable && std::count(values.present.begin(), values.present.end(), 0) > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", column.name, " has a null, but is not nullable"));
  }
  return absl::OkStatus();
}

size_t ParquetWriter::Impl::RowGroupBytes() const {
  size_t bytes = 0;
  for (const LeafWriter* leaf : leaves_) bytes += leaf->bytes();
  return bytes;
}

void ParquetWriter::Impl::Append(size_t rows, absl::Span<const ColumnValues> columns) {
  if (!status_.ok()) return;
  if (columns.size() != columns_.size()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("there are values of ", columns.size(), " columns, not ", columns_.size()));
    return;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    status_ = CheckValues(rows, schema_[i], columns[i]);
    if (!status_.ok()) return;
  }
  // The row group is checked for being full at each multiple of this number of rows, however the
  // calls of Append() divide the rows.
  constexpr size_t kStep = 1024;
  for (size_t first = 0; first < rows;) {
    const size_t count = std::min(
        {rows - first, kStep - row_group_rows_ % kStep, options_.row_group_rows - row_group_rows_});
    for (size_t i = 0; i < columns_.size(); ++i) {
      status_ = columns_[i]->Append(Slice(columns[i], first, count));
      if (!status_.ok()) return;
    }
    first += count;
    rows_ += count;
    row_group_rows_ += count;
    if (row_group_rows_ == options_.row_group_rows ||
        (row_group_rows_ % kStep == 0 && RowGroupBytes() >= options_.row_group_bytes)) {
      EndRowGroup();
      if (!status_.ok()) return;
    }
  }
}

void ParquetWriter::Impl::EndRowGroup() {
  if (!status_.ok() || row_group_rows_ == 0) return;
  RowGroup row_group = {row_group_rows_, {}};
  for (LeafWriter* leaf : leaves_) row_group.chunks.push_back(leaf->WriteChunk(&context_));
  row_groups_.push_back(std::move(row_group));
  row_group_rows_ = 0;
  status_ = compressor_.ok() ? sink_.status()
                             : absl::ResourceExhaustedError("zstd has not enough memory");
}

// Writes the column index or the offset index of all chunks, and frees it.
std::vector<ParquetWriter::Impl::Place> ParquetWriter::Impl::WriteIndexes(
    std::string Chunk::*index) {
  std::vector<Place> places;
  for (RowGroup& row_group : row_groups_) {
    for (Chunk& chunk : row_group.chunks) {
      places.push_back({sink_.size(), (chunk.*index).size()});
      sink_.Append(chunk.*index);
      std::string().swap(chunk.*index);
    }
  }
  return places;
}

void ParquetWriter::Impl::AddRowGroup(const RowGroup& row_group, const Place* column_indexes,
                                      const Place* offset_indexes, ThriftWriter* thrift) const {
  uint64_t compressed_size = 0, uncompressed_size = 0;
  thrift->BeginStructElement();
  thrift->BeginList(row_group::kColumns, ThriftType::kStruct, row_group.chunks.size());
  for (size_t i = 0; i < row_group.chunks.size(); ++i) {
    const Chunk& chunk = row_group.chunks[i];
    compressed_size += chunk.compressed_size;
    uncompressed_size += chunk.uncompressed_size;
    thrift->BeginStructElement();
    thrift->Int64(column_chunk::kFileOffset, 0);  // No longer used.
    thrift->RawStruct(column_chunk::kMetaData, chunk.meta_data);
    thrift->Int64(column_chunk::kOffsetIndexOffset, static_cast<int64_t>(offset_indexes[i].offset));
    thrift->Int32(column_chunk::kOffsetIndexLength, static_cast<int32_t>(offset_indexes[i].size));
    thrift->Int64(column_chunk::kColumnIndexOffset, static_cast<int64_t>(column_indexes[i].offset));
    thrift->Int32(column_chunk::kColumnIndexLength, static_cast<int32_t>(column_indexes[i].size));
    thrift->End();
  }
  thrift->Int64(row_group::kTotalByteSize, static_cast<int64_t>(uncompressed_size));
  thrift->Int64(row_group::kNumRows, static_cast<int64_t>(row_group.rows));
  if (!options_.sorting_columns.empty()) {
    thrift->BeginList(row_group::kSortingColumns, ThriftType::kStruct,
                      options_.sorting_columns.size());
    for (const size_t column : options_.sorting_columns) {
      thrift->BeginStructElement();
      thrift->Int32(sorting_column::kColumn, static_cast<int32_t>(first_leaves_[column]));
      thrift->Bool(sorting_column::kDescending, false);
      thrift->Bool(sorting_column::kNullsFirst, false);
      thrift->End();
    }
  }
  thrift->Int64(row_group::kFileOffset, static_cast<int64_t>(row_group.chunks[0].offset));
  thrift->Int64(row_group::kTotalCompressedSize, static_cast<int64_t>(compressed_size));
  thrift->End();
}

std::string ParquetWriter::Impl::MakeFooter(const std::vector<Place>& column_indexes,
                                            const std::vector<Place>& offset_indexes) const {
  std::string footer;
  ThriftWriter thrift(&footer);
  thrift.Int32(file_meta_data::kVersion, 1);
  size_t elements = 1;
  for (const ParquetColumn& column : schema_) elements += SchemaElements(column);
  thrift.BeginList(file_meta_data::kSchema, ThriftType::kStruct, elements);
  thrift.BeginStructElement();
  thrift.Binary(schema_element::kName, "schema");
  thrift.Int32(schema_element::kNumChildren, static_cast<int32_t>(schema_.size()));
  thrift.End();
  for (const ParquetColumn& column : schema_) AddSchemaElements(column, &thrift);
  thrift.Int64(file_meta_data::kNumRows, static_cast<int64_t>(rows_));
  thrift.BeginList(file_meta_data::kRowGroups, ThriftType::kStruct, row_groups_.size());
  for (size_t i = 0; i < row_groups_.size(); ++i) {
    AddRowGroup(row_groups_[i], &column_indexes[i * leaves_.size()],
                &offset_indexes[i * leaves_.size()], &thrift);
  }
  if (!options_.metadata.empty()) {
    thrift.BeginList(file_meta_data::kKeyValues, ThriftType::kStruct, options_.metadata.size());
    for (const auto& [key, value] : options_.metadata) {
      thrift.BeginStructElement();
      thrift.Binary(key_value::kKey, key);
      thrift.Binary(key_value::kValue, value);
      thrift.End();
    }
  }
  thrift.Binary(file_meta_data::kCreatedBy, options_.created_by);
  thrift.BeginList(file_meta_data::kColumnOrders, ThriftType::kStruct, leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i) {
    thrift.BeginStructElement();
    thrift.EmptyStruct(column_order::kTypeOrder);
    thrift.End();
  }
  thrift.End();
  return footer;
}

absl::Status ParquetWriter::Impl::Finish() {
  EndRowGroup();
  if (!status_.ok()) return status_;
  const std::vector<Place> column_indexes = WriteIndexes(&Chunk::column_index);
  const std::vector<Place> offset_indexes = WriteIndexes(&Chunk::offset_index);
  std::string footer = MakeFooter(column_indexes, offset_indexes);
  if (footer.size() > std::numeric_limits<int32_t>::max()) {
    return status_ = absl::ResourceExhaustedError("there are too many row groups for Parquet");
  }
  AppendLittleEndian(static_cast<uint32_t>(footer.size()), &footer);
  footer.append(kMagic.data(), kMagic.size());
  sink_.Append(footer);
  return status_ = sink_.status();
}

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, ParquetOptions options,
                             ParquetTexts texts, ByteSink* sink)
    : impl_(
          std::make_unique<Impl>(std::move(columns), std::move(options), std::move(texts), sink)) {}
ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::Append(size_t rows, absl::Span<const ColumnValues> columns) {
  impl_->Append(rows, columns);
}
void ParquetWriter::AddMetadata(std::string key, std::string value) {
  impl_->AddMetadata(std::move(key), std::move(value));
}
void ParquetWriter::EndRowGroup() { impl_->EndRowGroup(); }
absl::Status ParquetWriter::Finish() { return impl_->Finish(); }
const absl::Status& ParquetWriter::status() const { return impl_->status(); }
uint64_t ParquetWriter::rows() const { return impl_->rows(); }

}  // namespace gotrace::internal
