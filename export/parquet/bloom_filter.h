// The split-block Bloom filter of Parquet: eight 32-bit words a block, and in each word one bit for
// each value.
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

  // A filter for up to `values` different values. It finds about one in 300 values that were not
  // added, but more if there are more than 700,000, since it has at most a megabyte.
  explicit BloomFilter(size_t values);
  // A filter as Append() writes it, of a multiple of kBlockBytes bytes, and not empty.
  explicit BloomFilter(absl::string_view bytes);

  // The hash of a value: of the bytes of a text, or of an integer as PLAIN encodes it.
  static uint64_t Hash(absl::string_view bytes);

  void Add(uint64_t hash);
  bool Contains(uint64_t hash) const;

  // Makes the filter smaller as long as no more than half of its bits are set, so that it has the
  // right size for values of which many were equal.
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
