#include "testing/json_value.h"

#include <cstddef>
#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
// Only here, since it takes longer to compile than the tests of a folder.
#include "nlohmann/json.hpp"

namespace gotrace::internal {
namespace {

using Json = nlohmann::json;
using Type = JsonValue::Type;

// Receives the parts of a value from the parser. nlohmann's own values would lose the order of
// members, all but the last of those with the same name, and the spelling of numbers.
class Builder : public Json::json_sax_t {
 public:
  JsonValue TakeValue() { return std::move(root_); }
  const std::string& error() const { return error_; }

  bool null() override { return Add(Type::kNull, "null"); }
  bool boolean(bool value) override { return Add(Type::kBool, value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return Add(Type::kNumber, absl::StrCat(value)); }
  bool number_unsigned(uint64_t value) override { return Add(Type::kNumber, absl::StrCat(value)); }
  bool number_float(double, const std::string& spelling) override {
    return Add(Type::kNumber, spelling);
  }
  bool string(std::string& value) override { return Add(Type::kString, value); }
  bool binary(Json::binary_t&) override { return false; }  // Not in JSON.

  bool start_object(size_t) override { return Open(Type::kObject); }
  bool start_array(size_t) override { return Open(Type::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    if (!open_.back().names.insert(name).second) {
      error_ = absl::StrCat("two members named ", name);
      return false;
    }
    open_.back().value->members.emplace_back(name, JsonValue());
    return true;
  }

  bool parse_error(size_t, const std::string&, const Json::exception& error) override {
    error_ = error.what();
    return false;
  }

 private:
  struct OpenValue {
    JsonValue* value;
    std::set<std::string> names;
  };

  JsonValue* Add(Type type) {
    JsonValue* value = &root_;
    if (!open_.empty()) {
      JsonValue& parent = *open_.back().value;
      value = parent.type == Type::kObject ? &parent.members.back().second
                                           : &parent.elements.emplace_back();
    }
    value->type = type;
    return value;
  }

  bool Add(Type type, absl::string_view text) {
    Add(type)->text = std::string(text);
    return true;
  }

  bool Open(Type type) {
    open_.push_back({Add(type), {}});
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonValue root_;
  std::vector<OpenValue> open_;  // From the outermost to the innermost.
  std::string error_;
};

}  // namespace

const JsonValue* JsonValue::Find(absl::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<JsonValue> ParseJson(absl::string_view text) {
  // The parser skips a byte-order mark, and takes NUL for the end of the text.
  if (absl::StartsWith(text, "\xEF\xBB\xBF")) return absl::InvalidArgumentError("byte-order mark");
  if (absl::StrContains(text, '\0')) return absl::InvalidArgumentError("NUL");
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.TakeValue();
  return absl::InvalidArgumentError(builder.error());
}

std::string CheckJson(absl::string_view text) {
  if (text != absl::StripAsciiWhitespace(text)) return "space before or after the value";
  return std::string(ParseJson(text).status().message());
}

}  // namespace gotrace::internal
