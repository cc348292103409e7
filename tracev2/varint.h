// Unsigned LEB128 varints as Go's encoding/binary reads and writes them (FORMAT.md §3): at most ten
// bytes, the tenth at most 1, overlong zeros accepted.
#ifndef GOTRACE_TRACEV2_VARINT_H_
#define GOTRACE_TRACEV2_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace gotrace::internal {

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
inline const char* ReadVarintUnchecked(const char* pos, uint64_t* value);

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

// Implementation details follow.

// ReadVarintUnchecked() after the first `size` bytes, at least one. `sum` is what they add to the
// value, the last one's continuation bit included, which the next byte takes away.
[[gnu::noinline]] inline const char* ReadLongVarint(const char* pos, int size, uint64_t sum,
                                                    uint64_t* value) {
  for (int i = size; i < kMaxVarintSize - 1; ++i) {
    const uint64_t byte = static_cast<uint8_t>(pos[i]);
    sum += (byte - 1) << (7 * i);
    if (byte < 0x80) {
      *value = sum;
      return pos + i + 1;
    }
  }
  const uint64_t byte = static_cast<uint8_t>(pos[kMaxVarintSize - 1]);
  if (byte > 1) return nullptr;
  *value = sum + ((byte - 1) << 63);
  return pos + kMaxVarintSize;
}

inline const char* ReadVarintUnchecked(const char* pos, uint64_t* value) {
  // Most have one to three bytes.
  const uint64_t first = static_cast<uint8_t>(pos[0]);
  if (first < 0x80) [[likely]] {
    *value = first;
    return pos + 1;
  }
  const uint64_t second = static_cast<uint8_t>(pos[1]);
  const uint64_t sum = first + ((second - 1) << 7);
  if (second < 0x80) [[likely]] {
    *value = sum;
    return pos + 2;
  }
  const uint64_t third = static_cast<uint8_t>(pos[2]);
  if (third < 0x80) {
    *value = sum + ((third - 1) << 14);
    return pos + 3;
  }
  return ReadLongVarint(pos, 3, sum + ((third - 1) << 14), value);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_VARINT_H_
