// JSON values. For tests.
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
  // For a string, its bytes with escapes resolved; for a number, true or false, its spelling.
  std::string text;
  std::vector<JsonValue> elements;                         // For an array.
  std::vector<std::pair<std::string, JsonValue>> members;  // For an object, in order.

  // Returns the member called `name`, or nullptr.
  const JsonValue* Find(absl::string_view name) const;

  // Whether both are the same, including the order of members and the spelling of numbers.
  bool operator==(const JsonValue& other) const = default;
};

// Parses one value. The error is that of CheckJson().
absl::StatusOr<JsonValue> ParseJson(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_VALUE_H_
