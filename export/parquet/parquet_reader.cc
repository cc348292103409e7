#include "export/parquet/parquet_reader.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/bloom_filter.h"
#include "export/parquet/encodings.h"
#include "export/parquet/thrift_compact.h"

namespace gotrace::internal {
namespace parquet {
namespace {

#define RETURN_IF_ERROR(expression)                                      \
  do {                                                                   \
    if (absl::Status status = (expression); !status.ok()) return status; \
  } while (false)

absl::Status Invalid(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Each function reads from the beginning of an input, and removes what it read. Returns false if
// the input is too short.

bool TakeByte(absl::string_view* input, uint8_t* value) {
  if (input->empty()) return false;
  *value = static_cast<uint8_t>((*input)[0]);
  input->remove_prefix(1);
  return true;
}

bool TakeUleb128(absl::string_view* input, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte;
    if (!TakeByte(input, &byte)) return false;
    *value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeBytes(size_t size, absl::string_view* input, absl::string_view* value) {
  if (size > input->size()) return false;
  *value = input->substr(0, size);
  input->remove_prefix(size);
  return true;
}

// Reads an integer of `size` bytes, lowest first.
bool TakeInteger(size_t size, absl::string_view* input, uint64_t* value) {
  absl::string_view bytes;
  if (!TakeBytes(size, input, &bytes)) return false;
  *value = 0;
  std::memcpy(value, bytes.data(), size);
  return true;
}

// Returns the number of `width` bits that begins at the bit `bit` of `bytes`. Reads bit by bit,
// unlike the writer.
uint64_t BitsAt(absl::string_view bytes, size_t bit, int width) {
  uint64_t value = 0;
  for (int i = 0; i < width; ++i, ++bit) {
    value |= uint64_t{static_cast<uint8_t>(bytes[bit / 8]) >> (bit % 8) & 1u} << i;
  }
  return value;
}

// Decodes RLE. `input` must have exactly `count` values.
bool DecodeRle(absl::string_view input, int width, size_t count, std::vector<uint32_t>* out) {
  while (count > 0) {
    uint64_t header;
    if (!TakeUleb128(&input, &header)) return false;
    const uint64_t size = header >> 1;
    if (size == 0) return false;
    if ((header & 1) == 0) {
      uint64_t value;
      if (size > count || !TakeInteger((width + 7) / 8, &input, &value)) return false;
      out->insert(out->end(), size, static_cast<uint32_t>(value));
      count -= size;
      continue;
    }
    // Groups of eight; the last may have unused values.
    if (size > count / 8 + 1) return false;
    absl::string_view bytes;
    if (!TakeBytes(size * width, &input, &bytes)) return false;
    const size_t values = std::min<size_t>(size * 8, count);
    for (size_t i = 0; i < values; ++i) {
      out->push_back(static_cast<uint32_t>(BitsAt(bytes, i * width, width)));
    }
    count -= values;
  }
  return input.empty();
}

// Decodes exactly `count` values in DELTA_BINARY_PACKED. Leaves the rest in `*input`.
bool DecodeDeltas(absl::string_view* input, int bits, size_t count, std::vector<uint64_t>* out) {
  uint64_t block_size, mini_blocks, total, first;
  if (!TakeUleb128(input, &block_size) || !TakeUleb128(input, &mini_blocks) ||
      !TakeUleb128(input, &total) || !TakeUleb128(input, &first)) {
    return false;
  }
  if (block_size == 0 || block_size > 4096 || block_size % 128 != 0 || mini_blocks == 0 ||
      block_size % mini_blocks != 0 || block_size / mini_blocks % 32 != 0 || total != count) {
    return false;
  }
  if (count == 0) return true;
  const size_t mini_size = block_size / mini_blocks;
  const auto extend = [bits](uint64_t value) {
    return bits == 64 ? value : static_cast<uint64_t>(static_cast<int32_t>(value));
  };
  uint64_t value = static_cast<uint64_t>(UnZigZag(first));
  out->push_back(extend(value));
  for (size_t left = count - 1; left > 0;) {
    uint64_t min;
    absl::string_view widths;
    if (!TakeUleb128(input, &min) || !TakeBytes(mini_blocks, input, &widths)) return false;
    for (size_t mini = 0; mini < mini_blocks && left > 0; ++mini) {
      const int width = static_cast<uint8_t>(widths[mini]);
      absl::string_view bytes;
      if (width > bits || !TakeBytes(mini_size / 8 * width, input, &bytes)) return false;
      for (size_t i = 0; i < mini_size && left > 0; ++i, --left) {
        value += static_cast<uint64_t>(UnZigZag(min)) + BitsAt(bytes, i * width, width);
        out->push_back(extend(value));
      }
    }
  }
  return true;
}

// A leaf of the schema, and its column.
struct ReadLeaf {
  size_t column = 0;
  std::vector<std::string> path;
  PhysicalType type = PhysicalType::kBoolean;
  bool is_signed = true;
  uint32_t max_definition = 0;
  uint32_t max_repetition = 0;

  int bits() const {
    return type == PhysicalType::kBoolean ? 1 : type == PhysicalType::kInt32 ? 32 : 64;
  }
  bool is_text() const { return type == PhysicalType::kByteArray; }
};

// Values without nulls, in one of the vectors.
struct Values {
  std::vector<uint64_t> integers;
  std::vector<std::string> texts;

  size_t size() const { return integers.size() + texts.size(); }
};

// The values of a leaf in a row group, or a page.
struct LeafValues {
  std::vector<uint32_t> repetitions;  // Empty if there is only one level.
  std::vector<uint32_t> definitions;  // The same.
  Values values;
};

// Converts a value in statistics to bytes that compare like the values of the leaf. Returns false
// if it is not a value.
bool MakeOrder(const ReadLeaf& leaf, absl::string_view value, std::string* order) {
  if (leaf.is_text()) {
    *order = std::string(value);
    return true;
  }
  const size_t size = (leaf.bits() + 7) / 8;
  if (value.size() != size) return false;
  *order = std::string(value.rbegin(), value.rend());
  if (leaf.is_signed) (*order)[0] = static_cast<char>((*order)[0] ^ 0x80);
  return true;
}

std::string PlainBytes(const ReadLeaf& leaf, const Values& values, size_t i) {
  if (leaf.is_text()) return values.texts[i];
  std::string bytes;
  AppendLittleEndian(values.integers[i], &bytes);
  return bytes.substr(0, (leaf.bits() + 7) / 8);
}

// Returns the smallest and the largest value, in the form of MakeOrder().
std::pair<std::string, std::string> FindExtremes(const ReadLeaf& leaf, const Values& values) {
  std::pair<std::string, std::string> extremes;
  if (leaf.is_text()) {
    const auto [min, max] = std::minmax_element(values.texts.begin(), values.texts.end());
    return {*min, *max};
  }
  size_t min = 0, max = 0;
  const auto less = [&](uint64_t a, uint64_t b) {
    return leaf.is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  for (size_t i = 1; i < values.integers.size(); ++i) {
    if (less(values.integers[i], values.integers[min])) min = i;
    if (less(values.integers[max], values.integers[i])) max = i;
  }
  MakeOrder(leaf, PlainBytes(leaf, values, min), &extremes.first);
  MakeOrder(leaf, PlainBytes(leaf, values, max), &extremes.second);
  return extremes;
}

// The maximum length of a bound of a text.
constexpr size_t kLongestBound = 32;

// Returns whether a bound was made of one of the texts, which was too long: its beginning, with one
// more in the last byte.
bool IsCutBound(absl::string_view max, const std::vector<std::string>& texts) {
  return !max.empty() && absl::c_any_of(texts, [max](const std::string& text) {
    return text.size() > kLongestBound && absl::StartsWith(text, max.substr(0, max.size() - 1));
  });
}

// Checks bounds against the values. Bounds that are integers or short texts must be exact, unless
// the bound of a longer text, which was cut, is above the largest one.
absl::Status CheckBounds(const ReadLeaf& leaf, const Values& values, absl::string_view min,
                         absl::string_view max, bool* is_min_exact, bool* is_max_exact) {
  const auto [true_min, true_max] = FindExtremes(leaf, values);
  std::string min_order, max_order;
  if (!MakeOrder(leaf, min, &min_order) || !MakeOrder(leaf, max, &max_order)) {
    return Invalid("a bound has the wrong size");
  }
  *is_min_exact = min_order == true_min;
  *is_max_exact = max_order == true_max;
  if (min_order > true_min || max_order < true_max) {
    return Invalid("a value is outside the bounds");
  }
  if ((!*is_min_exact && (!leaf.is_text() || true_min.size() <= kLongestBound)) ||
      (!*is_max_exact && !(leaf.is_text() && IsCutBound(max, values.texts)))) {
    return Invalid("a bound is not tight");
  }
  return absl::OkStatus();
}

// Finds a required field of a struct.
absl::Status Need(const ThriftValue& value, int field, ThriftType type, const ThriftValue** found) {
  *found = value.Find(field, type);
  if (*found == nullptr) return Invalid(absl::StrCat("field ", field, " of a struct is missing"));
  return absl::OkStatus();
}

absl::Status NeedNumber(const ThriftValue& value, int field, int64_t* number) {
  const ThriftValue* found;
  RETURN_IF_ERROR(Need(value, field, ThriftType::kInt64, &found));
  *number = found->number;
  return absl::OkStatus();
}

// The same for a field that must not be negative.
absl::Status NeedSize(const ThriftValue& value, int field, uint64_t* size) {
  int64_t number;
  RETURN_IF_ERROR(NeedNumber(value, field, &number));
  if (number < 0) return Invalid("a size is negative");
  *size = static_cast<uint64_t>(number);
  return absl::OkStatus();
}

absl::Status NeedList(const ThriftValue& value, int field, ThriftType type,
                      const std::vector<ThriftValue>** list) {
  const ThriftValue* found;
  RETURN_IF_ERROR(Need(value, field, ThriftType::kList, &found));
  for (const ThriftValue& element : found->elements) {
    if (element.type != type) return Invalid("a list has elements of another type");
  }
  *list = &found->elements;
  return absl::OkStatus();
}

// Reads one file.
class FileReader {
 public:
  FileReader(absl::string_view bytes, const ParquetReadOptions& options)
      : bytes_(bytes), options_(options) {}

  absl::StatusOr<ParquetFile> Read();

 private:
  // A page that was read, and its header.
  struct ReadPage {
    PageType type = PageType::kData;
    uint64_t offset = 0;
    uint64_t size = 0;  // With its header.
    uint64_t entries = 0;
    Encoding encoding = Encoding::kPlain;
    std::string body;
  };

  absl::Status At(uint64_t offset, uint64_t size, absl::string_view* part) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return Invalid("a part is outside the file");
    }
    *part = bytes_.substr(offset, size);
    return absl::OkStatus();
  }

  absl::Status CountValues(uint64_t values) {
    if (values > options_.max_values - values_) {
      return absl::ResourceExhaustedError("too many values");
    }
    values_ += values;
    return absl::OkStatus();
  }
  absl::Status CountBytes(uint64_t bytes) {
    if (bytes > options_.max_bytes - read_bytes_) {
      return absl::ResourceExhaustedError("too many bytes");
    }
    read_bytes_ += bytes;
    return absl::OkStatus();
  }

  absl::Status ReadSchema(const std::vector<ThriftValue>& elements);
  absl::Status ReadElement(const ThriftValue& element, std::string* name, Repetition* repetition,
                           int64_t* children, ReadLeaf* leaf, ParquetType* type);
  absl::Status ReadRowGroup(const ThriftValue& value);
  absl::Status ReadChunk(const ThriftValue& value, uint64_t rows, const ReadLeaf& leaf,
                         ParquetFile::RowGroup::Chunk* chunk, LeafValues* values,
                         uint64_t* uncompressed_size);
  absl::Status ReadPageAt(uint64_t offset, uint64_t end, ReadPage* page,
                          uint64_t* uncompressed_size);
  absl::Status DecodePlain(const ReadLeaf& leaf, absl::string_view body, size_t count,
                           Values* values);
  absl::Status DecodePage(const ReadLeaf& leaf, const ReadPage& page, const Values& dictionary,
                          LeafValues* out);
  absl::Status CheckIndexes(const ThriftValue& chunk, const ReadLeaf& leaf,
                            const std::vector<ReadPage>& pages,
                            const std::vector<LeafValues>& decoded, uint64_t rows,
                            BoundaryOrder* order);
  absl::Status CheckStatistics(const ThriftValue& meta, const ReadLeaf& leaf,
                               const LeafValues& values, uint64_t entries,
                               ParquetFile::RowGroup::Chunk* chunk);
  absl::Status CheckFilter(const ThriftValue& meta, const ReadLeaf& leaf, const Values& values,
                           size_t* bytes);
  absl::Status AddColumn(size_t column, uint64_t rows, const std::vector<LeafValues>& leaves);

  const absl::string_view bytes_;
  const ParquetReadOptions options_;
  uint64_t values_ = 0;
  uint64_t read_bytes_ = 0;
  ParquetFile file_;
  std::vector<ReadLeaf> leaves_;
};

absl::Status FileReader::ReadElement(const ThriftValue& element, std::string* name,
                                     Repetition* repetition, int64_t* children, ReadLeaf* leaf,
                                     ParquetType* type) {
  const ThriftValue* text;
  RETURN_IF_ERROR(Need(element, schema_element::kName, ThriftType::kBinary, &text));
  *name = std::string(text->bytes);
  int64_t number;
  RETURN_IF_ERROR(NeedNumber(element, schema_element::kRepetition, &number));
  if (number < 0 || number > 2) return Invalid("the schema has an unknown repetition");
  *repetition = static_cast<Repetition>(number);
  const ThriftValue* const count = element.Find(schema_element::kNumChildren, ThriftType::kInt64);
  *children = count == nullptr ? 0 : count->number;
  const ThriftValue* const physical = element.Find(schema_element::kType, ThriftType::kInt64);
  if ((physical == nullptr) == (count == nullptr)) {
    return Invalid("an element of the schema is neither a value nor a group");
  }
  const ThriftValue* const logical =
      element.Find(schema_element::kLogicalType, ThriftType::kStruct);
  const ThriftValue* const converted =
      element.Find(schema_element::kConvertedType, ThriftType::kInt64);
  if ((logical == nullptr) != (converted == nullptr)) {
    return Invalid("an element has only one of its logical types");
  }
  const int64_t old_type = converted == nullptr ? -1 : converted->number;
  const auto is = [&](ConvertedType expected, int field) {
    return old_type == static_cast<int64_t>(expected) &&
           logical->Find(field, ThriftType::kStruct) != nullptr;
  };
  if (physical == nullptr) {
    if (logical != nullptr && !is(ConvertedType::kMap, logical_type::kMap)) {
      return Invalid("a group has an unknown type");
    }
    *type = ParquetType::kTextMap;
    return absl::OkStatus();
  }
  leaf->type = static_cast<PhysicalType>(physical->number);
  leaf->is_signed = logical == nullptr;
  if (physical->number == static_cast<int64_t>(PhysicalType::kByteArray)) {
    if (logical == nullptr || !is(ConvertedType::kUtf8, logical_type::kString)) {
      return Invalid("bytes are not a text");
    }
    *type = ParquetType::kFreeText;
    return absl::OkStatus();
  }
  if (physical->number == static_cast<int64_t>(PhysicalType::kBoolean)) {
    leaf->is_signed = false;
    *type = ParquetType::kBool;
    return logical == nullptr ? absl::OkStatus() : Invalid("a bool has a logical type");
  }
  const bool is_32 = physical->number == static_cast<int64_t>(PhysicalType::kInt32);
  if (!is_32 && physical->number != static_cast<int64_t>(PhysicalType::kInt64)) {
    return Invalid("an element has an unknown type");
  }
  if (logical == nullptr) {
    *type = is_32 ? ParquetType::kInt32 : ParquetType::kInt64;
    return absl::OkStatus();
  }
  if (!is(is_32 ? ConvertedType::kUint32 : ConvertedType::kUint64, logical_type::kInteger)) {
    return Invalid("an integer has an unknown logical type");
  }
  const ThriftValue& integer = *logical->Find(logical_type::kInteger, ThriftType::kStruct);
  const ThriftValue* is_signed;
  RETURN_IF_ERROR(NeedNumber(integer, int_type::kBitWidth, &number));
  RETURN_IF_ERROR(Need(integer, int_type::kIsSigned, ThriftType::kTrue, &is_signed));
  if (number != (is_32 ? 32 : 64) || is_signed->number != 0) {
    return Invalid("an integer has an unknown logical type");
  }
  *type = is_32 ? ParquetType::kUint32 : ParquetType::kUint64;
  return absl::OkStatus();
}

absl::Status FileReader::ReadSchema(const std::vector<ThriftValue>& elements) {
  if (elements.empty()) return Invalid("there is no schema");
  int64_t columns;
  RETURN_IF_ERROR(NeedNumber(elements[0], schema_element::kNumChildren, &columns));
  size_t next = 1;
  for (int64_t i = 0; i < columns; ++i) {
    ParquetTableColumn column;
    Repetition repetition;
    int64_t children;
    ReadLeaf leaf;
    leaf.column = file_.table.columns.size();
    if (next == elements.size()) return Invalid("the schema is cut off");
    RETURN_IF_ERROR(ReadElement(elements[next++], &column.column.name, &repetition, &children,
                                &leaf, &column.column.type));
    if (repetition == Repetition::kRepeated) return Invalid("a column is repeated");
    column.column.nullable = repetition == Repetition::kOptional;
    leaf.max_definition = column.column.nullable ? 1 : 0;
    leaf.path = {column.column.name};
    if (column.column.type != ParquetType::kTextMap) {
      leaves_.push_back(leaf);
    } else {
      ++leaf.max_definition;
      leaf.max_repetition = 1;
      if (elements.size() - next < 3) return Invalid("the schema is cut off");
      std::string name;
      ParquetType type;
      int64_t entries;
      RETURN_IF_ERROR(ReadElement(elements[next++], &name, &repetition, &entries, &leaf, &type));
      if (children != 1 || entries != 2 || name != "key_value" ||
          repetition != Repetition::kRepeated) {
        return Invalid("a map is not as it should be");
      }
      for (const char* part : {"key", "value"}) {
        RETURN_IF_ERROR(ReadElement(elements[next++], &name, &repetition, &entries, &leaf, &type));
        if (type != ParquetType::kFreeText || name != part || repetition != Repetition::kRequired) {
          return Invalid("an entry of a map is not as it should be");
        }
        leaf.path = {column.column.name, "key_value", name};
        leaves_.push_back(leaf);
      }
    }
    file_.table.columns.push_back(std::move(column));
  }
  if (next != elements.size()) return Invalid("the schema has more elements");
  return absl::OkStatus();
}

absl::Status FileReader::ReadPageAt(uint64_t offset, uint64_t end, ReadPage* page,
                                    uint64_t* uncompressed_size) {
  absl::string_view rest;
  RETURN_IF_ERROR(At(offset, end - offset, &rest));
  const size_t available = rest.size();
  absl::StatusOr<ThriftValue> header = ReadThriftStruct(&rest);
  if (!header.ok()) return header.status();
  const size_t header_size = available - rest.size();
  int64_t type, crc, encoding;
  uint64_t size, compressed_size;
  RETURN_IF_ERROR(NeedNumber(*header, page_header::kType, &type));
  RETURN_IF_ERROR(NeedSize(*header, page_header::kUncompressedSize, &size));
  RETURN_IF_ERROR(NeedSize(*header, page_header::kCompressedSize, &compressed_size));
  RETURN_IF_ERROR(NeedNumber(*header, page_header::kCrc, &crc));
  absl::string_view compressed;
  if (!TakeBytes(compressed_size, &rest, &compressed)) return Invalid("a page is cut off");
  if (options_.checks_crc &&
      static_cast<uint32_t>(crc) !=
          crc32_z(0, reinterpret_cast<const Bytef*>(compressed.data()), compressed.size())) {
    return Invalid("a page has another checksum");
  }
  page->type = static_cast<PageType>(type);
  const ThriftValue* inner;
  switch (page->type) {
    case PageType::kData: {
      RETURN_IF_ERROR(Need(*header, page_header::kDataPage, ThriftType::kStruct, &inner));
      int64_t definitions, repetitions;
      RETURN_IF_ERROR(NeedSize(*inner, data_page_header::kNumValues, &page->entries));
      RETURN_IF_ERROR(NeedNumber(*inner, data_page_header::kEncoding, &encoding));
      RETURN_IF_ERROR(NeedNumber(*inner, data_page_header::kDefinitionLevels, &definitions));
      RETURN_IF_ERROR(NeedNumber(*inner, data_page_header::kRepetitionLevels, &repetitions));
      if (definitions != static_cast<int64_t>(Encoding::kRle) || repetitions != definitions) {
        return Invalid("levels have an unknown encoding");
      }
      break;
    }
    case PageType::kDictionary:
      RETURN_IF_ERROR(Need(*header, page_header::kDictionaryPage, ThriftType::kStruct, &inner));
      RETURN_IF_ERROR(NeedSize(*inner, dictionary_page_header::kNumValues, &page->entries));
      RETURN_IF_ERROR(NeedNumber(*inner, dictionary_page_header::kEncoding, &encoding));
      break;
    default:
      return Invalid("a page has an unknown type");
  }
  page->encoding = static_cast<Encoding>(encoding);
  RETURN_IF_ERROR(CountValues(page->entries));
  RETURN_IF_ERROR(CountBytes(size));
  page->body.resize(size);
  const size_t decompressed =
      ZSTD_decompress(page->body.data(), size, compressed.data(), compressed.size());
  if (ZSTD_isError(decompressed) || decompressed != size) {
    return Invalid("a page cannot be decompressed to its size");
  }
  page->offset = offset;
  page->size = header_size + compressed_size;
  *uncompressed_size += header_size + size;
  return absl::OkStatus();
}

absl::Status FileReader::DecodePlain(const ReadLeaf& leaf, absl::string_view body, size_t count,
                                     Values* values) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t integer;
    if (leaf.is_text()) {
      absl::string_view text;
      if (!TakeInteger(4, &body, &integer) || !TakeBytes(integer, &body, &text)) {
        return Invalid("a page of texts is cut off");
      }
      RETURN_IF_ERROR(CountBytes(text.size()));
      values->texts.emplace_back(text);
    } else if (leaf.type == PhysicalType::kBoolean) {
      if (body.size() != (count + 7) / 8) return Invalid("a page of bools has another size");
      values->integers.push_back(BitsAt(body, i, 1));
    } else {
      if (!TakeInteger(leaf.bits() / 8, &body, &integer)) {
        return Invalid("a page of integers is cut off");
      }
      const bool extends = leaf.is_signed && leaf.bits() == 32;
      values->integers.push_back(extends ? static_cast<uint64_t>(static_cast<int32_t>(integer))
                                         : integer);
    }
  }
  if (!body.empty() && leaf.type != PhysicalType::kBoolean) {
    return Invalid("a page has something after its values");
  }
  return absl::OkStatus();
}

absl::Status FileReader::DecodePage(const ReadLeaf& leaf, const ReadPage& page,
                                    const Values& dictionary, LeafValues* out) {
  absl::string_view body = page.body;
  size_t count = page.entries;
  const auto take_levels = [&](uint32_t max, std::vector<uint32_t>* levels) {
    if (max == 0) return true;
    uint64_t size;
    absl::string_view bytes;
    return TakeInteger(4, &body, &size) && TakeBytes(size, &body, &bytes) &&
           DecodeRle(bytes, BitWidth(max), page.entries, levels) &&
           std::none_of(levels->begin(), levels->end(), [&](uint32_t l) { return l > max; });
  };
  if (!take_levels(leaf.max_repetition, &out->repetitions) ||
      !take_levels(leaf.max_definition, &out->definitions)) {
    return Invalid("levels cannot be decoded");
  }
  if (leaf.max_definition > 0) {
    count = std::count(out->definitions.begin(), out->definitions.end(), leaf.max_definition);
  }
  Values& values = out->values;
  switch (page.encoding) {
    case Encoding::kPlain:
      return DecodePlain(leaf, body, count, &values);
    case Encoding::kDeltaBinaryPacked:
      if (leaf.is_text() || leaf.type == PhysicalType::kBoolean ||
          !DecodeDeltas(&body, leaf.bits(), count, &values.integers) || !body.empty()) {
        return Invalid("deltas cannot be decoded");
      }
      if (!leaf.is_signed && leaf.bits() == 32) {
        for (uint64_t& value : values.integers) value = static_cast<uint32_t>(value);
      }
      return absl::OkStatus();
    case Encoding::kDeltaLengthByteArray: {
      std::vector<uint64_t> lengths;
      if (!leaf.is_text() || !DecodeDeltas(&body, 32, count, &lengths)) {
        return Invalid("lengths of texts cannot be decoded");
      }
      for (const uint64_t length : lengths) {
        absl::string_view text;
        if (!TakeBytes(length, &body, &text)) return Invalid("a page of texts is cut off");
        RETURN_IF_ERROR(CountBytes(length));
        values.texts.emplace_back(text);
      }
      return body.empty() ? absl::OkStatus() : Invalid("a page has something after its texts");
    }
    case Encoding::kRleDictionary: {
      uint8_t width;
      std::vector<uint32_t> indices;
      if (!TakeByte(&body, &width) || width == 0 || width > 32 ||
          !DecodeRle(body, width, count, &indices)) {
        return Invalid("indices cannot be decoded");
      }
      for (const uint32_t index : indices) {
        if (index >= dictionary.size()) return Invalid("an index is outside the dictionary");
        if (leaf.is_text()) {
          RETURN_IF_ERROR(CountBytes(dictionary.texts[index].size()));
          values.texts.push_back(dictionary.texts[index]);
        } else {
          values.integers.push_back(dictionary.integers[index]);
        }
      }
      return absl::OkStatus();
    }
    default:
      return Invalid("a page has an unknown encoding");
  }
}

absl::Status FileReader::CheckIndexes(const ThriftValue& chunk, const ReadLeaf& leaf,
                                      const std::vector<ReadPage>& pages,
                                      const std::vector<LeafValues>& decoded, uint64_t rows,
                                      BoundaryOrder* order) {
  // Reads the index whose offset and length are in two fields.
  const auto read = [&](int offset_field, int length_field, ThriftValue* index) {
    uint64_t offset, length;
    absl::string_view part;
    RETURN_IF_ERROR(NeedSize(chunk, offset_field, &offset));
    RETURN_IF_ERROR(NeedSize(chunk, length_field, &length));
    RETURN_IF_ERROR(At(offset, length, &part));
    absl::StatusOr<ThriftValue> value = ReadThriftStruct(&part);
    if (!value.ok()) return value.status();
    if (!part.empty()) return Invalid("an index has another length");
    *index = *std::move(value);
    return absl::OkStatus();
  };
  ThriftValue offsets, bounds;
  RETURN_IF_ERROR(
      read(column_chunk::kOffsetIndexOffset, column_chunk::kOffsetIndexLength, &offsets));
  RETURN_IF_ERROR(
      read(column_chunk::kColumnIndexOffset, column_chunk::kColumnIndexLength, &bounds));
  const std::vector<ThriftValue>*locations, *null_pages, *mins, *maxs, *null_counts;
  int64_t stated_order;
  RETURN_IF_ERROR(NeedList(offsets, offset_index::kPages, ThriftType::kStruct, &locations));
  RETURN_IF_ERROR(NeedList(bounds, column_index::kNullPages, ThriftType::kTrue, &null_pages));
  RETURN_IF_ERROR(NeedList(bounds, column_index::kMinValues, ThriftType::kBinary, &mins));
  RETURN_IF_ERROR(NeedList(bounds, column_index::kMaxValues, ThriftType::kBinary, &maxs));
  RETURN_IF_ERROR(NeedList(bounds, column_index::kNullCounts, ThriftType::kInt64, &null_counts));
  RETURN_IF_ERROR(NeedNumber(bounds, column_index::kBoundaryOrder, &stated_order));
  for (const auto* list : {locations, null_pages, mins, maxs, null_counts}) {
    if (list->size() != pages.size()) return Invalid("an index has another number of pages");
  }
  uint64_t row = 0;
  bool ascends = true, descends = true;
  std::string last_min, last_max;
  bool has_last = false;
  for (size_t i = 0; i < pages.size(); ++i) {
    uint64_t offset, size, first_row;
    RETURN_IF_ERROR(NeedSize((*locations)[i], page_location::kOffset, &offset));
    RETURN_IF_ERROR(NeedSize((*locations)[i], page_location::kCompressedSize, &size));
    RETURN_IF_ERROR(NeedSize((*locations)[i], page_location::kFirstRow, &first_row));
    if (offset != pages[i].offset || size != pages[i].size || first_row != row) {
      return Invalid("the offset index has another page");
    }
    const LeafValues& values = decoded[i];
    if (leaf.max_repetition == 0) {
      row += pages[i].entries;
    } else {
      if (values.repetitions.empty() || values.repetitions[0] != 0) {
        return Invalid("a page does not begin with a row");
      }
      row += std::count(values.repetitions.begin(), values.repetitions.end(), 0u);
    }
    const size_t nulls = pages[i].entries - values.values.size();
    if ((*null_counts)[i].number != static_cast<int64_t>(nulls) ||
        ((*null_pages)[i].number != 0) != (nulls == pages[i].entries)) {
      return Invalid("the column index has another number of nulls");
    }
    const absl::string_view min = (*mins)[i].bytes, max = (*maxs)[i].bytes;
    if (nulls == pages[i].entries) {
      if (!min.empty() || !max.empty()) return Invalid("a page without values has bounds");
      continue;
    }
    bool is_min_exact, is_max_exact;
    RETURN_IF_ERROR(CheckBounds(leaf, values.values, min, max, &is_min_exact, &is_max_exact));
    std::string min_order, max_order;
    MakeOrder(leaf, min, &min_order);
    MakeOrder(leaf, max, &max_order);
    if (has_last) {
      ascends = ascends && min_order >= last_min && max_order >= last_max;
      descends = descends && min_order <= last_min && max_order <= last_max;
    }
    has_last = true;
    last_min = min_order;
    last_max = max_order;
  }
  if (row != rows) return Invalid("the pages have another number of rows");
  *order = ascends    ? BoundaryOrder::kAscending
           : descends ? BoundaryOrder::kDescending
                      : BoundaryOrder::kUnordered;
  if (stated_order != static_cast<int64_t>(*order))
    return Invalid("the pages are ordered otherwise");
  return absl::OkStatus();
}

absl::Status FileReader::CheckStatistics(const ThriftValue& meta, const ReadLeaf& leaf,
                                         const LeafValues& values, uint64_t entries,
                                         ParquetFile::RowGroup::Chunk* chunk) {
  const ThriftValue* stats;
  uint64_t nulls;
  RETURN_IF_ERROR(Need(meta, column_meta_data::kStatistics, ThriftType::kStruct, &stats));
  RETURN_IF_ERROR(NeedSize(*stats, statistics::kNullCount, &nulls));
  if (nulls != entries - values.values.size()) return Invalid("there are not as many nulls");
  if (nulls == entries) {
    return stats->fields.size() == 1 ? absl::OkStatus() : Invalid("nulls have statistics");
  }
  const ThriftValue *min, *max, *min_exact, *max_exact;
  RETURN_IF_ERROR(Need(*stats, statistics::kMinValue, ThriftType::kBinary, &min));
  RETURN_IF_ERROR(Need(*stats, statistics::kMaxValue, ThriftType::kBinary, &max));
  RETURN_IF_ERROR(Need(*stats, statistics::kIsMinExact, ThriftType::kTrue, &min_exact));
  RETURN_IF_ERROR(Need(*stats, statistics::kIsMaxExact, ThriftType::kTrue, &max_exact));
  RETURN_IF_ERROR(CheckBounds(leaf, values.values, min->bytes, max->bytes, &chunk->is_min_exact,
                              &chunk->is_max_exact));
  if ((min_exact->number != 0) != chunk->is_min_exact ||
      (max_exact->number != 0) != chunk->is_max_exact) {
    return Invalid("statistics are wrong about whether they are exact");
  }
  chunk->min = std::string(min->bytes);
  chunk->max = std::string(max->bytes);
  return absl::OkStatus();
}

absl::Status FileReader::CheckFilter(const ThriftValue& meta, const ReadLeaf& leaf,
                                     const Values& values, size_t* bytes) {
  *bytes = 0;
  if (meta.Find(column_meta_data::kBloomFilterOffset, ThriftType::kInt64) == nullptr) {
    return absl::OkStatus();
  }
  uint64_t offset, length, size;
  absl::string_view part;
  RETURN_IF_ERROR(NeedSize(meta, column_meta_data::kBloomFilterOffset, &offset));
  RETURN_IF_ERROR(NeedSize(meta, column_meta_data::kBloomFilterLength, &length));
  RETURN_IF_ERROR(At(offset, length, &part));
  absl::StatusOr<ThriftValue> header = ReadThriftStruct(&part);
  if (!header.ok()) return header.status();
  RETURN_IF_ERROR(NeedSize(*header, bloom_filter_header::kNumBytes, &size));
  for (const int field : {bloom_filter_header::kAlgorithm, bloom_filter_header::kHash,
                          bloom_filter_header::kCompression}) {
    const ThriftValue* choice;
    RETURN_IF_ERROR(Need(*header, field, ThriftType::kStruct, &choice));
    RETURN_IF_ERROR(Need(*choice, bloom_filter_choice::kOnly, ThriftType::kStruct, &choice));
  }
  // Some readers need a power of two.
  if (size != part.size() || size < BloomFilter::kBlockBytes || (size & (size - 1)) != 0) {
    return Invalid("a Bloom filter has another size");
  }
  RETURN_IF_ERROR(CountBytes(size));
  const BloomFilter filter(part);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!filter.Contains(BloomFilter::Hash(PlainBytes(leaf, values, i)))) {
      return Invalid("a Bloom filter lacks a value");
    }
  }
  *bytes = size;
  return absl::OkStatus();
}

