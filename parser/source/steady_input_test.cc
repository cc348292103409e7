#include "parser/source/steady_input.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace steady_input_test {

absl::Status Read(const SteadyInput& input, absl::string_view bytes) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  if (!source.ok()) return source.status();
  return ReadToEnd(input.Watch(*std::move(source)).get());
}

TEST(SteadyInputTest, ReportsHowAnInputChanged) {
  const auto changed = [](absl::string_view how) {
    return absl::AbortedError(absl::StrCat("the input changed while it was being read: it ", how));
  };
  SteadyInput input;
  EXPECT_EQ(input.bytes(), std::nullopt);
  EXPECT_EQ(Read(input, "some bytes"), absl::OkStatus());
  EXPECT_EQ(input.bytes()->size, 10u);
  EXPECT_EQ(Read(input, "some bytes"), absl::OkStatus());
  // Each reading ends where the first one did.
  EXPECT_EQ(Read(input, "some bytes, and more"), absl::OkStatus());
  EXPECT_EQ(Read(input, "some byte"), changed("had 10 bytes before, and now ends after 9"));
  EXPECT_EQ(Read(input, ""), changed("had 10 bytes before, and now ends after 0"));
  EXPECT_EQ(Read(input, "some other"), changed("has other bytes than before"));
  EXPECT_EQ(Read(input, "some other bytes"), changed("has other bytes than before"));
}

}  // namespace steady_input_test
}  // namespace gotrace::internal
