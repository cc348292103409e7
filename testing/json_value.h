// JSON as values. For tests.
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
  // Of a string its bytes, escapes resolved; of a number and of true and false how they are
  // spelled.
  std::string text;
  std::vector<JsonValue> elements;                         // Of an array.
  std::vector<std::pair<std::string, JsonValue>> members;  // Of an object, in order.

  // The member called `name`, or nullptr.
  const JsonValue* Find(absl::string_view name) const;

  // Whether both are the same, with members in the same order and numbers spelled alike.
  bool operator==(const JsonValue& other) const = default;
};

// Reads one value. An error is what CheckJson() says.
absl::StatusOr<JsonValue> ParseJson(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_JSON_VALUE_H_
