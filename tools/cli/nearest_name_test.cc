#include "tools/cli/nearest_name.h"

#include <string>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace nearest_name_test {

constexpr absl::string_view kNames[] = {"events", "wire", "validate", "max_per_check"};

TEST(NearestNameTest, FindsWhatWasMistyped) {
  EXPECT_EQ(NearestName("evnets", kNames), "events");
  EXPECT_EQ(NearestName("event", kNames), "events");
  EXPECT_EQ(NearestName("wrie", kNames), "wire");
  EXPECT_EQ(NearestName("valdiate", kNames), "validate");
  EXPECT_EQ(NearestName("max_percheck", kNames), "max_per_check");
  EXPECT_EQ(NearestName("wire", kNames), "wire");
}

TEST(NearestNameTest, FindsNothingThatIsFarAway) {
  EXPECT_EQ(NearestName("trace", kNames), "");
  EXPECT_EQ(NearestName("x", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName(std::string(1000, 'e'), kNames), "");
  EXPECT_EQ(NearestName("events", {}), "");
}

}  // namespace nearest_name_test
}  // namespace gotrace::internal
