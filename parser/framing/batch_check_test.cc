#include "parser/framing/batch_check.h"

#include <string>

#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace batch_check_test {

TEST(WalkBatchesTest, FindsNothingWrongWithSoundTraces) {
  for (const TestTrace& test : TestTraces()) {
    const std::string trace = ReadTestTrace(test.name);
    const Walk whole = WalkBatches(trace, /*whole=*/true);
    EXPECT_FALSE(whole.failed) << test.name << ' ' << whole.batches;
    EXPECT_GT(whole.batches, 2u) << test.name;
    const Walk cut = WalkBatches(trace.substr(0, trace.size() - 7), /*whole=*/false);
    EXPECT_FALSE(cut.failed) << test.name << ' ' << cut.batches;
  }
}

TEST(WalkBatchesTest, StopsWhereABatchIsNone) {
  std::string trace = ReadTestTrace("go1.26-gc.trace");
  const Walk whole = WalkBatches(trace, /*whole=*/true);
  trace.insert(trace.size() / 2, "x");
  const Walk broken = WalkBatches(trace, /*whole=*/true);
  EXPECT_TRUE(broken.failed);
  EXPECT_GT(broken.batches, 0u);
  EXPECT_LT(broken.batches, whole.batches);
}

}  // namespace batch_check_test
}  // namespace gotrace::internal
