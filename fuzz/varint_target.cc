// Fuzzes the varint readers: they must agree with a simple decoder.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/target.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

struct Decoded {
  size_t size = 0;
  uint64_t value = 0;
};

// If it returns nullopt, sets `*fault` to the reason.
std::optional<Decoded> DecodePlainly(absl::string_view bytes, VarintFault* fault) {
  unsigned __int128 value = 0;
  for (size_t i = 0; i < kMaxVarintSize; ++i) {
    if (i == bytes.size()) {
      *fault = VarintFault::kTruncated;
      return std::nullopt;
    }
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value += static_cast<unsigned __int128>(byte % 128) << (7 * i);
    if (byte >= 128) continue;
    if (value > UINT64_MAX) break;
    return Decoded{i + 1, static_cast<uint64_t>(value)};
  }
  *fault = VarintFault::kOverflow;
  return std::nullopt;
}

void CheckEncoding(uint64_t value, size_t size) {
  std::string shortest, padded;
  AppendVarint(value, &shortest);
  FUZZ_CHECK(shortest.size() == static_cast<size_t>(VarintSize(value)), absl::StrCat(value));
  FUZZ_CHECK(shortest.size() <= size, absl::StrCat(value));
  AppendPaddedVarint(value, static_cast<int>(size), &padded);
  FUZZ_CHECK(padded.size() == size, absl::StrCat(value));
  for (const absl::string_view bytes : {shortest, padded}) {
    uint64_t again = 0;
    const char* const end = bytes.data() + bytes.size();
    FUZZ_CHECK(ReadVarint(bytes.data(), end, &again) == end && again == value, absl::StrCat(value));
  }
}

void CheckAt(absl::string_view bytes) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  VarintFault fault = VarintFault::kTruncated;
  const std::optional<Decoded> expected = DecodePlainly(bytes, &fault);
  uint64_t value = 0;
  const char* const next = ReadVarint(begin, end, &value);
  uint64_t unchecked_value = 0;
  const bool is_unchecked = bytes.size() >= kMaxVarintSize;
  const char* const unchecked = is_unchecked ? ReadVarintUnchecked(begin, &unchecked_value) : next;
  FUZZ_CHECK(unchecked == next, "");
  if (!expected.has_value()) {
    FUZZ_CHECK(next == nullptr, absl::StrCat(value));
    FUZZ_CHECK(DiagnoseVarint(begin, end) == fault, "");
    return;
  }
  FUZZ_CHECK(next == begin + expected->size && value == expected->value, absl::StrCat(value));
  FUZZ_CHECK(!is_unchecked || unchecked_value == value, absl::StrCat(unchecked_value));
  CheckEncoding(value, expected->size);
}

}  // namespace

void RunTarget(absl::string_view input) {
  for (size_t i = 0; i <= input.size(); ++i) CheckAt(input.substr(i));
}

}  // namespace gotrace::internal
