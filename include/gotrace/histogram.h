// Distributions of durations that can be merged exactly.
#ifndef GOTRACE_HISTOGRAM_H_
#define GOTRACE_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gotrace {

// Counts durations in the buckets of OpenTelemetry's exponential histograms of scale kScale: bucket
// `b` has the durations d with 2^(b/16) <= d < 2^((b+1)/16), and bucket 0 also has durations of 0
// ns. Merging adds counts, so it is exact, in any order. A quantile is at most 2.2 % off; count,
// sum, smallest and largest duration are exact. All arithmetic is in integers, so results are the
// same on every machine.
//
// Memory is in proportion to the distance of the lowest bucket from the highest: 8 KB at most.
class Histogram {
 public:
  // The scale: each power of two has 2^kScale buckets.
  static constexpr int kScale = 4;

  // The number of buckets for all durations of 64 bits.
  static constexpr int kBuckets = 64 << kScale;

  // Returns the bucket of a duration.
  static int BucketOf(uint64_t nanoseconds);

  // Returns the middle of a bucket, 2^((b+0.5)/16), rounded down. Requires 0 <= bucket < kBuckets.
  static uint64_t MiddleOf(int bucket);

  // Returns the histogram for which the functions below return the arguments, or nullopt if there
  // is none because buckets are out of range, or `min`, `max` and the counts contradict each other.
  static std::optional<Histogram> FromCounts(int first_bucket, std::vector<uint64_t> counts,
                                             uint64_t sum, uint64_t min, uint64_t max);

  // Counts a duration.
  void Add(uint64_t nanoseconds);

  // Counts everything that `other` counted.
  void Merge(const Histogram& other);

  // Return the number of durations, and their sum in nanoseconds, which wraps around at 2^64.
  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }

  // Return the smallest and the largest duration, in nanoseconds; 0 if nothing was counted.
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }

  // Returns the `q`-quantile, a duration that at least the share `q` of all durations does not
  // exceed, rounded to the middle of its bucket but never below min() or above max(). Returns min()
  // if q <= 0, max() if q >= 1, and 0 if nothing was counted.
  uint64_t Quantile(double q) const;

  // Return the counts of the buckets from first_bucket() on; empty if nothing was counted. The
  // first and the last are not 0.
  const std::vector<uint64_t>& counts() const { return counts_; }
  int first_bucket() const { return first_; }

 private:
  // Returns the count of `bucket`, after making room for it.
  uint64_t& CountOf(int bucket);

  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
  int first_ = 0;
  std::vector<uint64_t> counts_;
};

}  // namespace gotrace

#endif  // GOTRACE_HISTOGRAM_H_
