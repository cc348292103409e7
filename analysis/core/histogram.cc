#include "gotrace/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace gotrace {
namespace {

constexpr int kBucketsPerDoubling = 1 << Histogram::kScale;

// 2^(i/16) in units of 2^-63, rounded up: the lower bounds of the buckets of one doubling.
constexpr uint64_t kBounds[kBucketsPerDoubling] = {
    0x8000000000000000, 0x85aac367cc487b15, 0x8b95c1e3ea8bd6e7, 0x91c3d373ab11c337,
    0x9837f0518db8a970, 0x9ef5326091a111ae, 0xa5fed6a9b15138eb, 0xad583eea42a14ac7,
    0xb504f333f9de6485, 0xbd08a39f580c36bf, 0xc5672a115506dade, 0xce248c151f8480e4,
    0xd744fccad69d6af5, 0xe0ccdeec2a94e112, 0xeac0c6e7dd24392f, 0xf5257d152486cc2d};

// 2^((i+0.5)/16) in units of 2^-63.
constexpr uint64_t kMiddles[kBucketsPerDoubling] = {
    0x82cd8698ac2ba1d7, 0x88980e8092da8527, 0x8ea4398b45cd53c0, 0x94f4efa8fef70961,
    0x9b8d39b9d54e5539, 0xa27043030c496819, 0xa9a15ab4ea7c0ef8, 0xb123f581d2ac2590,
    0xb8fbaf4762fb9ee9, 0xc12c4cca66709456, 0xc9b9bd866e2f27a3, 0xd2a81d91f12ae45a,
    0xdbfbb797daf23755, 0xe5b906e77c8348a8, 0xefe4b99bdcdaf5cb, 0xfa83b2db722a033a};

// The last bound that is not above the beginning of each 32nd part of a doubling. A part holds at
// most one more bound.
constexpr auto kFirstBounds = [] {
  std::array<uint8_t, 32> first = {};
  for (uint64_t part = 0; part < first.size(); ++part) {
    const uint64_t begin = (first.size() + part) << 58;
    while (first[part] + 1 < kBucketsPerDoubling && kBounds[first[part] + 1] <= begin) {
      ++first[part];
    }
  }
  return first;
}();

// Returns the new count of `bucket`; `*first` is the bucket of the first one.
[[gnu::noinline]] uint64_t& MakeRoom(int bucket, int* first, std::vector<uint64_t>* counts) {
  if (counts->empty()) *first = bucket;
  if (bucket < *first) {
    counts->insert(counts->begin(), static_cast<size_t>(*first - bucket), 0);
    *first = bucket;
  }
  const size_t index = static_cast<size_t>(bucket - *first);
  if (index >= counts->size()) counts->resize(index + 1);
  return (*counts)[index];
}

}  // namespace

int Histogram::BucketOf(uint64_t nanoseconds) {
  if (nanoseconds <= 1) return 0;
  const int zeros = std::countl_zero(nanoseconds);
  const uint64_t mantissa = nanoseconds << zeros;
  const int first = kFirstBounds[(mantissa >> 58) & 31];
  const bool is_next = first + 1 < kBucketsPerDoubling && mantissa >= kBounds[first + 1];
  return (63 - zeros) * kBucketsPerDoubling + first + (is_next ? 1 : 0);
}

uint64_t Histogram::MiddleOf(int bucket) {
  return kMiddles[bucket % kBucketsPerDoubling] >> (63 - bucket / kBucketsPerDoubling);
}

std::optional<Histogram> Histogram::FromCounts(int first_bucket, std::vector<uint64_t> counts,
                                               uint64_t sum, uint64_t min, uint64_t max) {
  Histogram histogram;
  if (counts.empty()) {
    if (first_bucket != 0 || sum != 0 || min != 0 || max != 0) return std::nullopt;
    return histogram;
  }
  if (counts.size() > kBuckets || counts.front() == 0 || counts.back() == 0) return std::nullopt;
  const int last_bucket = first_bucket + static_cast<int>(counts.size()) - 1;
  if (BucketOf(min) != first_bucket || BucketOf(max) != last_bucket) return std::nullopt;
  for (const uint64_t count : counts) {
    if (count > ~histogram.count_) return std::nullopt;
    histogram.count_ += count;
  }
  histogram.sum_ = sum;
  histogram.min_ = min;
  histogram.max_ = max;
  histogram.first_ = first_bucket;
  histogram.counts_ = std::move(counts);
  return histogram;
}

inline uint64_t& Histogram::CountOf(int bucket) {
  const size_t index = static_cast<size_t>(bucket - first_);
  return index < counts_.size() ? counts_[index] : MakeRoom(bucket, &first_, &counts_);
}

void Histogram::Add(uint64_t nanoseconds) {
  ++CountOf(BucketOf(nanoseconds));
  ++count_;
  sum_ += nanoseconds;
  min_ = std::min(min_, nanoseconds);
  max_ = std::max(max_, nanoseconds);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < other.counts_.size(); ++i) {
    const uint64_t count = other.counts_[i];
    if (count > 0) CountOf(other.first_ + static_cast<int>(i)) += count;
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

uint64_t Histogram::Quantile(double q) const {
  if (q <= 0) return min();
  if (q >= 1) return max();
  const uint64_t rank = static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(MiddleOf(first_ + static_cast<int>(i)), min(), max());
  }
  return max();
}

}  // namespace gotrace
