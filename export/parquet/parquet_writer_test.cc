// Writes tables and reads them back. ReadParquet() also checks the statistics, indexes, checksums
// and filters of each file.
#include "export/parquet/parquet_writer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/parquet/bloom_filter.h"
#include "export/parquet/parquet_reader.h"
#include "export/parquet/parquet_table.h"
#include "export/parquet/thrift_compact.h"
#include "gmock/gmock.h"
#include "gotrace/byte_sink.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace parquet_writer_test {

using parquet::BoundaryOrder;
using parquet::Encoding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Writes and reads `table`, and expects that it is the same.
ParquetFile RoundTrip(ParquetTable table, const ParquetOptions& options = {}) {
  MakeValid(&table);
  const absl::StatusOr<std::string> bytes = WriteParquet(table, options);
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.status();
    return {};
  }
  absl::StatusOr<ParquetFile> file = ReadParquet(*bytes);
  if (!file.ok()) {
    ADD_FAILURE() << file.status();
    return {};
  }
  EXPECT_EQ(FindDifference(table, file->table), "");
  return *std::move(file);
}

// A table with one column.
ParquetTable IntegerTable(ParquetType type, std::vector<uint64_t> values) {
  ParquetTable table;
  table.rows = values.size();
  table.columns.push_back({{"c", type}, std::vector<uint8_t>(values.size(), 1), values, {}, {}});
  return table;
}

ParquetTable TextTable(std::vector<std::string> texts, ParquetType type = ParquetType::kText) {
  ParquetTable table;
  table.rows = texts.size();
  table.columns.push_back({{"c", type}, std::vector<uint8_t>(texts.size(), 1), {}, texts, {}});
  return table;
}

const ParquetFile::RowGroup::Chunk& OnlyChunk(const ParquetFile& file) {
  static const ParquetFile::RowGroup::Chunk none;
  EXPECT_EQ(file.row_groups.size(), 1u);
  return file.row_groups.empty() ? none : file.row_groups[0].chunks[0];
}

// Other readers of Parquet are compared with these lines.
TEST(ParquetTable, ToJsonLines) {
  ParquetTable table = IntegerTable(ParquetType::kInt32, {7, ~uint64_t{0}});
  table.columns[0].present[0] = 0;
  table.columns.push_back(IntegerTable(ParquetType::kUint64, {0, ~uint64_t{0}}).columns[0]);
  table.columns.push_back(IntegerTable(ParquetType::kBool, {1, 0}).columns[0]);
  table.columns.push_back(TextTable({"a\"b", ""}).columns[0]);
  ParquetTableColumn maps = {{"m", ParquetType::kTextMap}, {1, 1}, {}, {}, {}};
  maps.maps = {{}, {{"k", "v"}, {"l", ""}}};
  table.columns.push_back(maps);
  EXPECT_EQ(ToJsonLines(table),
            R"({"c":null,"c":"0","c":true,"c":"a\"b","m":{}}
{"c":"-1","c":"18446744073709551615","c":false,"c":"","m":{"k":"v","l":""}}
)");
}

TEST(ParquetWriter, RandomTables) {
  std::set<Encoding> encodings;
  size_t row_groups = 0, pages = 0, filters = 0;
  for (uint64_t seed = 0; seed < TestRounds(80); ++seed) {
    const RandomTable random = MakeRandomTable(seed, 4000);
    const absl::StatusOr<std::string> bytes =
        WriteParquet(random.table, random.options, random.batches);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const absl::StatusOr<ParquetFile> file = ReadParquet(*bytes);
    ASSERT_TRUE(file.ok()) << "seed " << seed << ": " << file.status();
    ASSERT_EQ(FindDifference(random.table, file->table), "") << "seed " << seed;
    // The same rows give the same bytes, however they are appended.
    ASSERT_EQ(*WriteParquet(random.table, random.options, {777, 1, 5000}), *bytes) << seed;
    row_groups += file->row_groups.size();
    for (const ParquetFile::RowGroup& group : file->row_groups) {
      for (const auto& chunk : group.chunks) {
        filters += chunk.filter_bytes > 0;
        for (const auto& [encoding, count] : chunk.pages) {
          encodings.insert(encoding);
          pages += count;
        }
      }
    }
  }
  EXPECT_THAT(encodings, ElementsAre(Encoding::kPlain, Encoding::kDeltaBinaryPacked,
                                     Encoding::kDeltaLengthByteArray, Encoding::kRleDictionary));
  EXPECT_GT(row_groups, TestRounds(100));
  EXPECT_GT(pages, 5 * row_groups);
  EXPECT_GT(filters, TestRounds(100));
}

