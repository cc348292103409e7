#include "export/parquet/bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>

// Only the header is needed.
#define XXH_INLINE_ALL
#include "xxhash.h"

namespace gotrace::internal::parquet {
namespace {

constexpr std::array<uint32_t, 8> kSalt = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                           0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

// Returns the bit of the word `i` that a hash sets.
uint32_t BitOf(uint64_t hash, size_t i) {
  return uint32_t{1} << (static_cast<uint32_t>(hash) * kSalt[i] >> 27);
}

constexpr size_t kMaxBytes = size_t{1} << 20;
// With 11.5 bits for each value, half of the bits are set.
constexpr size_t kBitsPerValue = 12;

}  // namespace

BloomFilter::BloomFilter(size_t values) {
  const size_t bytes = std::min(values, kMaxBytes) * kBitsPerValue / 8;
  blocks_.resize(std::bit_ceil(std::clamp(bytes, kBlockBytes, kMaxBytes)) / kBlockBytes);
}

BloomFilter::BloomFilter(absl::string_view bytes) {
  blocks_.resize(bytes.size() / kBlockBytes);
  std::memcpy(blocks_.data(), bytes.data(), blocks_.size() * kBlockBytes);
}

uint64_t BloomFilter::Hash(absl::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

void BloomFilter::Add(uint64_t hash) {
  Block& block = blocks_[IndexOf(hash)];
  for (size_t i = 0; i < block.size(); ++i) block[i] |= BitOf(hash, i);
}

bool BloomFilter::Contains(uint64_t hash) const {
  const Block& block = blocks_[IndexOf(hash)];
  for (size_t i = 0; i < block.size(); ++i) {
    if ((block[i] & BitOf(hash, i)) == 0) return false;
  }
  return true;
}

void BloomFilter::Shrink() {
  while (blocks_.size() > 1) {
    // Hashes of blocks 2i and 2i + 1 belong to block i in a filter of half the size.
    std::vector<Block> half(blocks_.size() / 2);
    size_t bits = 0;
    for (size_t i = 0; i < half.size(); ++i) {
      for (size_t k = 0; k < half[i].size(); ++k) {
        half[i][k] = blocks_[2 * i][k] | blocks_[2 * i + 1][k];
        bits += std::popcount(half[i][k]);
      }
    }
    if (bits > half.size() * kBlockBytes * 8 / 2) return;
    blocks_ = std::move(half);
  }
}

void BloomFilter::Append(std::string* out) const {
  out->append(reinterpret_cast<const char*>(blocks_.data()), bytes());
}

}  // namespace gotrace::internal::parquet
