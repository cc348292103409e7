// Numbers of the Parquet format that the writer and the reader share: enums, and the fields of its
// structs. FORMAT.md describes the parts of the format that are used.
#ifndef GOTRACE_EXPORT_PARQUET_PARQUET_FORMAT_H_
#define GOTRACE_EXPORT_PARQUET_PARQUET_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gotrace::internal::parquet {

// At both ends of a file.
constexpr absl::string_view kMagic = "PAR1";

enum class PhysicalType : uint8_t { kBoolean = 0, kInt32 = 1, kInt64 = 2, kByteArray = 6 };

enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

// The older form of LogicalType, which old readers need.
enum class ConvertedType : uint8_t { kUtf8 = 0, kMap = 1, kUint32 = 13, kUint64 = 14 };

enum class Encoding : uint8_t {
  kPlain = 0,
  kRle = 3,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kRleDictionary = 8,
};

enum class Codec : uint8_t { kUncompressed = 0, kZstd = 6 };

enum class PageType : uint8_t { kData = 0, kDictionary = 2 };

enum class BoundaryOrder : uint8_t { kUnordered = 0, kAscending = 1, kDescending = 2 };

// Each enum below has the numbers of the fields of one struct.

namespace file_meta_data {
enum { kVersion = 1, kSchema, kNumRows, kRowGroups, kKeyValues, kCreatedBy, kColumnOrders };
}
namespace schema_element {
enum { kType = 1, kRepetition = 3, kName, kNumChildren, kConvertedType, kLogicalType = 10 };
}
namespace logical_type {
enum { kString = 1, kMap = 2, kInteger = 10 };
}
namespace int_type {
enum { kBitWidth = 1, kIsSigned };
}
namespace column_order {
enum { kTypeOrder = 1 };
}
namespace key_value {
enum { kKey = 1, kValue };
}
namespace row_group {
enum {
  kColumns = 1,
  kTotalByteSize,
  kNumRows,
  kSortingColumns,
  kFileOffset,
  kTotalCompressedSize,
};
}
namespace sorting_column {
enum { kColumn = 1, kDescending, kNullsFirst };
}
namespace column_chunk {
enum {
  kFileOffset = 2,
  kMetaData,
  kOffsetIndexOffset,
  kOffsetIndexLength,
  kColumnIndexOffset,
  kColumnIndexLength,
};
}
namespace column_meta_data {
enum {
  kType = 1,
  kEncodings,
  kPath,
  kCodec,
  kNumValues,
  kTotalUncompressedSize,
  kTotalCompressedSize,
  kDataPageOffset = 9,
  kDictionaryPageOffset = 11,
  kStatistics,
  kEncodingStats,
  kBloomFilterOffset,
  kBloomFilterLength,
};
}
namespace statistics {
enum { kNullCount = 3, kMaxValue = 5, kMinValue, kIsMaxExact, kIsMinExact };
}
namespace page_encoding_stats {
enum { kPageType = 1, kEncoding, kCount };
}
namespace page_header {
enum {
  kType = 1,
  kUncompressedSize,
  kCompressedSize,
  kCrc,
  kDataPage,
  kDictionaryPage = 7,
};
}
namespace data_page_header {
enum { kNumValues = 1, kEncoding, kDefinitionLevels, kRepetitionLevels };
}
namespace dictionary_page_header {
enum { kNumValues = 1, kEncoding };
}
namespace column_index {
enum { kNullPages = 1, kMinValues, kMaxValues, kBoundaryOrder, kNullCounts };
}
namespace offset_index {
enum { kPages = 1 };
}
namespace page_location {
enum { kOffset = 1, kCompressedSize, kFirstRow };
}
namespace bloom_filter_header {
enum { kNumBytes = 1, kAlgorithm, kHash, kCompression };
}
// The only member of the unions BloomFilterAlgorithm, BloomFilterHash and BloomFilterCompression.
namespace bloom_filter_choice {
enum { kOnly = 1 };
}

}  // namespace gotrace::internal::parquet

#endif  // GOTRACE_EXPORT_PARQUET_PARQUET_FORMAT_H_
