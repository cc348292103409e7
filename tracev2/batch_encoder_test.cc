#include "tracev2/batch_encoder.h"

#include <string>

#include "gotrace/internal/limits.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace batch_encoder_test {

TEST(BatchEncoder, WritesBatches) {
  std::string bytes;
  AppendBatch({/*generation=*/1, /*thread=*/300, /*time=*/5}, "ab", BatchSizeForm::kShortest,
              &bytes);
  EXPECT_EQ(bytes, std::string("\x01\x01\xac\x02\x05\x02"
                               "ab"));
}

TEST(BatchEncoder, WritesSizesInTenBytes) {
  std::string bytes;
  AppendBatch({1, 2, 3}, "a", BatchSizeForm::kPadded, &bytes);
  EXPECT_EQ(bytes, std::string("\x01\x01\x02\x03\x81\x80\x80\x80\x80\x80\x80\x80\x80\0a", 15));
}

TEST(BatchEncoder, WritesBatchesOfNoThread) {
  std::string bytes;
  AppendBatchHeader({.generation = 1, .time = 3}, 7, BatchSizeForm::kShortest, &bytes);
  EXPECT_EQ(bytes, std::string("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x03\x07"));
}

TEST(BatchEncoder, WritesExperimentsAsOneByte) {
  std::string bytes;
  AppendBatch({1, 2, 3, /*experiment=*/200}, "", BatchSizeForm::kShortest, &bytes);
  EXPECT_EQ(bytes, std::string("\x31\xc8\x01\x02\x03\0", 6));
}

TEST(BatchEncoder, WritesEvents) {
  std::string bytes;
  AppendTimedEvent(EventType::kGoStart, 1, {2, 300}, &bytes);
  AppendEvent(EventType::kFrequency, {5}, &bytes);
  AppendString(6, "text", &bytes);
  EXPECT_EQ(bytes, std::string("\x10\x01\x02\xac\x02\x08\x05\x05\x06\x04text"));
}

TEST(BatchSplitter, DividesWhatIsTooLarge) {
  std::string bytes;
  BatchSplitter splitter({1, 2, 3}, EventType::kStrings, &bytes);
  // With the first byte of the payload, 63 of them fill a batch.
  const std::string entry(1040, 'x');
  for (int i = 0; i < 64; ++i) splitter.Add(entry);
  splitter.Finish();
  splitter.Finish();
  const size_t first = 1 + 63 * entry.size();
  ASSERT_LE(first, kMaxBatchSize);
  ASSERT_GT(first + entry.size(), kMaxBatchSize);
  std::string expected;
  AppendBatchHeader({1, 2, 3}, first, BatchSizeForm::kShortest, &expected);
  expected += "\x04" + std::string(63 * entry.size(), 'x');
  AppendBatchHeader({1, 2, 3}, 1 + entry.size(), BatchSizeForm::kShortest, &expected);
  expected += "\x04" + entry;
  EXPECT_EQ(bytes, expected);
}

TEST(BatchSplitter, WritesNothingOfNothing) {
  std::string bytes;
  BatchSplitter({1, 2, 3}, EventType::kStrings, &bytes).Finish();
  EXPECT_EQ(bytes, "");
}

}  // namespace batch_encoder_test
}  // namespace gotrace::internal