absl::Status FileReader::ReadChunk(const ThriftValue& value, uint64_t rows, const ReadLeaf& leaf,
                                   ParquetFile::RowGroup::Chunk* chunk, LeafValues* values,
                                   uint64_t* uncompressed_size) {
  const ThriftValue* meta;
  RETURN_IF_ERROR(Need(value, column_chunk::kMetaData, ThriftType::kStruct, &meta));
  int64_t type, codec;
  uint64_t entries, stated_size, size, data_offset;
  const std::vector<ThriftValue>*path, *encodings, *encoding_stats;
  RETURN_IF_ERROR(NeedNumber(*meta, column_meta_data::kType, &type));
  RETURN_IF_ERROR(NeedList(*meta, column_meta_data::kEncodings, ThriftType::kInt64, &encodings));
  RETURN_IF_ERROR(NeedList(*meta, column_meta_data::kPath, ThriftType::kBinary, &path));
  RETURN_IF_ERROR(NeedNumber(*meta, column_meta_data::kCodec, &codec));
  RETURN_IF_ERROR(NeedSize(*meta, column_meta_data::kNumValues, &entries));
  RETURN_IF_ERROR(NeedSize(*meta, column_meta_data::kTotalUncompressedSize, &stated_size));
  RETURN_IF_ERROR(NeedSize(*meta, column_meta_data::kTotalCompressedSize, &size));
  RETURN_IF_ERROR(NeedSize(*meta, column_meta_data::kDataPageOffset, &data_offset));
  RETURN_IF_ERROR(
      NeedList(*meta, column_meta_data::kEncodingStats, ThriftType::kStruct, &encoding_stats));
  if (type != static_cast<int64_t>(leaf.type) || codec != static_cast<int64_t>(Codec::kZstd) ||
      !std::equal(path->begin(), path->end(), leaf.path.begin(), leaf.path.end(),
                  [](const ThriftValue& a, const std::string& b) { return a.bytes == b; })) {
    return Invalid("a chunk belongs to another column");
  }
  chunk->compressed_size = size;
  uint64_t offset = data_offset;
  const bool has_dictionary =
      meta->Find(column_meta_data::kDictionaryPageOffset, ThriftType::kInt64) != nullptr;
  if (has_dictionary) {
    RETURN_IF_ERROR(NeedSize(*meta, column_meta_data::kDictionaryPageOffset, &offset));
  }
  absl::string_view part;
  RETURN_IF_ERROR(At(offset, size, &part));
  const uint64_t end = offset + size;

  uint64_t true_size = 0;
  Values dictionary;
  // The key is the type of a page and its encoding.
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
  if (has_dictionary) {
    ReadPage page;
    RETURN_IF_ERROR(ReadPageAt(offset, end, &page, &true_size));
    if (page.type != PageType::kDictionary || page.encoding != Encoding::kPlain) {
      return Invalid("the first page is no dictionary");
    }
    RETURN_IF_ERROR(DecodePlain(leaf, page.body, page.entries, &dictionary));
    chunk->dictionary_entries = dictionary.size();
    const std::set<uint64_t> integers(dictionary.integers.begin(), dictionary.integers.end());
    const std::set<std::string> texts(dictionary.texts.begin(), dictionary.texts.end());
    if (integers.size() + texts.size() != dictionary.size()) {
      return Invalid("a dictionary has a value twice");
    }
    offset += page.size;
    if (offset != data_offset) return Invalid("the data pages do not follow the dictionary");
    counts[{static_cast<int64_t>(PageType::kDictionary), 0}] = 1;
  }
  std::vector<ReadPage> pages;
  std::vector<LeafValues> decoded;
  uint64_t true_entries = 0;
  while (offset < end) {
    ReadPage& page = pages.emplace_back();
    RETURN_IF_ERROR(ReadPageAt(offset, end, &page, &true_size));
    if (page.type != PageType::kData) return Invalid("a page is no data page");
    if (page.entries == 0) return Invalid("a page is empty");
    RETURN_IF_ERROR(DecodePage(leaf, page, dictionary, &decoded.emplace_back()));
    page.body.clear();
    page.body.shrink_to_fit();
    offset += page.size;
    true_entries += page.entries;
    ++chunk->pages[page.encoding];
    ++counts[{static_cast<int64_t>(PageType::kData), static_cast<int64_t>(page.encoding)}];
  }
  if (true_entries != entries || true_size != stated_size) {
    return Invalid("a chunk has another number of values, or another size");
  }
  *uncompressed_size = true_size;
  std::set<int64_t> true_encodings = {static_cast<int64_t>(Encoding::kRle)};
  for (const auto& [key, count] : counts) true_encodings.insert(key.second);
  std::set<int64_t> stated_encodings;
  for (const ThriftValue& encoding : *encodings) stated_encodings.insert(encoding.number);
  if (stated_encodings != true_encodings) return Invalid("a chunk has other encodings");
  for (const ThriftValue& stat : *encoding_stats) {
    int64_t page_type, encoding, count;
    RETURN_IF_ERROR(NeedNumber(stat, page_encoding_stats::kPageType, &page_type));
    RETURN_IF_ERROR(NeedNumber(stat, page_encoding_stats::kEncoding, &encoding));
    RETURN_IF_ERROR(NeedNumber(stat, page_encoding_stats::kCount, &count));
    const auto found = counts.find({page_type, encoding});
    if (found == counts.end() || found->second != count) {
      return Invalid("a chunk has another number of pages with an encoding");
    }
    counts.erase(found);
  }
  if (!counts.empty()) return Invalid("a chunk has encodings that its statistics do not have");
  RETURN_IF_ERROR(CheckIndexes(value, leaf, pages, decoded, rows, &chunk->order));
  for (LeafValues& page : decoded) {
    const auto move = [](auto* from, auto* to) {
      to->insert(to->end(), std::make_move_iterator(from->begin()),
                 std::make_move_iterator(from->end()));
    };
    move(&page.repetitions, &values->repetitions);
    move(&page.definitions, &values->definitions);
    move(&page.values.integers, &values->values.integers);
    move(&page.values.texts, &values->values.texts);
  }
  RETURN_IF_ERROR(CheckStatistics(*meta, leaf, *values, entries, chunk));
  return CheckFilter(*meta, leaf, values->values, &chunk->filter_bytes);
}

