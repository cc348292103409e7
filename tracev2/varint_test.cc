#include "tracev2/varint.h"

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace varint_test {

constexpr uint64_t kMax = ~uint64_t{0};

struct Result {
  uint64_t value = 0;
  int size = 0;  // 0 for a fault.
  VarintFault fault = VarintFault::kTruncated;

  friend bool operator==(const Result& a, const Result& b) {
    if (a.size != b.size) return false;
    return a.size == 0 ? a.fault == b.fault : a.value == b.value;
  }
};

std::ostream& operator<<(std::ostream& os, const Result& r) {
  if (r.size > 0) return os << r.value << " in " << r.size << " bytes";
  return os << (r.fault == VarintFault::kTruncated ? "truncated" : "overflow");
}

// The definition, byte by byte. Overflow is known as soon as the tenth byte is.
Result Reference(absl::string_view bytes) {
  Result result;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    if (i == 9 && byte > 1) {
      result.fault = VarintFault::kOverflow;
      return result;
    }
    result.value += static_cast<uint64_t>(byte % 128) * (uint64_t{1} << (7 * i));
    if (byte < 128) {
      result.size = static_cast<int>(i) + 1;
      return result;
    }
  }
  return result;
}

// Calls ReadVarint with a copy of exactly `bytes`, so that sanitizers see a read past the end.
Result Read(absl::string_view bytes) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const char* const end = copy.get() + bytes.size();
  Result result;
  const char* const next = ReadVarint(copy.get(), end, &result.value);
  if (next == nullptr) {
    result.fault = DiagnoseVarint(copy.get(), end);
  } else {
    result.size = static_cast<int>(next - copy.get());
  }
  return result;
}

Result ReadUnchecked(absl::string_view bytes) {
  char copy[kMaxVarintSize] = {};
  std::memcpy(copy, bytes.data(), std::min<size_t>(bytes.size(), kMaxVarintSize));
  Result result;
  result.fault = VarintFault::kOverflow;
  const char* const next = ReadVarintUnchecked(copy, &result.value);
  if (next != nullptr) result.size = static_cast<int>(next - copy);
  return result;
}

std::string Encode(uint64_t value) {
  std::string bytes;
  AppendVarint(value, &bytes);
  return bytes;
}

// Values at both ends of each encoded length.
std::vector<uint64_t> Edges() {
  std::vector<uint64_t> values = {0, 1, kMax, kMax - 1, uint64_t{1} << 63};
  for (int bits = 7; bits < 64; bits += 7) {
    const uint64_t power = uint64_t{1} << bits;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  return values;
}

TEST(VarintTest, ReadsEveryLength) {
  for (const uint64_t value : Edges()) {
    const std::string bytes = Encode(value);
    EXPECT_EQ(Read(bytes), (Result{value, static_cast<int>(bytes.size())}));
    EXPECT_EQ(Read(bytes + "\x05"), (Result{value, static_cast<int>(bytes.size())}));
    EXPECT_EQ(ReadUnchecked(bytes), (Result{value, static_cast<int>(bytes.size())}));
    EXPECT_EQ(Reference(bytes), (Result{value, static_cast<int>(bytes.size())}));
  }
}

TEST(VarintTest, WritesTheShortestForm) {
  EXPECT_EQ(Encode(0), std::string(1, '\0'));
  EXPECT_EQ(Encode(127), "\x7f");
  EXPECT_EQ(Encode(128), "\x80\x01");
  EXPECT_EQ(Encode(300), "\xac\x02");
  EXPECT_EQ(Encode(kMax), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t value = kMax >> (63 - bits);
    EXPECT_EQ(Encode(value).size(), static_cast<size_t>(bits / 7 + 1));
    EXPECT_EQ(VarintSize(value), bits / 7 + 1);
  }
  EXPECT_EQ(VarintSize(0), 1);
}

TEST(VarintTest, PaddingKeepsTheValue) {
  for (const uint64_t value : Edges()) {
    for (int size = VarintSize(value); size <= kMaxVarintSize; ++size) {
      std::string bytes = "x";
      AppendPaddedVarint(value, size, &bytes);
      ASSERT_EQ(bytes.size(), static_cast<size_t>(size) + 1);
      bytes.erase(0, 1);
      EXPECT_EQ(Read(bytes), (Result{value, size}));
      EXPECT_EQ(ReadUnchecked(bytes), (Result{value, size}));
    }
  }
  std::string bytes;
  AppendPaddedVarint(5, 10, &bytes);
  EXPECT_EQ(absl::BytesToHexString(bytes), "85808080808080808000");
}

TEST(VarintTest, TenthByteMayBeOneAtMost) {
  const std::string nine(9, '\xff');
  for (int last = 0; last < 256; ++last) {
    const std::string bytes = nine + static_cast<char>(last);
    Result expected;
    expected.fault = VarintFault::kOverflow;
    if (last == 0) expected = {kMax >> 1, 10};
    if (last == 1) expected = {kMax, 10};
    EXPECT_EQ(Read(bytes), expected) << last;
    EXPECT_EQ(Read(bytes + '\0'), expected) << last;
    EXPECT_EQ(ReadUnchecked(bytes), expected) << last;
  }
}

TEST(VarintTest, TruncationIsDistinguishedFromOverflow) {
  for (const char* const byte : {"\x80", "\xff", "\x81"}) {
    std::string bytes;
    for (int size = 0; size < kMaxVarintSize; ++size) {
      EXPECT_EQ(Read(bytes), (Result{0, 0, VarintFault::kTruncated})) << size;
      bytes += byte;
    }
    EXPECT_EQ(Read(bytes), (Result{0, 0, VarintFault::kOverflow}));
    EXPECT_EQ(Read(bytes + '\0'), (Result{0, 0, VarintFault::kOverflow}));
  }
}

TEST(VarintTest, EveryCutOfEveryLengthIsTruncated) {
  for (const uint64_t value : Edges()) {
    const std::string bytes = Encode(value);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(Read(bytes.substr(0, size)), (Result{0, 0, VarintFault::kTruncated})) << value;
    }
  }
}

TEST(VarintTest, AgreesWithTheDefinitionOnRandomBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    std::string bytes(random() % 13, '\0');
    // Mostly continuation bytes, so that long varints come up.
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % 8 == 0 ? random() % 128 : random() | 128);
    }
    ASSERT_EQ(Read(bytes), Reference(bytes)) << absl::BytesToHexString(bytes);
    if (bytes.size() < static_cast<size_t>(kMaxVarintSize)) continue;
    ASSERT_EQ(ReadUnchecked(bytes), Reference(bytes)) << absl::BytesToHexString(bytes);
  }
}

TEST(VarintTest, RandomValuesComeBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    const std::string bytes = Encode(value);
    ASSERT_EQ(bytes.size(), static_cast<size_t>(VarintSize(value)));
    ASSERT_EQ(Read(bytes), (Result{value, VarintSize(value)}));
    ASSERT_EQ(ReadUnchecked(bytes), (Result{value, VarintSize(value)}));
  }
}

}  // namespace varint_test
}  // namespace gotrace::internal
