#include "testing/json_checker.h"

#include <cstdint>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

// Each method consumes what it is named after from the front of the text. Only the first error is
// kept.
class Checker {
 public:
  explicit Checker(absl::string_view text) : text_(text) {}

  std::string Check() {
    Value();
    if (error_.empty() && pos_ != text_.size()) Fail("something after the value");
    return error_;
  }

 private:
  bool failed() const { return !error_.empty(); }
  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

  void Fail(absl::string_view what) {
    if (!failed()) error_ = absl::StrCat("byte ", pos_, ": ", what);
  }

  bool Take(char c) {
    if (Peek() != c || pos_ == text_.size()) return false;
    ++pos_;
    return true;
  }

  void Space() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++pos_;
  }

  void Value() {
    switch (Peek()) {
      case '{':
        return Object();
      case '[':
        return Array();
      case '"':
        String(nullptr);
        return;
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  void Word(absl::string_view word) {
    if (text_.substr(pos_, word.size()) != word) return Fail("no value");
    pos_ += word.size();
  }

  void Object() {
    Take('{');
    Space();
    if (Take('}')) return;
    std::set<std::string> names;
    do {
      Space();
      std::string name;
      String(&name);
      if (!names.insert(name).second) Fail(absl::StrCat("two members named ", name));
      Space();
      if (!Take(':')) Fail("no colon after a name");
      Space();
      Value();
      Space();
    } while (!failed() && Take(','));
    if (!Take('}')) Fail("no comma or } after a member");
  }

  void Array() {
    Take('[');
    Space();
    if (Take(']')) return;
    do {
      Space();
      Value();
      Space();
    } while (!failed() && Take(','));
    if (!Take(']')) Fail("no comma or ] after an element");
  }

  void Number() {
    Take('-');
    if (!absl::ascii_isdigit(Peek())) return Fail("no value");
    if (!Take('0')) Digits();
    if (Take('.')) Digits();
    if (Take('e') || Take('E')) {
      if (!Take('-')) Take('+');
      Digits();
    }
  }

  void Digits() {
    if (!absl::ascii_isdigit(Peek())) Fail("no digit");
    while (absl::ascii_isdigit(Peek())) ++pos_;
  }

  // If `value` is not nullptr, sets `*value` to the string as it is spelled.
  void String(std::string* value) {
    if (!Take('"')) return Fail("no string");
    const size_t begin = pos_;
    while (!failed() && pos_ < text_.size() && text_[pos_] != '"') Character();
    if (value != nullptr) *value = std::string(text_.substr(begin, pos_ - begin));
    if (!Take('"')) Fail("a string without end");
  }

  void Character() {
    const uint8_t c = static_cast<uint8_t>(text_[pos_]);
    if (c < 0x20) return Fail("a control character in a string");
    if (c == '\\') return Escape();
    if (c < 0x80) {
      ++pos_;
      return;
    }
    return Utf8(c);
  }

  void Escape() {
    ++pos_;
    const char c = Peek();
    if (c != 'u') {
      if (c == '\0' || !absl::StrContains("\"\\/bfnrt", absl::string_view(&c, 1))) {
        return Fail("no such escape");
      }
      ++pos_;
      return;
    }
    ++pos_;
    for (int i = 0; i < 4; ++i, ++pos_) {
      if (!absl::ascii_isxdigit(Peek())) return Fail("an escape without four digits");
    }
    const absl::string_view digits = text_.substr(pos_ - 4, 2);
    if (digits >= "d8" && digits <= "df") Fail("a surrogate");
  }

  // One rune of several bytes, by Unicode's table of well-formed sequences.
  void Utf8(uint8_t first) {
    const int size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return Fail("no UTF-8");
    for (int i = 1; i < size; ++i) {
      const size_t at = pos_ + static_cast<size_t>(i);
      const uint8_t c = at < text_.size() ? static_cast<uint8_t>(text_[at]) : 0;
      uint8_t low = 0x80;
      uint8_t high = 0xBF;
      if (i == 1 && first == 0xE0) low = 0xA0;
      if (i == 1 && first == 0xED) high = 0x9F;
      if (i == 1 && first == 0xF0) low = 0x90;
      if (i == 1 && first == 0xF4) high = 0x8F;
      if (c < low || c > high) return Fail("no UTF-8");
    }
    pos_ += static_cast<size_t>(size);
  }

  const absl::string_view text_;
  size_t pos_ = 0;
  std::string error_;
};

}  // namespace

std::string CheckJson(absl::string_view text) { return Checker(text).Check(); }

}  // namespace gotrace::internal
