#include "export/parquet/encodings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "export/parquet/thrift_compact.h"

namespace gotrace::internal::parquet {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

int BitWidth(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

namespace {

// How many values are packed at once. With 32, they end at a word boundary for every width.
constexpr size_t kBlock = 32;

// Writes 32 values of kWidth bits each, the lowest bit first: 4 * kWidth bytes.
template <int kWidth, typename T>
void Pack(const T* values, char* out) {
  if constexpr (kWidth > 0) {
    uint64_t word = 0;
    int filled = 0;
#pragma GCC unroll 32
    for (size_t i = 0; i < kBlock; ++i) {
      const uint64_t value = values[i];
      word |= value << filled;
      filled += kWidth;
      if (filled >= 64) {
        std::memcpy(out, &word, sizeof(word));
        out += sizeof(word);
        filled -= 64;
        // The bits of the value that did not fit; none if it ends with the word.
        word = filled == 0 ? 0 : value >> (kWidth - filled);
      }
    }
    // 32 values of an odd width end in the middle of a word.
    if constexpr (kWidth % 2 == 1) std::memcpy(out, &word, sizeof(uint32_t));
  }
}

template <typename T>
using Packer = void (*)(const T* values, char* out);

template <typename T, int... kWidths>
constexpr std::array<Packer<T>, sizeof...(kWidths)> MakePackers(
    std::integer_sequence<int, kWidths...>) {
  return {Pack<kWidths, T>...};
}

constexpr auto kPackers32 = MakePackers<uint32_t>(std::make_integer_sequence<int, 33>());
constexpr auto kPackers64 = MakePackers<uint64_t>(std::make_integer_sequence<int, 65>());

// Appends `count` values, a multiple of 8, with `bit_width` bits each.
void AppendPacked(const uint32_t* values, size_t count, int bit_width, std::string* out) {
  size_t position = out->size();
  out->resize(position + count / 8 * bit_width);
  char* const to = out->data();
  const Packer<uint32_t> pack = kPackers32[bit_width];
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    pack(values + i, to + position);
    position += kBlock / 8 * bit_width;
  }
  if (i == count) return;
  uint32_t rest[kBlock] = {};
  std::copy(values + i, values + count, rest);
  char packed[kBlock / 8 * 32];
  pack(rest, packed);
  std::memcpy(to + position, packed, (count - i) / 8 * bit_width);
}

// The same for levels. They have 1 or 2 bits.
void AppendPacked(const uint8_t* values, size_t count, int bit_width, std::string* out) {
  if (bit_width == 1) {
    for (size_t i = 0; i < count; i += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, values + i, sizeof(bytes));
      // Adds up to a byte at the top whose bit i is the lowest bit of byte i.
      out->push_back(static_cast<char>(bytes * 0x0102'0408'1020'4080 >> 56));
    }
    return;
  }
  for (size_t i = 0; i < count; i += 8) {
    uint64_t group = 0;
    for (size_t k = 0; k < 8; ++k) group |= uint64_t{values[i + k]} << (k * bit_width);
    for (int k = 0; k < bit_width; ++k) out->push_back(static_cast<char>(group >> (8 * k)));
  }
}

// Fewer equal values than this are packed with their neighbours.
constexpr size_t kMinRun = 16;

template <typename T>
bool BeginsRun(const T* values) {
  return std::memcmp(values, values + 1, (kMinRun - 1) * sizeof(T)) == 0;
}

template <typename T>
void AppendPackedRun(const T* values, size_t count, int bit_width, std::string* out) {
  if (count == 0) return;
  const size_t whole = count / 8 * 8;
  AppendUleb128((count + 7) / 8 << 1 | 1, out);
  AppendPacked(values, whole, bit_width, out);
  if (whole == count) return;
  // The last group is filled up with zeros.
  T rest[8] = {};
  std::copy(values + whole, values + count, rest);
  AppendPacked(rest, 8, bit_width, out);
}

template <typename T>
void AppendHybrid(absl::Span<const T> values, int bit_width, std::string* out) {
  const size_t size = values.size();
  size_t packed = 0;  // The index of the first value that is not yet written.
  for (size_t i = 0; i + kMinRun <= size;) {
    if (!BeginsRun(&values[i])) {
      i += 8;
      continue;
    }
    size_t end = i + kMinRun;
    while (end < size && values[end] == values[i]) ++end;
    AppendPackedRun(&values[packed], i - packed, bit_width, out);
    AppendRleRun(values[i], end - i, bit_width, out);
    packed = i = end;
  }
  AppendPackedRun(values.data() + packed, size - packed, bit_width, out);
}

}  // namespace

void AppendPlainIntegers(absl::Span<const uint64_t> values, size_t bytes_each, std::string* out) {
  const size_t position = out->size();
  out->resize(position + values.size() * bytes_each);
  char* to = out->data() + position;
  if (bytes_each == sizeof(uint64_t)) {
    if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(uint64_t));
    return;
  }
  for (const uint64_t value : values) {
    const uint32_t low = static_cast<uint32_t>(value);
    std::memcpy(to, &low, sizeof(low));
    to += sizeof(low);
  }
}

void AppendPlainBools(absl::Span<const uint64_t> values, std::string* out) {
  for (size_t i = 0; i < values.size(); i += 8) {
    uint8_t byte = 0;
    for (size_t k = 0; k < 8 && i + k < values.size(); ++k) {
      byte |= static_cast<uint8_t>(values[i + k] << k);
    }
    out->push_back(static_cast<char>(byte));
  }
}

void AppendPlainText(absl::string_view text, std::string* out) {
  AppendLittleEndian(static_cast<uint32_t>(text.size()), out);
  out->append(text.data(), text.size());
}

void AppendRle(absl::Span<const uint32_t> values, int bit_width, std::string* out) {
  AppendHybrid(values, bit_width, out);
}

void AppendRle(absl::Span<const uint8_t> values, int bit_width, std::string* out) {
  AppendHybrid(values, bit_width, out);
}

void AppendRleRun(uint32_t value, size_t count, int bit_width, std::string* out) {
  if (count == 0) return;
  AppendUleb128(uint64_t{count} << 1, out);
  for (int i = 0; i < bit_width; i += 8) out->push_back(static_cast<char>(value >> i));
}

void AppendDeltas(absl::Span<const uint64_t> values, int bits, std::string* out) {
  constexpr size_t kMiniBlocks = 4;
  constexpr size_t kValues = kMiniBlocks * kBlock;
  // Sign-extends a difference of 32-bit values; nothing to do for 64 bits.
  const int unused = 64 - bits;
  const auto extend = [unused](uint64_t value) {
    return static_cast<int64_t>(value << unused) >> unused;
  };
  AppendUleb128(kValues, out);
  AppendUleb128(kMiniBlocks, out);
  AppendUleb128(values.size(), out);
  AppendUleb128(ZigZag(values.empty() ? 0 : extend(values[0])), out);
  uint64_t deltas[kValues];
  for (size_t next = 1; next < values.size(); next += kValues) {
    const size_t count = std::min(kValues, values.size() - next);
    int64_t min = extend(values[next] - values[next - 1]);
    for (size_t i = 0; i < count; ++i) {
      const int64_t delta = extend(values[next + i] - values[next + i - 1]);
      deltas[i] = static_cast<uint64_t>(delta);
      min = std::min(min, delta);
    }
    AppendUleb128(ZigZag(min), out);
    uint64_t mask = ~uint64_t{0} >> unused;
    uint8_t widths[kMiniBlocks] = {};
    size_t bytes = 0;
    for (size_t block = 0; block * kBlock < count; ++block) {
      uint64_t used = 0;
      const size_t end = std::min(count, (block + 1) * kBlock);
      for (size_t i = block * kBlock; i < end; ++i) {
        deltas[i] = (deltas[i] - static_cast<uint64_t>(min)) & mask;
        used |= deltas[i];
      }
      std::fill(deltas + end, deltas + (block + 1) * kBlock, 0);
      widths[block] = static_cast<uint8_t>(BitWidth(used));
      bytes += kBlock / 8 * widths[block];
    }
    out->append(reinterpret_cast<const char*>(widths), sizeof(widths));
    size_t position = out->size();
    out->resize(position + bytes);
    for (size_t block = 0; block * kBlock < count; ++block) {
      kPackers64[widths[block]](deltas + block * kBlock, out->data() + position);
      position += kBlock / 8 * widths[block];
    }
  }
}

}  // namespace gotrace::internal::parquet