// Adds the values of a column in a row group to the table.
absl::Status FileReader::AddColumn(size_t column, uint64_t rows,
                                   const std::vector<LeafValues>& leaves) {
  ParquetTableColumn& out = file_.table.columns[column];
  const LeafValues& first = leaves[0];
  if (out.column.type != ParquetType::kTextMap) {
    const Values& values = first.values;
    const bool is_text = out.column.type == ParquetType::kFreeText;
    size_t next = 0;
    for (uint64_t row = 0; row < rows; ++row) {
      const bool is_present = first.definitions.empty() || first.definitions[row] != 0;
      out.present.push_back(is_present);
      if (is_text) out.texts.push_back(is_present ? values.texts[next++] : "");
      if (!is_text) out.integers.push_back(is_present ? values.integers[next++] : 0);
    }
    return absl::OkStatus();
  }
  const LeafValues& second = leaves[1];
  if (first.repetitions != second.repetitions || first.definitions != second.definitions) {
    return Invalid("the keys of maps have no values");
  }
  const uint32_t empty = out.column.nullable ? 1 : 0;
  size_t next = 0;
  for (size_t i = 0; i < first.repetitions.size(); ++i) {
    const uint32_t definition = first.definitions[i];
    const bool has_entry = definition > empty;
    if (first.repetitions[i] == 0) {
      out.present.push_back(definition >= empty);
      out.maps.emplace_back();
    } else if (!has_entry || out.maps.back().empty()) {
      return Invalid("a map has levels that cannot be");
    }
    if (!has_entry) continue;
    out.maps.back().emplace_back(first.values.texts[next], second.values.texts[next]);
    ++next;
  }
  return absl::OkStatus();
}

