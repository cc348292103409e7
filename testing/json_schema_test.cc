#include "testing/json_schema.h"

#include <string>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace json_schema_test {

std::string Check(const char* schema, const char* value) {
  return CheckAgainstSchema(ParseJson(schema).value(), ParseJson(value).value());
}

TEST(JsonSchema, ChecksTypes) {
  EXPECT_EQ(Check(R"({"type":"integer"})", "-7"), "");
  EXPECT_EQ(Check(R"({"type":"integer"})", "1.5"), ": is no integer");
  EXPECT_EQ(Check(R"({"type":"number"})", "1.5"), "");
  EXPECT_EQ(Check(R"({"type":"string"})", "1"), ": is no string");
  EXPECT_EQ(Check(R"({"type":"object"})", "[]"), ": is no object");
  EXPECT_EQ(Check(R"({"type":"boolean"})", "false"), "");
  EXPECT_EQ(Check(R"({"type":["integer","null"]})", "null"), "");
  EXPECT_EQ(Check(R"({"type":["integer","null"]})", "3"), "");
  EXPECT_EQ(Check(R"({"type":["integer","null"]})", "[]"), ": has none of the types allowed");
}

TEST(JsonSchema, ChecksValues) {
  EXPECT_EQ(Check(R"({"enum":["a","b"]})", R"("b")"), "");
  EXPECT_EQ(Check(R"({"enum":["a","b"]})", R"("c")"), ": is none of the values allowed");
  EXPECT_EQ(Check(R"({"minimum":1})", "1"), "");
  EXPECT_EQ(Check(R"({"minimum":1})", "0"), ": is less than 1");
  EXPECT_EQ(Check(R"({"pattern":"^1\\.[0-9]+$"})", R"("1.26")"), "");
  EXPECT_EQ(Check(R"({"pattern":"^1\\.[0-9]+$"})", R"("1.x")"), ": does not fit ^1\\.[0-9]+$");
}

TEST(JsonSchema, ChecksAlternatives) {
  constexpr char kSchema[] = R"({"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]})";
  EXPECT_EQ(Check(kSchema, R"({"a":1,"b":1})"), "");
  EXPECT_EQ(Check(kSchema, R"({"c":1})"), "");
  EXPECT_EQ(Check(kSchema, R"({"a":1})"), ": lacks b");
  EXPECT_EQ(Check(R"({"maxProperties": 1})", R"({"a":1})"), "");
  EXPECT_EQ(Check(R"({"maxProperties": 1})", R"({"a":1,"b":1})"), ": has more than 1 members");
}

TEST(JsonSchema, ChecksMembersAndElements) {
  constexpr char kSchema[] = R"({
    "required": ["a"],
    "additionalProperties": false,
    "properties": {"a": {"items": {"$ref": "#/$defs/small"}}, "b": {"type": "string"}},
    "$defs": {"small": {"type": "integer"}}
  })";
  EXPECT_EQ(Check(kSchema, R"({"a":[1,2],"b":"x"})"), "");
  EXPECT_EQ(Check(kSchema, R"({"b":"x"})"), ": lacks a");
  EXPECT_EQ(Check(kSchema, R"({"a":[],"b":1})"), "/b: is no string");
  EXPECT_EQ(Check(kSchema, R"({"a":[1,"2"]})"), "/a/1: is no integer");
  EXPECT_EQ(Check(kSchema, R"({"a":[],"c":1})"), "/c: is not allowed");
  EXPECT_EQ(Check(R"({"additionalProperties":{"type":"string"}})", R"({"x":"","y":2})"),
            "/y: is no string");
}

TEST(JsonSchema, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Check(R"({"maximum":7})", "1"), ": the schema has the unknown keyword maximum");
  EXPECT_EQ(Check(R"({"$ref":"#/$defs/none"})", "1"), ": is not allowed");
}

}  // namespace json_schema_test
}  // namespace gotrace::internal
