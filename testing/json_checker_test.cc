#include "testing/json_checker.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace json_checker_test {

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
    absl::string_view error;
  };
  const Case kCases[] = {
      {"", "byte 0: no value"},
      {" 1", "byte 0: no value"},
      {"1 ", "byte 1: something after the value"},
      {"01", "byte 1: something after the value"},
      {"1.", "byte 2: no digit"},
      {"1e", "byte 2: no digit"},
      {"-", "byte 1: no value"},
      {"+1", "byte 0: no value"},
      {"nul", "byte 0: no value"},
      {"NaN", "byte 0: no value"},
      {"[1,]", "byte 3: no value"},
      {"[1 2]", "byte 3: no comma or ] after an element"},
      {"[", "byte 1: no value"},
      {"{\"a\":1,}", "byte 7: no string"},
      {"{\"a\" 1}", "byte 5: no colon after a name"},
      {"{\"a\":1", "byte 6: no comma or } after a member"},
      {"{a:1}", "byte 1: no string"},
      {"{\"a\":1,\"a\":2}", "byte 10: two members named a"},
      {"\"a", "byte 2: a string without end"},
      {"\"\n\"", "byte 1: a control character in a string"},
      {"\"\\x\"", "byte 2: no such escape"},
      {"\"\\u12g4\"", "byte 5: an escape without four digits"},
      {"\"\\ud800\"", "byte 7: a surrogate"},
      {"\"\x80\"", "byte 1: no UTF-8"},
      {"\"\xC1\x80\"", "byte 1: no UTF-8"},
      {"\"\xC3\"", "byte 1: no UTF-8"},
      {"\"\xE0\x9F\x80\"", "byte 1: no UTF-8"},
      {"\"\xED\xA0\x80\"", "byte 1: no UTF-8"},
      {"\"\xF0\x8F\x80\x80\"", "byte 1: no UTF-8"},
      {"\"\xF4\x90\x80\x80\"", "byte 1: no UTF-8"},
      {"\"\xF5\x80\x80\x80\"", "byte 1: no UTF-8"},
  };
  for (const Case& c : kCases) EXPECT_EQ(CheckJson(c.text), c.error) << c.text;
}

}  // namespace json_checker_test
}  // namespace gotrace::internal
