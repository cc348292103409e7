#include "testing/json_schema.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/golden_case.h"

namespace gotrace::internal {
namespace {

using Type = JsonValue::Type;

bool HasType(const JsonValue& value, absl::string_view type) {
  if (type == "integer") {
    return value.type == Type::kNumber && value.text.find_first_of(".eE") == std::string::npos;
  }
  constexpr absl::string_view kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  return kNames[static_cast<int>(value.type)] == type;
}

double NumberOf(const JsonValue& value) {
  double number = 0;
  return absl::SimpleAtod(value.text, &number) ? number : 0;
}

class SchemaChecker {
 public:
  explicit SchemaChecker(const JsonValue& root) : root_(root) {}

  // A keyword accepts values of types that it does not apply to.
  std::string Check(const JsonValue& schema, const JsonValue& value, const std::string& where) {
    if (schema.type == Type::kBool) {
      return schema.text == "true" ? "" : absl::StrCat(where, ": is not allowed");
    }
    for (const auto& [keyword, rule] : schema.members) {
      const std::string error = CheckKeyword(schema, keyword, rule, value, where);
      if (!error.empty()) return error;
    }
    return "";
  }

 private:
  std::string CheckKeyword(const JsonValue& schema, absl::string_view keyword,
                           const JsonValue& rule, const JsonValue& value,
                           const std::string& where) {
    if (keyword == "$schema" || keyword == "$defs" || keyword == "title" ||
        keyword == "description") {
      return "";
    }
    if (keyword == "$ref") return Check(Resolve(rule.text), value, where);
    if (keyword == "type") return CheckType(rule, value, where);
    if (keyword == "enum") {
      const bool found = std::count(rule.elements.begin(), rule.elements.end(), value) > 0;
      return found ? "" : absl::StrCat(where, ": is none of the values allowed");
    }
    if (keyword == "minimum") {
      const bool is_less = value.type == Type::kNumber && NumberOf(value) < NumberOf(rule);
      return is_less ? absl::StrCat(where, ": is less than ", rule.text) : "";
    }
    if (keyword == "maxProperties") {
      const bool is_more = static_cast<double>(value.members.size()) > NumberOf(rule);
      return is_more ? absl::StrCat(where, ": has more than ", rule.text, " members") : "";
    }
    if (keyword == "pattern") {
      const bool fits = value.type != Type::kString ||
                        testing::Value(value.text, testing::ContainsRegex(rule.text));
      return fits ? "" : absl::StrCat(where, ": does not fit ", rule.text);
    }
    if (keyword == "anyOf") return CheckAnyOf(rule, value, where);
    if (keyword == "required") return CheckRequired(rule, value, where);
    if (keyword == "properties") return CheckProperties(rule, value, where);
    if (keyword == "additionalProperties") return CheckAdditional(schema, rule, value, where);
    if (keyword == "items") return CheckItems(rule, value, where);
    return absl::StrCat(where, ": the schema has the unknown keyword ", keyword);
  }

  const JsonValue& Resolve(absl::string_view reference) const {
    static const JsonValue* const kNothing = new JsonValue{Type::kBool, "false", {}, {}};
    const JsonValue* const definitions = root_.Find("$defs");
    if (definitions == nullptr || !absl::ConsumePrefix(&reference, "#/$defs/")) return *kNothing;
    const JsonValue* const found = definitions->Find(reference);
    return found == nullptr ? *kNothing : *found;
  }

  // One type, or several of which any will do.
  static std::string CheckType(const JsonValue& types, const JsonValue& value,
                               const std::string& where) {
    if (types.type != Type::kArray) {
      return HasType(value, types.text) ? "" : absl::StrCat(where, ": is no ", types.text);
    }
    for (const JsonValue& type : types.elements) {
      if (HasType(value, type.text)) return "";
    }
    return absl::StrCat(where, ": has none of the types allowed");
  }

  // The error is that of the first schema.
  std::string CheckAnyOf(const JsonValue& schemas, const JsonValue& value,
                         const std::string& where) {
    std::string first;
    for (const JsonValue& schema : schemas.elements) {
      std::string error = Check(schema, value, where);
      if (error.empty()) return "";
      if (first.empty()) first = std::move(error);
    }
    return first;
  }

  static std::string CheckRequired(const JsonValue& names, const JsonValue& value,
                                   const std::string& where) {
    if (value.type != Type::kObject) return "";
    for (const JsonValue& name : names.elements) {
      if (value.Find(name.text) == nullptr) return absl::StrCat(where, ": lacks ", name.text);
    }
    return "";
  }

  std::string CheckProperties(const JsonValue& properties, const JsonValue& value,
                              const std::string& where) {
    for (const auto& [name, schema] : properties.members) {
      const JsonValue* const member = value.Find(name);
      if (member == nullptr) continue;
      const std::string error = Check(schema, *member, absl::StrCat(where, "/", name));
      if (!error.empty()) return error;
    }
    return "";
  }

  std::string CheckAdditional(const JsonValue& schema, const JsonValue& rule,
                              const JsonValue& value, const std::string& where) {
    const JsonValue* const properties = schema.Find("properties");
    for (const auto& [name, member] : value.members) {
      if (properties != nullptr && properties->Find(name) != nullptr) continue;
      const std::string error = Check(rule, member, absl::StrCat(where, "/", name));
      if (!error.empty()) return error;
    }
    return "";
  }

  std::string CheckItems(const JsonValue& rule, const JsonValue& value, const std::string& where) {
    for (size_t i = 0; i < value.elements.size(); ++i) {
      const std::string error = Check(rule, value.elements[i], absl::StrCat(where, "/", i));
      if (!error.empty()) return error;
    }
    return "";
  }

  const JsonValue& root_;
};

}  // namespace

std::string CheckAgainstSchema(const JsonValue& schema, const JsonValue& value) {
  return SchemaChecker(schema).Check(schema, value, "");
}

JsonValue ReadSchema(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  const absl::StatusOr<JsonValue> schema = text.ok() ? ParseJson(*text) : text.status();
  EXPECT_TRUE(schema.ok()) << path << ": " << schema.status();
  return schema.value_or(JsonValue());
}

}  // namespace gotrace::internal