TEST(ParquetWriter, EmptyTable) {
  const ParquetFile file = RoundTrip(IntegerTable(ParquetType::kInt64, {}));
  EXPECT_EQ(file.row_groups.size(), 0u);
  EXPECT_EQ(file.table.columns.size(), 1u);
}

TEST(ParquetWriter, Metadata) {
  ParquetTable table = IntegerTable(ParquetType::kInt64, {3, 4});
  table.columns.insert(table.columns.begin(), table.columns[0]);
  table.columns[0] = {{"map", ParquetType::kTextMap}, {1, 1}, {}, {}, {{}, {{"k", "v"}}}};
  table.metadata = {{"key", "value"}, {"another", ""}};
  ParquetOptions options;
  options.sorting_columns = {1};
  options.created_by = "test version 2";
  const ParquetFile file = RoundTrip(table, options);
  EXPECT_THAT(file.table.metadata, ElementsAre(Pair("key", "value"), Pair("another", "")));
  EXPECT_EQ(file.created_by, "test version 2");
  // The third leaf, after the two of the map.
  EXPECT_THAT(file.row_groups[0].sorting_columns, ElementsAre(2));
}

TEST(ParquetWriter, ExtremeIntegers) {
  constexpr uint64_t kMin64 = uint64_t{1} << 63;
  const std::vector<uint64_t> values = {0, kMin64, ~kMin64, ~uint64_t{0}, 1, kMin64 | 1, 0};
  for (const ParquetType type :
       {ParquetType::kInt64, ParquetType::kUint64, ParquetType::kInt32, ParquetType::kUint32}) {
    RoundTrip(IntegerTable(type, values));
    for (const uint64_t value : values) RoundTrip(IntegerTable(type, {value}));
  }
  const std::string all_ones(8, '\xFF');
  const auto bytes = [](uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const ParquetFile is_signed = RoundTrip(IntegerTable(ParquetType::kInt64, values));
  EXPECT_EQ(OnlyChunk(is_signed).min, bytes(kMin64));
  EXPECT_EQ(OnlyChunk(is_signed).max, bytes(~kMin64));
  const ParquetFile is_unsigned = RoundTrip(IntegerTable(ParquetType::kUint64, values));
  EXPECT_EQ(OnlyChunk(is_unsigned).min, bytes(0));
  EXPECT_EQ(OnlyChunk(is_unsigned).max, all_ones);
}

// Integers that are spread over their type alternate with each other, so that all differences wrap
// around.
TEST(ParquetWriter, DeltasWrapAround) {
  for (const ParquetType type :
       {ParquetType::kInt32, ParquetType::kUint32, ParquetType::kInt64, ParquetType::kUint64}) {
    const bool is_32 = type == ParquetType::kInt32 || type == ParquetType::kUint32;
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 5000; ++i) {
      const uint64_t half = is_32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
      values.push_back(i % 2 * half + i * 17);
    }
    const ParquetFile file = RoundTrip(IntegerTable(type, values));
    EXPECT_EQ(OnlyChunk(file).pages.count(Encoding::kDeltaBinaryPacked), 1u);
  }
}

