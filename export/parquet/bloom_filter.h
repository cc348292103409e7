// The split-block Bloom filter of Parquet: a block has eight 32-bit words, and each value sets one
// bit in each word of its block.
#ifndef GOTRACE_EXPORT_PARQUET_BLOOM_FILTER_H_
#define GOTRACE_EXPORT_PARQUET_BLOOM_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal::parquet {

class BloomFilter {
 public:
  static constexpr size_t kBlockBytes = 32;

  // Makes a filter for up to `values` different values. About one in 300 look-ups of other values
  // is a false positive; more if there are more than 700,000 values, since the filter is at most a
  // megabyte.
  explicit BloomFilter(size_t values);
  // Parses a filter that Append() wrote: a positive multiple of kBlockBytes bytes.
  explicit BloomFilter(absl::string_view bytes);

  // Returns the hash of a value: of the bytes of a text, or of an integer in PLAIN encoding.
  static uint64_t Hash(absl::string_view bytes);

  void Add(uint64_t hash);
  bool Contains(uint64_t hash) const;

  // Halves the filter while no more than half of its bits are set, so that its size is right even
  // if many of the values were equal.
  void Shrink();

  void Append(std::string* out) const;
  size_t bytes() const { return blocks_.size() * kBlockBytes; }

 private:
  using Block = std::array<uint32_t, 8>;
  size_t IndexOf(uint64_t hash) const { return (hash >> 32) * blocks_.size() >> 32; }

  std::vector<Block> blocks_;
};

}  // namespace gotrace::internal::parquet

#endif  // GOTRACE_EXPORT_PARQUET_BLOOM_FILTER_H_
