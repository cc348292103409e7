// The buckets in the tables of histograms.
#ifndef GOTRACE_ANALYSIS_TABLES_HISTOGRAM_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_HISTOGRAM_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// The durations in one bucket. The sum wraps around at 2^64, as Histogram::sum() does.
struct BucketSums {
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t min = std::numeric_limits<uint64_t>::max();
  uint64_t max = 0;

  void Add(uint64_t duration) {
    ++count;
    sum += duration;
    min = std::min(min, duration);
    max = std::max(max, duration);
  }
  void Add(const BucketSums& other) {
    count += other.count;
    sum += other.sum;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }

  // Sets the columns of the bucket and of the sums.
  template <class Row>
  void FillRow(int bucket, Row* row) const {
    row->bucket = bucket;
    row->count = static_cast<int64_t>(count);
    row->sum_ns = static_cast<int64_t>(sum);
    row->min_ns = static_cast<int64_t>(min);
    row->max_ns = static_cast<int64_t>(max);
  }
};

// Durations by a name, a reason and their bucket.
class NamedBuckets {
 public:
  void Add(StringId name, StringId reason, uint64_t duration) {
    buckets_[{{name, reason}, Histogram::BucketOf(duration)}].Add(duration);
  }

  // Calls `take` with the name, the reason, the bucket and the sums of each, in order of their
  // texts, with those without a name last.
  template <class Take>
  void ForEachSorted(const Interner& interner, const Take& take) const {
    std::vector<std::pair<Key, BucketSums>> sorted(buckets_.begin(), buckets_.end());
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      const auto order = [&](const Key& key) {
        return std::tuple(key.first.first == StringId::kEmpty, interner.String(key.first.first),
                          interner.String(key.first.second), key.second);
      };
      return order(a.first) < order(b.first);
    });
    for (const auto& [key, sums] : sorted)
      take(key.first.first, key.first.second, key.second, sums);
  }

 private:
  using Key = std::pair<std::pair<StringId, StringId>, int>;

  absl::flat_hash_map<Key, BucketSums> buckets_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_HISTOGRAM_ROWS_H_