absl::Status FileReader::ReadRowGroup(const ThriftValue& value) {
  ParquetFile::RowGroup& group = file_.row_groups.emplace_back();
  const std::vector<ThriftValue>* chunks;
  uint64_t rows, size, compressed_size;
  RETURN_IF_ERROR(NeedList(value, row_group::kColumns, ThriftType::kStruct, &chunks));
  RETURN_IF_ERROR(NeedSize(value, row_group::kTotalByteSize, &size));
  RETURN_IF_ERROR(NeedSize(value, row_group::kNumRows, &rows));
  RETURN_IF_ERROR(NeedSize(value, row_group::kTotalCompressedSize, &compressed_size));
  if (chunks->size() != leaves_.size()) return Invalid("a row group has other columns");
  if (rows == 0) return Invalid("a row group is empty");
  group.rows = rows;
  if (value.Find(row_group::kSortingColumns, ThriftType::kList) != nullptr) {
    const std::vector<ThriftValue>* columns;
    RETURN_IF_ERROR(NeedList(value, row_group::kSortingColumns, ThriftType::kStruct, &columns));
    for (const ThriftValue& column : *columns) {
      uint64_t leaf;
      RETURN_IF_ERROR(NeedSize(column, sorting_column::kColumn, &leaf));
      if (leaf >= leaves_.size()) return Invalid("rows are sorted by a column that is missing");
      group.sorting_columns.push_back(leaf);
    }
  }
  uint64_t true_size = 0, true_compressed_size = 0;
  std::vector<LeafValues> values;  // Of the leaves of one column.
  for (size_t i = 0; i < leaves_.size(); ++i) {
    uint64_t uncompressed_size = 0;
    RETURN_IF_ERROR(ReadChunk((*chunks)[i], rows, leaves_[i], &group.chunks.emplace_back(),
                              &values.emplace_back(), &uncompressed_size));
    true_size += uncompressed_size;
    true_compressed_size += group.chunks.back().compressed_size;
    if (i + 1 < leaves_.size() && leaves_[i + 1].column == leaves_[i].column) continue;
    RETURN_IF_ERROR(AddColumn(leaves_[i].column, rows, values));
    values.clear();
  }
  if (size != true_size || compressed_size != true_compressed_size) {
    return Invalid("a row group has another size");
  }
  file_.table.rows += rows;
  return absl::OkStatus();
}

