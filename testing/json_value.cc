#include "testing/json_value.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "testing/json_checker.h"

namespace gotrace::internal {
namespace {

void AppendUtf8(uint32_t rune, std::string* out) {
  if (rune < 0x80) {
    out->push_back(static_cast<char>(rune));
  } else if (rune < 0x800) {
    out->push_back(static_cast<char>(0xC0 | rune >> 6));
    out->push_back(static_cast<char>(0x80 | (rune & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xE0 | rune >> 12));
    out->push_back(static_cast<char>(0x80 | (rune >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (rune & 0x3F)));
  }
}

// Parses a text that CheckJson() has accepted.
class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text) {}

  JsonValue Value() {
    JsonValue value;
    switch (rest_.front()) {
      case '{':
        value.type = JsonValue::Type::kObject;
        Members(&value);
        break;
      case '[':
        value.type = JsonValue::Type::kArray;
        Elements(&value);
        break;
      case '"':
        value.type = JsonValue::Type::kString;
        value.text = String();
        break;
      default:
        value.text = Word();
        value.type = value.text == "null"                            ? JsonValue::Type::kNull
                     : value.text == "true" || value.text == "false" ? JsonValue::Type::kBool
                                                                     : JsonValue::Type::kNumber;
    }
    return value;
  }

 private:
  // Consumes a punctuation mark and the space after it.
  void Mark() {
    rest_.remove_prefix(1);
    Space();
  }
  void Space() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  void Members(JsonValue* value) {
    for (Mark(); rest_.front() != '}';) {
      std::string name = String();
      Space();
      Mark();
      value->members.emplace_back(std::move(name), Value());
      Space();
      if (rest_.front() == ',') Mark();
    }
    rest_.remove_prefix(1);
  }

  void Elements(JsonValue* value) {
    for (Mark(); rest_.front() != ']';) {
      value->elements.push_back(Value());
      Space();
      if (rest_.front() == ',') Mark();
    }
    rest_.remove_prefix(1);
  }

  std::string Word() {
    const size_t size = std::min(rest_.find_first_of(",]} \t\r\n"), rest_.size());
    std::string word(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return word;
  }

  std::string String() {
    std::string value;
    for (rest_.remove_prefix(1); rest_.front() != '"';) {
      if (rest_.front() == '\\') {
        Escape(&value);
      } else {
        value.push_back(rest_.front());
        rest_.remove_prefix(1);
      }
    }
    rest_.remove_prefix(1);
    return value;
  }

  void Escape(std::string* value) {
    const char c = rest_[1];
    if (c == 'u') {
      uint32_t rune = 0;
      if (absl::SimpleHexAtoi(rest_.substr(2, 4), &rune)) AppendUtf8(rune, value);
      rest_.remove_prefix(6);
      return;
    }
    constexpr absl::string_view kNames = "bfnrt";
    const size_t name = kNames.find(c);
    value->push_back(name == absl::string_view::npos ? c : "\b\f\n\r\t"[name]);
    rest_.remove_prefix(2);
  }

  absl::string_view rest_;
};

}  // namespace

const JsonValue* JsonValue::Find(absl::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<JsonValue> ParseJson(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const std::string error = CheckJson(text);
  if (!error.empty()) return absl::InvalidArgumentError(error);
  return Parser(text).Value();
}

}  // namespace gotrace::internal
