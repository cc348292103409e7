#include "testing/json_value.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace json_value_test {

TEST(JsonValue, ResolvesEscapesAndKeepsOrder) {
  const JsonValue value =
      ParseJson(R"( {"b" : [1, -2.5e3,true ,null], "a\n":"\u00e9\u20ac\"\/é"})").value();
  ASSERT_EQ(value.members.size(), 2);
  EXPECT_EQ(value.members[0].first, "b");
  EXPECT_EQ(value.members[0].second.elements[1].text, "-2.5e3");
  EXPECT_EQ(value.members[0].second.elements[2].type, JsonValue::Type::kBool);
  EXPECT_EQ(value.members[0].second.elements[3].type, JsonValue::Type::kNull);
  EXPECT_EQ(value.Find("a\n")->text, "é€\"/é");
  EXPECT_EQ(value.Find("c"), nullptr);
  EXPECT_FALSE(ParseJson("{,}").ok());
  EXPECT_FALSE(ParseJson("").ok());
}

TEST(CheckJson, AcceptsJson) {
  for (const absl::string_view text :
       {"{}", "[]", "\"\"", "0", "-0", "12", "-1.50e+10", "1E5", "0.1e-7", "true", "false", "null",
        "[1, [2 ,{}],\"a\"]", "{ \"a\" : 1 ,\n\"b\":{\"a\":[]}}", R"("\"\\\/\b\f\n\r\t\u00fF")",
        "\"\xC2\x80\xE2\x80\xA8\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\x7f\""}) {
    EXPECT_EQ(CheckJson(text), "") << text;
  }
}

TEST(CheckJson, ReportsWhatIsWrong) {
  struct Case {
    absl::string_view text;
    absl::string_view error;  // A part of it.
  };
  const Case kCases[] = {
      {"", "line 1, column 1: syntax error while parsing value - unexpected end of input"},
      {" 1", "space before or after the value"},
      {"1 ", "space before or after the value"},
      {"\xEF\xBB\xBF{}", "byte-order mark"},
      {absl::string_view("1\0", 2), "NUL"},
      {"1 // c", "column 3: syntax error while parsing value - invalid literal"},
      {"01", "column 2: syntax error while parsing value - unexpected number literal"},
      {"1.", "column 3: syntax error while parsing value - invalid number"},
      {"1e", "column 3: syntax error while parsing value - invalid number"},
      {"-", "column 2: syntax error while parsing value - invalid number"},
      {"+1", "column 1: syntax error while parsing value - invalid literal"},
      {"nul", "column 4: syntax error while parsing value - invalid literal"},
      {"NaN", "column 1: syntax error while parsing value - invalid literal"},
      {"[1,]", "column 4: syntax error while parsing value - unexpected ']'"},
      {"[1 2]", "column 4: syntax error while parsing array - unexpected number literal"},
      {"[", "column 2: syntax error while parsing value - unexpected end of input"},
      {"{\"a\":1,}", "column 8: syntax error while parsing object key - unexpected '}'"},
      {"{\"a\" 1}", "column 6: syntax error while parsing object separator"},
      {"{\"a\":1", "column 7: syntax error while parsing object - unexpected end of input"},
      {"{a:1}", "column 2: syntax error while parsing object key - invalid literal"},
      {"{\"a\":1,\"a\":2}", "two members named a"},
      {"{\"a\":1,\"\\u0061\":2}", "two members named a"},
      {"\"a", "missing closing quote"},
      {"\"\n\"", "control character U+000A"},
      {"\"\\x\"", "forbidden character after backslash"},
      {"\"\\u12g4\"", "must be followed by 4 hex digits"},
      {"\"\\ud800\"", "surrogate"},
      {"\"\\udc00\"", "surrogate"},
      {"\"\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xC1\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xC3\"", "ill-formed UTF-8 byte"},
      {"\"\xE0\x9F\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xED\xA0\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xF0\x8F\x80\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xF4\x90\x80\x80\"", "ill-formed UTF-8 byte"},
      {"\"\xF5\x80\x80\x80\"", "ill-formed UTF-8 byte"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(CheckJson(c.text), testing::HasSubstr(std::string(c.error))) << c.text;
  }
}

// Names are compared in each object by itself.
TEST(CheckJson, AcceptsTheSameNameInTwoObjects) {
  EXPECT_EQ(CheckJson(R"({"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}})"), "");
}

}  // namespace json_value_test
}  // namespace gotrace::internal
