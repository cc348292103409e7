#include "validator/explain_fault.h"

#include <optional>

#include "gtest/gtest.h"
#include "validator/foreign_input.h"

namespace gotrace::internal {
namespace explain_fault_test {

TEST(SizeLimitTest, ReportsOnlyRoundSizes) {
  EXPECT_EQ(SizeLimitOf(1024), "1 KiB");
  EXPECT_EQ(SizeLimitOf(3 << 16), "192 KiB");
  EXPECT_EQ(SizeLimitOf(5 << 20), "5 MiB");
  EXPECT_EQ(SizeLimitOf(10'000'000), "10000000 bytes");
  for (const uint64_t size : {0, 16, 512, 1000, 1023, 1025, 3000, (5 << 20) + 1, 9'999'999}) {
    EXPECT_EQ(SizeLimitOf(size), "") << size;
  }
}

TEST(RecogniseInPayloadTest, FindsPrintedLines) {
  const absl::string_view bytes("\x01\x02panic: out of memory\n\x03", 24);
  for (const size_t position : {2, 10, 22}) {
    const auto found = RecogniseInPayload(bytes, position, /*among_strings=*/false);
    ASSERT_TRUE(found.has_value()) << position;
    EXPECT_EQ(found->check, CheckId::kFaultTextInTrace);
  }
  EXPECT_FALSE(RecogniseInPayload(bytes, 23, /*among_strings=*/false).has_value());
  // The text before it may be the end of a string.
  EXPECT_FALSE(RecogniseInPayload(bytes, 10, /*among_strings=*/true).has_value());
}

TEST(RecogniseInPayloadTest, IgnoresNamesAndNumbers) {
  for (const absl::string_view bytes :
       {"runtime.gcBgMarkWorker", "1234567890 1234567890\n", "short text\n"}) {
    EXPECT_FALSE(RecogniseInPayload(bytes, 0, /*among_strings=*/false).has_value()) << bytes;
  }
}

TEST(RecogniseInputTest, AcceptsAllBytesOfUtf8AsText) {
  // The second byte of the apostrophe is the smallest that is not ASCII.
  const std::optional<ForeignInput> foreign = RecogniseInput("it can’t be\n");
  ASSERT_TRUE(foreign.has_value());
  EXPECT_EQ(foreign->check, CheckId::kInputText);
}

TEST(RecogniseInTraceTest, AcceptsOnlyUtf8AsText) {
  EXPECT_TRUE(RecogniseInTrace("Es ist nicht möglich\n").has_value());
  EXPECT_TRUE(RecogniseInTrace("it can’t be\n").has_value());
  EXPECT_FALSE(RecogniseInTrace("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\n").has_value());
}

}  // namespace explain_fault_test
}  // namespace gotrace::internal
