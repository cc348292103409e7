// Unsigned LEB128 varints as Go's encoding/binary reads and writes them (FORMAT.md §3): at most ten
// bytes, the tenth at most 1, overlong zeros accepted.
#ifndef GOTRACE_TRACEV2_VARINT_H_
#define GOTRACE_TRACEV2_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace gotrace {

inline constexpr int kMaxVarintSize = 10;

// Why ReadVarint() returned nullptr.
enum class VarintFault : uint8_t {
  kTruncated,  // The bytes end before the varint does.
  kOverflow,   // It does not fit 64 bits: a tenth byte above 1, or an eleventh.
};

// Reads the varint at `pos` into `*value` and returns the position after it. Returns nullptr, with
// `*value` unspecified, when it is truncated by `end` or overflows: DiagnoseVarint() tells which.
inline const char* ReadVarint(const char* pos, const char* end, uint64_t* value) {
  if (pos < end && static_cast<uint8_t>(*pos) < 0x80) {
    *value = static_cast<uint8_t>(*pos);
    return pos + 1;
  }
  uint64_t result = 0;
  for (int shift = 0; shift < 7 * kMaxVarintSize; shift += 7) {
    if (pos == end) return nullptr;
    const uint64_t byte = static_cast<uint8_t>(*pos++);
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) return nullptr;
      *value = result | byte << shift;
      return pos;
    }
    result |= (byte & 0x7f) << shift;
  }
  return nullptr;
}

// ReadVarint() where at least kMaxVarintSize bytes can be read at `pos`, so that no byte needs a
// check against an end. Returns nullptr on overflow, the only fault left.
inline const char* ReadVarintUnchecked(const char* pos, uint64_t* value) {
  uint64_t byte = static_cast<uint8_t>(pos[0]);
  if (byte < 0x80) {
    *value = byte;
    return pos + 1;
  }
  // Adding (byte - 1) << shift also takes away the continuation bit that the byte before it left.
  uint64_t result = byte;
#pragma GCC unroll 8
  for (int i = 1; i < kMaxVarintSize - 1; ++i) {
    byte = static_cast<uint8_t>(pos[i]);
    result += (byte - 1) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return pos + i + 1;
    }
  }
  byte = static_cast<uint8_t>(pos[kMaxVarintSize - 1]);
  if (byte > 1) return nullptr;
  *value = result + ((byte - 1) << 63);
  return pos + kMaxVarintSize;
}

// Why ReadVarint(pos, end, …) failed. Requires that it did.
inline VarintFault DiagnoseVarint(const char* pos, const char* end) {
  return end - pos < kMaxVarintSize ? VarintFault::kTruncated : VarintFault::kOverflow;
}

// Appends the shortest encoding of `value`, one to ten bytes.
inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Appends `value` in exactly `size` bytes, with overlong zeros, as the runtime does where it fills
// in a number later. Requires VarintSize(value) <= size <= kMaxVarintSize.
inline void AppendPaddedVarint(uint64_t value, int size, std::string* out) {
  for (int i = 1; i < size; ++i) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// The length in bytes of the shortest encoding of `value`.
inline int VarintSize(uint64_t value) {
  int size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

}  // namespace gotrace

#endif  // GOTRACE_TRACEV2_VARINT_H_