TEST(ParquetWriter, ChoosesEncodings) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> times, hashes, noise, bytes;
  uint64_t time = 1'000'000'000;
  for (int i = 0; i < 50'000; ++i) {
    times.push_back(time += random() % 1000);
    hashes.push_back((random() % 500 + 1) * 0x9E3779B97F4A7C15);
    noise.push_back(random());
    // Three bytes of eight, which the compressor finds in whole bytes only.
    bytes.push_back(random() % 200 << 8 | random() % 200 << 32 | random() % 200 << 56);
  }
  const auto pages = [](const std::vector<uint64_t>& values) {
    const ParquetFile file = RoundTrip(IntegerTable(ParquetType::kUint64, values));
    return OnlyChunk(file).pages;
  };
  EXPECT_THAT(pages(times), ElementsAre(Pair(Encoding::kDeltaBinaryPacked, 3)));
  EXPECT_THAT(pages(hashes), ElementsAre(Pair(Encoding::kRleDictionary, 3)));
  // Nothing makes noise smaller.
  const ParquetFile file = RoundTrip(IntegerTable(ParquetType::kUint64, noise));
  EXPECT_LT(OnlyChunk(file).compressed_size, 50'000u * 8 + 5000);
  EXPECT_EQ(OnlyChunk(file).dictionary_entries, 0u);
  EXPECT_THAT(pages(bytes), ElementsAre(Pair(Encoding::kPlain, 3)));
  // One value takes next to nothing, also with nulls.
  EXPECT_THAT(pages(std::vector<uint64_t>(50'000, 7)),
              ElementsAre(Pair(Encoding::kRleDictionary, 1)));
}

TEST(ParquetWriter, NullsCostLittle) {
  ParquetTable table = IntegerTable(ParquetType::kInt64, std::vector<uint64_t>(100'000, 0));
  table.columns[0].column.nullable = true;
  const ParquetFile without = RoundTrip(table);
  EXPECT_LT(OnlyChunk(without).compressed_size, 120u);
  std::fill(table.columns[0].present.begin(), table.columns[0].present.end(), 0);
  const ParquetFile all = RoundTrip(table);
  EXPECT_LT(OnlyChunk(all).compressed_size, 60u);
  EXPECT_THAT(OnlyChunk(all).pages, ElementsAre(Pair(Encoding::kPlain, 1)));
  for (size_t i = 0; i < table.rows; i += 777) table.columns[0].present[i] = 1;
  RoundTrip(table);
}

TEST(ParquetWriter, Texts) {
  for (const ParquetType type : {ParquetType::kText, ParquetType::kFreeText}) {
    std::vector<std::string> few, different;
    for (int i = 0; i < 20'000; ++i) {
      few.push_back(absl::StrCat("state ", i % 5));
      different.push_back(absl::StrCat("message number ", i));
    }
    const ParquetFile with = RoundTrip(TextTable(few, type));
    EXPECT_EQ(OnlyChunk(with).dictionary_entries, 5u);
    EXPECT_EQ(OnlyChunk(with).pages.count(Encoding::kRleDictionary), 1u);
    const ParquetFile without = RoundTrip(TextTable(different, type));
    EXPECT_EQ(OnlyChunk(without).dictionary_entries, 0u);
    EXPECT_EQ(OnlyChunk(without).pages.count(Encoding::kDeltaLengthByteArray), 1u);
  }
}

TEST(ParquetWriter, RepairsTexts) {
  // Both become the same text, and so the dictionary has it once, which ReadParquet() checks.
  ParquetTable table = TextTable({"a\xFF", "a\xFE", "\xED\xA0\x80", "\xC3", "\xC3\xA9", ""});
  for (int i = 0; i < 8; ++i) {
    table.columns[0].texts.insert(table.columns[0].texts.end(), table.columns[0].texts.begin(),
                                  table.columns[0].texts.begin() + 6);
  }
  table.rows = table.columns[0].texts.size();
  table.columns[0].present.resize(table.rows, 1);
  const absl::StatusOr<std::string> bytes = WriteParquet(table, {});
  ASSERT_TRUE(bytes.ok());
  const absl::StatusOr<ParquetFile> file = ReadParquet(*bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<std::string> texts = file->table.columns[0].texts;
  texts.resize(6);
  EXPECT_THAT(texts, ElementsAre("a\uFFFD", "a\uFFFD", "\uFFFD\uFFFD\uFFFD", "\uFFFD", "é", ""));
}

// The text of the metadata at the end of a file, with the numbers of fields and types.
std::string TextOf(const ThriftValue& value) {
  switch (value.type) {
    case ThriftType::kBinary:
      return absl::StrCat("'", absl::CHexEscape(value.bytes), "'");
    case ThriftType::kList:
      return absl::StrCat("[",
                          absl::StrJoin(value.elements, ", ",
                                        [](std::string* out, const ThriftValue& element) {
                                          absl::StrAppend(out, TextOf(element));
                                        }),
                          "]");
    case ThriftType::kStruct:
      return absl::StrCat("{",
                          absl::StrJoin(value.fields, " ",
                                        [](std::string* out, const auto& field) {
                                          absl::StrAppend(out, field.first, ":",
                                                          TextOf(field.second));
                                        }),
                          "}");
    default:
      return absl::StrCat(value.number);
  }
}

// Every other test reads files with the numbers that they were written with. These are Parquet's.
TEST(ParquetWriter, NumbersOfFields) {
  ParquetTable table;
  table.rows = 3;
  table.columns.push_back(
      {{"n", ParquetType::kInt64, /*nullable=*/true}, {1, 1, 0}, {1, 2, 0}, {}, {}});
  const std::string long_text = std::string(31, 'b') + "bc";
  table.columns.push_back(
      {{"t", ParquetType::kFreeText}, {1, 1, 1}, {}, {"a", "a", long_text}, {}});
  MakeValid(&table);
  const absl::StatusOr<std::string> file = WriteParquet(table, {});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->substr(0, 4), "PAR1");
  EXPECT_EQ(file->substr(file->size() - 4), "PAR1");
  const std::string size = file->substr(file->size() - 8, 4);
  const size_t footer_size = static_cast<uint8_t>(size[0]) | static_cast<uint8_t>(size[1]) << 8;
  absl::string_view footer(*file);
  footer = footer.substr(file->size() - 8 - footer_size, footer_size);
  const absl::StatusOr<ThriftValue> metadata = ReadThriftStruct(&footer);
  ASSERT_TRUE(metadata.ok());
  // Sizes and offsets depend on how pages are compressed.
  EXPECT_EQ(std::regex_replace(TextOf(*metadata), std::regex(":[0-9]{2,}"), ":N"),
            "{1:1 2:[{4:'schema' 5:2}, {1:2 3:1 4:'n'}, {1:6 3:0 4:'t' 6:0 10:{1:{}}}] 3:3 "
            "4:[{1:[{2:0 3:{1:2 2:[3, 5] 3:['n'] 4:6 5:3 6:N 7:N 9:4 "
            "12:{3:1 5:'\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00' "
            "6:'\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00' 7:1 8:1} 13:[{1:0 2:5 3:1}]} "
            "4:N 5:N 6:N 7:N}, "
            "{2:0 3:{1:6 2:[3, 6] 3:['t'] 4:6 5:3 6:N 7:N 9:N "
            "12:{3:0 5:'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbc' 6:'a' 7:0 8:1} 13:[{1:0 2:6 3:1}]} "
            "4:N 5:N 6:N 7:N}] 2:N 3:3 5:4 6:N}] 6:'gotrace version 1' 7:[{1:{}}, {1:{}}]}");
}

TEST(ParquetWriter, BoundsOfLongTexts) {
  struct Case {
    std::string text;
    std::string min, max;
  };
  const std::string a(31, 'a');
  const Case cases[] = {
      {a + "b", a + "b", a + "b"},
      {a + "bc", a + "b", a + "c"},
      // A character that does not fit as a whole.
      {a + "\xC3\xA9", a, std::string(30, 'a') + "b"},
      // The last characters have no next one of the same form.
      {std::string(30, 'a') + "b\x7F" + "c", std::string(30, 'a') + "b\x7F",
       std::string(30, 'a') + "c"},
      {std::string(30, 'a') + "\xDF\xBF" + "c", std::string(30, 'a') + "\xDF\xBF",
       std::string(29, 'a') + "b"},
      {std::string(40, '\x7F'), std::string(32, '\x7F'), std::string(40, '\x7F')},
  };
  for (const Case& c : cases) {
    const ParquetFile file = RoundTrip(TextTable({c.text}, ParquetType::kFreeText));
    EXPECT_EQ(OnlyChunk(file).min, c.min);
    EXPECT_EQ(OnlyChunk(file).max, c.max);
    EXPECT_EQ(OnlyChunk(file).is_min_exact, c.min == c.text);
    EXPECT_EQ(OnlyChunk(file).is_max_exact, c.max == c.text);
  }
}

// A bound that one page cut and that is a value of another page is exact, whichever comes first. If
// it is above all values, it is not exact, although the largest value is short.
TEST(ParquetWriter, BoundsOfSeveralPages) {
  const std::string a(31, 'a');
  const std::vector<std::string> cut(1024, a + "bc"), also_cut(1024, a + "bd"), same(1024, a + "c");
  const auto is_max_exact = [&](std::vector<std::string> first,
                                const std::vector<std::string>& second, const std::string& max) {
    first.insert(first.end(), second.begin(), second.end());
    ParquetOptions options;
    options.page_rows = 1024;
    options.page_bytes = 20'000;
    const ParquetFile file = RoundTrip(TextTable(first), options);
    EXPECT_EQ(OnlyChunk(file).pages.at(Encoding::kRleDictionary), 2u);
    EXPECT_EQ(OnlyChunk(file).max, max);
    return OnlyChunk(file).is_max_exact;
  };
  EXPECT_FALSE(is_max_exact(cut, also_cut, a + "c"));
  EXPECT_TRUE(is_max_exact(cut, same, a + "c"));
  EXPECT_TRUE(is_max_exact(same, cut, a + "c"));
  const std::string prefix(28, 'a');
  EXPECT_FALSE(is_max_exact(std::vector<std::string>(1024, prefix + "a\x7F\x7F\x7F" + "c"),
                            std::vector<std::string>(1024, prefix + "a\xC2\x80"), prefix + "b"));
}

// Texts that are all different in one row group may repeat in the next one.
TEST(ParquetWriter, TextsOfRowGroups) {
  std::vector<std::string> texts;
  for (int i = 0; i < 20'000; ++i) {
    texts.push_back(absl::StrCat("message ", i < 10'000 ? i : i % 10));
  }
  ParquetOptions options;
  options.row_group_rows = 10'000;
  const ParquetFile file = RoundTrip(TextTable(texts, ParquetType::kFreeText), options);
  ASSERT_EQ(file.row_groups.size(), 2u);
  EXPECT_EQ(file.row_groups[0].chunks[0].dictionary_entries, 0u);
  EXPECT_EQ(file.row_groups[1].chunks[0].dictionary_entries, 10u);
}

TEST(ParquetWriter, Maps) {
  for (const bool nullable : {false, true}) {
    ParquetTable table;
    table.rows = 3000;
    ParquetTableColumn column = {{"attrs", ParquetType::kTextMap, nullable}, {}, {}, {}, {}};
    for (size_t i = 0; i < table.rows; ++i) {
      column.present.push_back(!nullable || i % 7 != 0);
      column.maps.emplace_back();
      for (size_t k = 0; k < i % 4; ++k) {
        column.maps.back().emplace_back(absl::StrCat("key", k), absl::StrCat("value", i % 10));
      }
    }
    table.columns.push_back(column);
    ParquetOptions options;
    options.page_rows = 10;
    options.page_bytes = 100;
    options.row_group_rows = 1700;
    const ParquetFile file = RoundTrip(table, options);
    ASSERT_EQ(file.row_groups.size(), 2u);
    EXPECT_EQ(file.row_groups[0].chunks.size(), 2u);
    EXPECT_GT(file.row_groups[0].chunks[0].pages.at(Encoding::kRleDictionary), 10u);
  }
}

TEST(ParquetWriter, RowGroupsEnd) {
  ParquetTable table = IntegerTable(ParquetType::kInt64, std::vector<uint64_t>(10'000, 1));
  ParquetOptions options;
  options.row_group_rows = 3000;
  const auto rows = [](const ParquetFile& file) {
    std::vector<size_t> rows;
    for (const auto& group : file.row_groups) rows.push_back(group.rows);
    return rows;
  };
  EXPECT_THAT(rows(RoundTrip(table, options)), ElementsAre(3000, 3000, 3000, 1000));
  // 8 bytes each; looked at after each 1024 rows.
  options.row_group_rows = 100'000;
  options.row_group_bytes = 4096 * 8 - 7;
  EXPECT_THAT(rows(RoundTrip(table, options)), ElementsAre(4096, 4096, 1808));
}

TEST(ParquetWriter, EndRowGroup) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  ParquetWriter writer({{"c", ParquetType::kInt64}}, {}, nullptr, sink.get());
  const std::vector<uint64_t> values = {1, 2, 3};
  ColumnValues column;
  column.values = values;
  writer.EndRowGroup();
  writer.Append(3, {column});
  writer.EndRowGroup();
  writer.EndRowGroup();
  writer.Append(3, {column});
  EXPECT_EQ(writer.rows(), 6u);
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(sink->Finish().ok());
  const absl::StatusOr<ParquetFile> file = ReadParquet(bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->row_groups.size(), 2u);
  EXPECT_THAT(file->table.columns[0].integers, ElementsAre(1, 2, 3, 1, 2, 3));
}

// A row group has its own dictionary, whatever the handles before it were.
TEST(ParquetWriter, HandlesInRowGroups) {
  std::vector<std::string> texts;
  for (int i = 0; i < 6000; ++i) texts.push_back(absl::StrCat("text ", i / 1000 * 10 + i % 7));
  ParquetOptions options;
  options.row_group_rows = 1500;
  const ParquetFile file = RoundTrip(TextTable(texts), options);
  ASSERT_EQ(file.row_groups.size(), 4u);
  EXPECT_EQ(file.row_groups[0].chunks[0].dictionary_entries, 14u);
  EXPECT_EQ(file.row_groups[3].chunks[0].dictionary_entries, 14u);
}

TEST(ParquetWriter, PagesAreOrdered) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> up, down, mixed;
  for (uint64_t i = 0; i < 10'000; ++i) {
    up.push_back(i * 1000 + i * i % 999);
    down.push_back(100'000'000 - up.back());
    mixed.push_back(random());
  }
  ParquetOptions options;
  options.page_rows = 1024;
  const auto order = [&](const std::vector<uint64_t>& values) {
    const ParquetFile file = RoundTrip(IntegerTable(ParquetType::kUint64, values), options);
    return OnlyChunk(file).order;
  };
  EXPECT_EQ(order(up), BoundaryOrder::kAscending);
  EXPECT_EQ(order(down), BoundaryOrder::kDescending);
  EXPECT_EQ(order(mixed), BoundaryOrder::kUnordered);
}

// Also if their values seem to take nothing.
TEST(ParquetWriter, PagesHaveLimit) {
  const std::vector<uint64_t> values((size_t{5} << 20) / 2, 7);
  ParquetOptions options;
  options.row_group_rows = values.size();
  const ParquetFile file = RoundTrip(IntegerTable(ParquetType::kUint64, values), options);
  EXPECT_EQ(OnlyChunk(file).pages.begin()->second, 3u);
}

TEST(ParquetWriter, LargeTextsMakeShortPages) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(std::string(10'000 + i, 'x'));
  ParquetOptions options;
  options.page_bytes = 50'000;
  const ParquetFile file = RoundTrip(TextTable(texts, ParquetType::kFreeText), options);
  EXPECT_EQ(OnlyChunk(file).pages.at(Encoding::kDeltaLengthByteArray), 75u);
}

TEST(ParquetWriter, BloomFilters) {
  std::vector<uint64_t> different, few;
  for (uint64_t i = 0; i < 100'000; ++i) {
    different.push_back(i * 0x9E3779B97F4A7C15);
    few.push_back(i % 100 * 1'000'003);
  }
  const auto size = [](std::vector<uint64_t> values, ParquetType type) {
    ParquetTable table = IntegerTable(type, std::move(values));
    table.columns[0].column.bloom_filter = true;
    const ParquetFile file = RoundTrip(table);
    return OnlyChunk(file).filter_bytes;
  };
  EXPECT_EQ(size(different, ParquetType::kInt64), size_t{1} << 18);
  EXPECT_EQ(size(few, ParquetType::kUint32), 256u);
  EXPECT_EQ(size(few, ParquetType::kBool), 0u);
  EXPECT_EQ(size({5}, ParquetType::kInt32), 32u);
}

TEST(ParquetWriter, BadCalls) {
  const std::vector<uint64_t> values = {1, 2, 3};
  const std::vector<uint8_t> present = {1, 0, 1};
  const std::vector<absl::string_view> texts = {"a", "b", "c"};
  ColumnValues integers;
  integers.values = values;
  ColumnValues with_null = integers;
  with_null.present = present;
  ColumnValues text;
  text.texts = texts;
  struct Case {
    std::vector<ParquetColumn> schema;
    std::vector<ColumnValues> columns;
    absl::string_view message;
  };
  const auto c = [](ParquetType type) { return ParquetColumn{"c", type}; };
  const Case cases[] = {
      {{}, {}, "at least one column"},
      {{c(ParquetType::kInt64), c(ParquetType::kBool)}, {integers, integers}, "two columns c"},
      {{c(ParquetType::kInt64)}, {}, "0 columns, not 1"},
      {{c(ParquetType::kInt64)}, {text}, "one value for each row"},
      {{c(ParquetType::kFreeText)}, {integers}, "one value for each row"},
      {{c(ParquetType::kTextMap)}, {integers}, "one value for each row"},
      {{c(ParquetType::kText)}, {integers}, "nothing returns their texts"},
      {{c(ParquetType::kInt64)}, {with_null}, "not nullable"},
  };
  for (const Case& test : cases) {
    std::string bytes;
    const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
    ParquetWriter writer(test.schema, {}, nullptr, sink.get());
    writer.Append(3, test.columns);
    const absl::Status status = writer.Finish();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(test.message)));
    EXPECT_EQ(writer.status(), status);
  }
}

TEST(ParquetWriter, BadOptions) {
  const auto finish = [](const ParquetOptions& options) {
    std::string bytes;
    const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
    return ParquetWriter({{"m", ParquetType::kTextMap}}, options, nullptr, sink.get()).Finish();
  };
  EXPECT_TRUE(finish({}).ok());
  ParquetOptions options;
  options.sorting_columns = {0};
  EXPECT_FALSE(finish(options).ok());
  options.sorting_columns = {1};
  EXPECT_FALSE(finish(options).ok());
  for (size_t ParquetOptions::*size :
       {&ParquetOptions::row_group_rows, &ParquetOptions::page_rows, &ParquetOptions::page_bytes}) {
    options = {};
    options.*size = 0;
    EXPECT_FALSE(finish(options).ok());
  }
  options = {};
  options.row_group_rows = size_t{1} << 31;
  EXPECT_FALSE(finish(options).ok());
  options = {};
  options.page_rows = (size_t{1} << 20) + 1;
  EXPECT_FALSE(finish(options).ok());
}

TEST(ParquetWriter, LargeHandle) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  ParquetWriter writer(
      {{"c", ParquetType::kText}}, {}, [](uint64_t) { return "text"; }, sink.get());
  const std::vector<uint64_t> handles = {~uint64_t{0}};
  ColumnValues column;
  column.values = handles;
  writer.Append(1, {column});
  EXPECT_EQ(writer.Finish().code(), absl::StatusCode::kInvalidArgument);
}

class FullDisk : public ByteSink {
 protected:
  absl::Status Write(absl::string_view) override { return absl::DataLossError("full"); }
};

TEST(ParquetWriter, KeepsErrorOfSink) {
  FullDisk sink;
  ParquetWriter writer({{"c", ParquetType::kUint64}}, {}, nullptr, &sink);
  std::mt19937_64 random(1);
  std::vector<uint64_t> values(200'000);
  for (uint64_t& value : values) value = random();
  ColumnValues column;
  column.values = values;
  writer.Append(values.size(), {column});
  EXPECT_EQ(writer.status(), absl::DataLossError("full"));
  EXPECT_EQ(writer.Finish(), absl::DataLossError("full"));
}

// Whatever byte changes, the reader finds out or reads the same values; it never crashes.
TEST(ReadParquet, ChangedFiles) {
  const RandomTable random = MakeRandomTable(7, 300);
  const std::string bytes = *WriteParquet(random.table, random.options);
  ASSERT_TRUE(ReadParquet(bytes).ok());
  size_t found = 0;
  for (size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 1500) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    found += !ReadParquet(changed).ok();
    ReadParquet(absl::string_view(bytes).substr(0, i)).IgnoreError();
    EXPECT_FALSE(ReadParquet(absl::string_view(bytes).substr(0, i)).ok());
  }
  EXPECT_GT(found, 300u);
}

TEST(ReadParquet, Limits) {
  const std::string bytes =
      *WriteParquet(IntegerTable(ParquetType::kInt64, std::vector<uint64_t>(100'000, 1)), {});
  ParquetReadOptions options;
  options.max_values = 50'000;
  EXPECT_EQ(ReadParquet(bytes, options).status().code(), absl::StatusCode::kResourceExhausted);
  options = {};
  options.max_bytes = 10;
  EXPECT_EQ(ReadParquet(bytes, options).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace parquet_writer_test
}  // namespace gotrace::internal
