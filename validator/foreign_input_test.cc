#include "validator/foreign_input.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace foreign_input_test {

std::optional<CheckId> CheckOf(const std::optional<ForeignInput>& found) {
  return found.has_value() ? std::make_optional(found->check) : std::nullopt;
}

std::optional<CheckId> Input(absl::string_view begin) { return CheckOf(RecogniseInput(begin)); }
std::optional<CheckId> InTrace(absl::string_view bytes) { return CheckOf(RecogniseInTrace(bytes)); }
std::optional<CheckId> InPayload(absl::string_view bytes, size_t position, bool among_strings) {
  return CheckOf(RecogniseInPayload(bytes, position, among_strings));
}

constexpr std::optional<CheckId> kNothing;
constexpr CheckId kTextInTrace = CheckId::kFaultTextInTrace;

TEST(ForeignInputTest, TextHasAtLeastEightBytes) {
  EXPECT_EQ(Input("1234567"), kNothing);
  EXPECT_EQ(Input("12345678"), CheckId::kInputText);
  EXPECT_EQ(InTrace("abcdef\n"), kNothing);
  EXPECT_EQ(InTrace("abcdefg\n"), kTextInTrace);
}

TEST(ForeignInputTest, TextHasNoOtherControlCharacters) {
  EXPECT_EQ(Input("a\tb\r\n\x80\xff~ "), CheckId::kInputText);
  for (const char c : {'\0', '\x1f', '\x7f'}) EXPECT_EQ(Input(std::string(9, c)), kNothing);
  // Bytes that are not looked at may be anything.
  const std::string text(kRecognisedBytes, 'x');
  EXPECT_EQ(Input(absl::StrCat(text, "\x01")), CheckId::kInputText);
  EXPECT_EQ(Input(absl::StrCat(text.substr(1), "\x01")), kNothing);
}

// Other text may be a coincidence, or names of the trace.
TEST(ForeignInputTest, PrintedTextIsLinesOfWords) {
  EXPECT_EQ(InTrace(std::string(120, 'x')), kNothing);
  EXPECT_EQ(InTrace(std::string(121, 'x')), kTextInTrace);
  // A third of it are letters and spaces.
  EXPECT_EQ(InTrace("a b12345\n"), kTextInTrace);
  EXPECT_EQ(InTrace("a b123456\n"), kNothing);
}

TEST(ForeignInputTest, MagicNumbersMayEndTheInput) {
  EXPECT_EQ(Input("BZh"), CheckId::kInputCompressed);
  EXPECT_EQ(Input("BZ"), kNothing);
  const std::string before(257, '\0');
  EXPECT_EQ(Input(absl::StrCat(before, "ustar")), CheckId::kInputTar);
  EXPECT_EQ(Input(absl::StrCat(before, "usta")), kNothing);
  EXPECT_EQ(Input(before), kNothing);
}

TEST(ForeignInputTest, AProfileBeginsWithTwoSampleTypes) {
  const auto type = [](size_t size) {
    return absl::StrCat("\x0a", std::string(1, static_cast<char>(size)), "\x08",
                        std::string(size - 1, '\1'));
  };
  EXPECT_EQ(Input(absl::StrCat(type(2), type(12))), CheckId::kInputPprof);
  EXPECT_EQ(Input(absl::StrCat(type(12), "\x0a\x02")), CheckId::kInputPprof);
  EXPECT_EQ(Input(absl::StrCat(type(2), type(13))), kNothing);
  EXPECT_EQ(Input(absl::StrCat(type(2), type(1))), kNothing);
  EXPECT_EQ(Input("\x0a\x02"), kNothing);
  EXPECT_EQ(Input("\x0b\x02\x08"), kNothing);
}

TEST(ForeignInputTest, KindsOfText) {
  EXPECT_EQ(Input("\xef\xbb\xbf\n <!DOCTYPE html>"), CheckId::kInputHtml);
  EXPECT_EQ(Input("HTTP/1.1 404"), CheckId::kInputHttp);
  EXPECT_EQ(Input("Trace Go1.22"), CheckId::kInputTraceText);
  EXPECT_EQ(Input("{ \"a\": 1}"), CheckId::kInputJson);
  EXPECT_EQ(Input("{}       "), CheckId::kInputJson);
  EXPECT_EQ(Input("[ 1, 2, 3]"), CheckId::kInputJson);
  EXPECT_EQ(Input("{ a: 1234}"), CheckId::kInputText);
  EXPECT_EQ(Input("[signal 1]"), CheckId::kInputText);
  EXPECT_EQ(Input("[         "), CheckId::kInputText);
}

TEST(ForeignInputTest, ASecondTraceHasAHeader) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Input("go 1.22 trace\0\0\0"s), kNothing);
  EXPECT_EQ(InTrace("go 1.22 trace\0\0\0"s), CheckId::kSecondTrace);
  EXPECT_EQ(InTrace("go 1.22 trace"), kNothing);
  EXPECT_EQ(InTrace("go 2.22 trace\0\0\0"s), kNothing);
}

TEST(ForeignInputTest, TextInAPayloadIsAtTheFault) {
  constexpr absl::string_view kText = "fifteen bytes.\n";
  EXPECT_EQ(InPayload(kText, 0, false), kNothing);
  EXPECT_EQ(InPayload(absl::StrCat("+", kText), 0, false), kTextInTrace);
  EXPECT_EQ(InPayload(absl::StrCat("+", kText), 5, false), kTextInTrace);
  // It may have begun before the fault, and must not end before it.
  const std::string bytes = absl::StrCat("\x01+", kText, "\x02\x02");
  EXPECT_EQ(InPayload(bytes, 9, false), kTextInTrace);
  EXPECT_EQ(InPayload(bytes, 17, false), kNothing);
  EXPECT_EQ(InPayload(bytes, 1, true), kTextInTrace);
  EXPECT_EQ(InPayload(bytes, 9, true), kNothing);
  EXPECT_EQ(InPayload(absl::StrCat(std::string(121, 'x'), "\x01"), 121, false), kNothing);
  // Among strings, a long text may be one of them.
  const std::string name(200, 'x');
  EXPECT_EQ(InPayload(name, 0, false), kTextInTrace);
  EXPECT_EQ(InPayload(name, 0, true), kNothing);
}

}  // namespace foreign_input_test
}  // namespace gotrace::internal
