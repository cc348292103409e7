// Numbers in decimal, for texts that are mostly numbers: faster than std::to_chars().
#ifndef GOTRACE_TRACEV2_DECIMAL_H_
#define GOTRACE_TRACEV2_DECIMAL_H_

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gotrace {

// How many bytes WriteDecimal() may write, those behind the digits included.
inline constexpr size_t kDecimalRoom = 20;

// The eight digits of `number` < 10^8, one a byte, the first in the lowest. The number is halved
// into numbers of four, two and one digits; all parts of a step are computed in one word.
inline uint64_t EightDigits(uint32_t number) {
  const uint64_t fours = number / 10000 | uint64_t{number % 10000} << 32;
  // For x < 10^4, x * 10486 >> 20 is x / 100; for x < 100, x * 103 >> 10 is x / 10.
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x7F'0000'007F;
  const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = (twos * 103 >> 10) & 0x000F'000F'000F'000F;
  return tens | (twos - 10 * tens) << 8;
}

inline char* WriteEightDigits(uint32_t number, char* out) {
  const uint64_t text = EightDigits(number) | 0x3030'3030'3030'3030;
  std::memcpy(out, &text, sizeof(text));
  return out + sizeof(text);
}

// The same without zeros before the first other digit.
inline char* WriteUpToEightDigits(uint32_t number, char* out) {
  const uint64_t digits = EightDigits(number);
  // The last digit is written in any case.
  const int zeros = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  const uint64_t text = (digits | 0x3030'3030'3030'3030) >> (8 * zeros);
  std::memcpy(out, &text, sizeof(text));
  return out + sizeof(text) - zeros;
}

// Writes `number` to `out`, where there must be kDecimalRoom bytes, and returns the end of its
// digits.
inline char* WriteDecimal(uint64_t number, char* out) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint32_t kUnit = 100000000;
  if (number < kUnit) return WriteUpToEightDigits(static_cast<uint32_t>(number), out);
  const uint64_t high = number / kUnit;
  // No number of 64 bits has more than one part before this.
  out = high < kUnit
            ? WriteUpToEightDigits(static_cast<uint32_t>(high), out)
            : WriteEightDigits(static_cast<uint32_t>(high % kUnit),
                               WriteUpToEightDigits(static_cast<uint32_t>(high / kUnit), out));
  return WriteEightDigits(static_cast<uint32_t>(number % kUnit), out);
}

}  // namespace gotrace

#endif  // GOTRACE_TRACEV2_DECIMAL_H_
