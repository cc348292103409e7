#include "tracev2/decimal.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace {
namespace {

// The digits of `number`, or what is wrong.
std::string Decimal(uint64_t number) {
  constexpr char kUntouched = '#';
  std::string room(kDecimalRoom + 8, kUntouched);
  const size_t size = WriteDecimal(number, room.data()) - room.data();
  if (size > kDecimalRoom) return absl::StrCat("too long: ", size);
  if (room.find_first_not_of(kUntouched, kDecimalRoom) != std::string::npos) {
    return "writes beyond the room";
  }
  return room.substr(0, size);
}

// Numbers on both sides of each power of ten and of two, and what is next to them.
std::vector<uint64_t> Numbers() {
  std::vector<uint64_t> numbers = {UINT64_MAX};
  for (uint64_t power = 1;; power *= 10) {
    for (uint64_t digit = 1; digit <= 9 && digit <= UINT64_MAX / power; ++digit) {
      numbers.insert(numbers.end(), {digit * power - 1, digit * power, digit * power + 1});
    }
    if (power > UINT64_MAX / 10) break;
  }
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    numbers.insert(numbers.end(),
                   {power - 1, power, power + 1, ~power, power * 0x9E3779B97F4A7C15});
  }
  return numbers;
}

TEST(DecimalTest, IsThatOfStrCat) {
  for (const uint64_t number : Numbers()) EXPECT_EQ(Decimal(number), absl::StrCat(number));
}

// What stands on each side of a part of four digits is computed apart.
TEST(DecimalTest, AllPartsOfFourDigits) {
  for (uint64_t part = 0; part < 10000; ++part) {
    ASSERT_EQ(Decimal(part), absl::StrCat(part));
    const uint64_t inner = 70000000 + part;
    ASSERT_EQ(Decimal(inner), absl::StrCat(inner));
    const uint64_t outer = part * 1000000000000 + 12345678;
    ASSERT_EQ(Decimal(outer), absl::StrCat(outer));
  }
}

}  // namespace
}  // namespace gotrace
