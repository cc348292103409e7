#include "gotrace/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace {
namespace histogram_test {

TEST(Histogram, BucketsAreThoseOfTheirBounds) {
  EXPECT_EQ(Histogram::BucketOf(0), 0);
  EXPECT_EQ(Histogram::BucketOf(1), 0);
  EXPECT_EQ(Histogram::BucketOf(2), 16);
  EXPECT_EQ(Histogram::BucketOf(3), 25);  // 16 * log2(3) is 25.36.
  EXPECT_EQ(Histogram::BucketOf(1000), 159);
  EXPECT_EQ(Histogram::BucketOf(~uint64_t{0}), Histogram::kBuckets - 1);
  int last = 0;
  for (uint64_t value = 1; value < 100000; ++value) {
    const int bucket = Histogram::BucketOf(value);
    ASSERT_GE(bucket, last);
    // In floating point a bound may be off by one bucket, but only where it is a power of two.
    const double exact = std::log2(static_cast<double>(value)) * 16;
    ASSERT_NEAR(bucket + 0.5, exact, 0.5 + 1e-9) << value;
    last = bucket;
  }
}

TEST(Histogram, AnEmptyOneHasNoQuantiles) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0);
  EXPECT_EQ(empty.min(), 0);
  EXPECT_EQ(empty.max(), 0);
  EXPECT_EQ(empty.Quantile(0.5), 0);
  EXPECT_TRUE(empty.counts().empty());
}

TEST(Histogram, QuantilesAreCloseToTheExactOnes) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(100 + (random() >> (random() % 54 + 10)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = static_cast<double>(values[static_cast<size_t>(std::ceil(q * 20000)) - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(q)), exact, 1 + 0.022 * exact) << q;
  }
  EXPECT_EQ(histogram.Quantile(0), values.front());
  EXPECT_EQ(histogram.Quantile(1), values.back());
}

TEST(Histogram, MergingIsExactInAnyOrder) {
  std::mt19937_64 random(2);
  Histogram all;
  Histogram parts[3];
  for (int i = 0; i < 3000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    all.Add(value);
    parts[i % 3].Add(value);
  }
  Histogram merged;
  for (const int part : {2, 0, 1}) merged.Merge(parts[part]);
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.sum(), all.sum());
  EXPECT_EQ(merged.min(), all.min());
  EXPECT_EQ(merged.max(), all.max());
  EXPECT_EQ(merged.first_bucket(), all.first_bucket());
  EXPECT_EQ(merged.counts(), all.counts());
}

}  // namespace histogram_test
}  // namespace gotrace
