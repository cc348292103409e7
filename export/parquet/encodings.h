// The encodings of values in Parquet pages.
#ifndef GOTRACE_EXPORT_PARQUET_ENCODINGS_H_
#define GOTRACE_EXPORT_PARQUET_ENCODINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gotrace::internal::parquet {

// The number of bits that `value` needs; 0 for 0.
int BitWidth(uint64_t value);

// Appends the lowest `sizeof(T)` bytes of `value`, lowest first.
template <typename T>
void AppendLittleEndian(T value, std::string* out) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
  out->append(bytes, sizeof(T));
}

// PLAIN: integers of `bytes_each` bytes, 4 or 8; bools as bits; a text after its length.
void AppendPlainIntegers(absl::Span<const uint64_t> values, size_t bytes_each, std::string* out);
void AppendPlainBools(absl::Span<const uint64_t> values, std::string* out);
void AppendPlainText(absl::string_view text, std::string* out);

// RLE: runs of equal values, and bit-packed groups of eight. The values fit in `bit_width` bits,
// which is 1 to 32.
void AppendRle(absl::Span<const uint32_t> values, int bit_width, std::string* out);
void AppendRle(absl::Span<const uint8_t> values, int bit_width, std::string* out);
// The same for `count` equal values.
void AppendRleRun(uint32_t value, size_t count, int bit_width, std::string* out);

// DELTA_BINARY_PACKED, for integers of `bits` bits, 32 or 64. Differences wrap around.
void AppendDeltas(absl::Span<const uint64_t> values, int bits, std::string* out);

}  // namespace gotrace::internal::parquet

#endif  // GOTRACE_EXPORT_PARQUET_ENCODINGS_H_