absl::StatusOr<ParquetFile> FileReader::Read() {
  constexpr size_t kEndSize = sizeof(uint32_t) + kMagic.size();
  if (bytes_.size() < kMagic.size() + kEndSize || bytes_.substr(0, kMagic.size()) != kMagic ||
      bytes_.substr(bytes_.size() - kMagic.size()) != kMagic) {
    return Invalid("this is not a Parquet file");
  }
  absl::string_view end = bytes_.substr(bytes_.size() - kEndSize);
  uint64_t footer_size;
  TakeInteger(sizeof(uint32_t), &end, &footer_size);
  if (footer_size > bytes_.size() - kMagic.size() - kEndSize)
    return Invalid("the footer is cut off");
  absl::string_view footer = bytes_.substr(bytes_.size() - kEndSize - footer_size, footer_size);
  absl::StatusOr<ThriftValue> meta = ReadThriftStruct(&footer);
  if (!meta.ok()) return meta.status();
  if (!footer.empty()) return Invalid("there is something after the footer");

  int64_t version;
  uint64_t rows;
  const std::vector<ThriftValue>*schema, *row_groups, *orders;
  const ThriftValue* created_by;
  RETURN_IF_ERROR(NeedNumber(*meta, file_meta_data::kVersion, &version));
  RETURN_IF_ERROR(NeedList(*meta, file_meta_data::kSchema, ThriftType::kStruct, &schema));
  RETURN_IF_ERROR(NeedSize(*meta, file_meta_data::kNumRows, &rows));
  RETURN_IF_ERROR(NeedList(*meta, file_meta_data::kRowGroups, ThriftType::kStruct, &row_groups));
  RETURN_IF_ERROR(Need(*meta, file_meta_data::kCreatedBy, ThriftType::kBinary, &created_by));
  RETURN_IF_ERROR(NeedList(*meta, file_meta_data::kColumnOrders, ThriftType::kStruct, &orders));
  if (version != 1) return Invalid("the file has another version");
  file_.created_by = std::string(created_by->bytes);
  RETURN_IF_ERROR(ReadSchema(*schema));
  if (orders->size() != leaves_.size()) return Invalid("a column has no order");
  for (const ThriftValue& order : *orders) {
    const ThriftValue* type_order;
    RETURN_IF_ERROR(Need(order, column_order::kTypeOrder, ThriftType::kStruct, &type_order));
  }
  if (meta->Find(file_meta_data::kKeyValues, ThriftType::kList) != nullptr) {
    const std::vector<ThriftValue>* pairs;
    RETURN_IF_ERROR(NeedList(*meta, file_meta_data::kKeyValues, ThriftType::kStruct, &pairs));
    for (const ThriftValue& pair : *pairs) {
      const ThriftValue *key, *value;
      RETURN_IF_ERROR(Need(pair, key_value::kKey, ThriftType::kBinary, &key));
      RETURN_IF_ERROR(Need(pair, key_value::kValue, ThriftType::kBinary, &value));
      file_.table.metadata.emplace_back(key->bytes, value->bytes);
    }
  }
  for (const ThriftValue& row_group : *row_groups) RETURN_IF_ERROR(ReadRowGroup(row_group));
  if (file_.table.rows != rows) return Invalid("the row groups have another number of rows");
  return std::move(file_);
}

#undef RETURN_IF_ERROR

}  // namespace
}  // namespace parquet

absl::StatusOr<ParquetFile> ReadParquet(absl::string_view bytes,
                                        const ParquetReadOptions& options) {
  return parquet::FileReader(bytes, options).Read();
}

}  // namespace gotrace::internal
