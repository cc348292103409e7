// Tests the parts that files consist of against examples of the format's documents.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/bloom_filter.h"
#include "export/parquet/encodings.h"
#include "export/parquet/thrift_compact.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace format_test {

using parquet::BloomFilter;

std::string Deltas(int bits, std::vector<uint64_t> values) {
  std::string out;
  parquet::AppendDeltas(values, bits, &out);
  return absl::BytesToHexString(out);
}

std::string Rle(std::vector<uint32_t> values, int width) {
  std::string out;
  parquet::AppendRle(values, width, &out);
  return absl::BytesToHexString(out);
}

TEST(Encodings, Deltas) {
  // 128 values in a block of 4, the number of values, and the first one; then the least difference
  // and the widths.
  EXPECT_EQ(Deltas(64, {}),
            "80010400"
            "00");
  EXPECT_EQ(Deltas(64, {1, 2, 3, 4, 5}),
            "80010405"
            "02"
            "02"
            "00000000");
  // Differences of -2 and 1: in two bits, 0 and 3.
  EXPECT_EQ(Deltas(64, {7, 5, 3, 1, 2, 3, 4, 5}),
            "80010408"
            "0e"
            "03"
            "02000000"
            "c03f000000000000");
  // The difference of the extremes wraps around.
  EXPECT_EQ(Deltas(32, {0x7FFFFFFF, 0x80000000}),
            "80010402"
            "feffffff0f"
            "02"
            "00000000");
  EXPECT_EQ(Deltas(64, {~uint64_t{0}, 0}),
            "80010402"
            "01"
            "02"
            "00000000");
}

TEST(Encodings, Rle) {
  EXPECT_EQ(Rle({}, 1), "");
  // 0 to 7 in three bits each, from the lowest bit on.
  EXPECT_EQ(Rle({0, 1, 2, 3, 4, 5, 6, 7}, 3),
            "03"
            "88c6fa");
  // Sixteen are a run, and 15 are not.
  EXPECT_EQ(Rle(std::vector<uint32_t>(16, 300), 9),
            "20"
            "2c01");
  EXPECT_EQ(Rle(std::vector<uint32_t>(15, 1), 1),
            "05"
            "ff7f");
  std::vector<uint32_t> values = {1, 0, 0, 0, 0, 0, 0, 0};
  values.insert(values.end(), 100, 1);
  values.push_back(0);
  EXPECT_EQ(Rle(values, 1),
            "03"
            "01"
            "c801"
            "01"
            "03"
            "00");
}

TEST(Encodings, LevelsAsBytes) {
  for (const int width : {1, 2}) {
    for (const size_t size : {0, 1, 7, 8, 9, 40, 1000}) {
      std::vector<uint8_t> levels;
      std::vector<uint32_t> values;
      for (size_t i = 0; i < size; ++i) {
        const uint32_t value = i % 100 < 40 ? 1 : i * 7 / 3 % (1 << width);
        levels.push_back(static_cast<uint8_t>(value));
        values.push_back(value);
      }
      std::string out;
      parquet::AppendRle(levels, width, &out);
      EXPECT_EQ(absl::BytesToHexString(out), Rle(values, width));
    }
  }
}

TEST(Encodings, Bools) {
  std::string out;
  parquet::AppendPlainBools({1, 0, 1, 1, 0, 0, 0, 1, 1}, &out);
  EXPECT_EQ(absl::BytesToHexString(out), "8d01");
}

TEST(ThriftCompact, RoundTrip) {
  std::string bytes;
  ThriftWriter writer(&bytes);
  writer.Bool(1, true);
  writer.Int32(2, -5);
  writer.Int64(30, int64_t{1} << 40);
  writer.BeginStruct(31);
  writer.Binary(1, "text");
  writer.EmptyStruct(3);
  writer.End();
  writer.BeginList(32, ThriftType::kTrue, 20);
  for (int i = 0; i < 20; ++i) writer.BoolElement(i % 3 == 0);
  writer.BeginList(33, ThriftType::kStruct, 1);
  writer.BeginStructElement();
  writer.Byte(1, -64);
  writer.Bool(2, false);
  writer.End();
  writer.End();
  EXPECT_EQ(absl::BytesToHexString(bytes).substr(0, 8), "11150906");

  absl::string_view input = bytes;
  const absl::StatusOr<ThriftValue> value = ReadThriftStruct(&input);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(value->Find(1, ThriftType::kTrue)->number, 1);
  EXPECT_EQ(value->Find(2, ThriftType::kInt64)->number, -5);
  EXPECT_EQ(value->Find(2, ThriftType::kBinary), nullptr);
  EXPECT_EQ(value->Find(30, ThriftType::kInt64)->number, int64_t{1} << 40);
  const ThriftValue* inner = value->Find(31, ThriftType::kStruct);
  EXPECT_EQ(inner->Find(1, ThriftType::kBinary)->bytes, "text");
  EXPECT_NE(inner->Find(3, ThriftType::kStruct), nullptr);
  const ThriftValue* bools = value->Find(32, ThriftType::kList);
  ASSERT_EQ(bools->elements.size(), 20u);
  EXPECT_EQ(bools->elements[3].number, 1);
  EXPECT_EQ(bools->elements[4].number, 0);
  const ThriftValue* structs = value->Find(33, ThriftType::kList);
  ASSERT_EQ(structs->elements.size(), 1u);
  EXPECT_EQ(structs->elements[0].Find(1, ThriftType::kInt64)->number, -64);
  EXPECT_EQ(structs->elements[0].Find(2, ThriftType::kTrue)->number, 0);

  for (size_t size = 0; size < bytes.size(); ++size) {
    absl::string_view cut = absl::string_view(bytes).substr(0, size);
    EXPECT_FALSE(ReadThriftStruct(&cut).ok());
  }
}

TEST(ThriftCompact, RefusesDeepNesting) {
  std::string bytes(1000, '\x1C');
  absl::string_view input = bytes;
  EXPECT_FALSE(ReadThriftStruct(&input).ok());
  bytes = std::string("\x19") + std::string(1000, '\x19');
  input = bytes;
  EXPECT_FALSE(ReadThriftStruct(&input).ok());
}

TEST(BloomFilter, FindsFewOthers) {
  BloomFilter filter(100'000);
  EXPECT_EQ(filter.bytes(), size_t{1} << 18);
  for (int i = 0; i < 20'000; ++i) filter.Add(BloomFilter::Hash(absl::StrCat("value ", i)));
  filter.Shrink();
  EXPECT_EQ(filter.bytes(), size_t{1} << 15);
  std::string bytes;
  filter.Append(&bytes);
  const BloomFilter read(bytes);
  int others = 0;
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_TRUE(read.Contains(BloomFilter::Hash(absl::StrCat("value ", i))));
    others += read.Contains(BloomFilter::Hash(absl::StrCat("other ", i)));
  }
  EXPECT_LT(others, 100);
}

TEST(BloomFilter, HashIsXxh64) {
  EXPECT_EQ(BloomFilter::Hash(""), 0xEF46DB3751D8E999);
  EXPECT_EQ(BloomFilter::Hash("a"), 0xD24EC4F1A98C6E5B);
}

}  // namespace format_test
}  // namespace gotrace::internal
