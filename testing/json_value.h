// JSON values, read by a parser that shares no code with the writers of JSON. For tests.
#ifndef GOTRACE_TESTING_JSON_VALUE_H_
#define GOTRACE_TESTING_JSON_VALUE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct JsonValue {
  enum class Type { kNull, kBool, kNumber, kString, kArray, kObject };

  Type type = Type::kNull;
  // For a string, its bytes with escapes resolved; for a number, its spelling; for a boolean,
  // "true" or "false"; for null, "null".
  std::string text;
  std::vector<JsonValue> elements;                         // For an array.
  std::vector<std::pair<std::string, JsonValue>> members;  // For an object, in order.

  // Returns the member called `name`, or nullptr.
  const JsonValue* Find(absl::string_view name) const;

  // Whether both are the same, including the order of members and the spelling of fractions.
  bool operator==(const JsonValue& other) const = default;
};

// Parses one value as defined by RFC 8259. Stricter than the RFC: names of an object's members
// must differ, strings must be UTF-8 without lone surrogates, and no byte-order mark is allowed.
// The error says what is wrong, and where.
absl::StatusOr<JsonValue> ParseJson(absl::string_view text);

// Returns "" if ParseJson() accepts `text`, and no space precedes or follows the value; otherwise
// the error.
std::string CheckJson(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_VALUE_H_
