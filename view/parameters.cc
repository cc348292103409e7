#include "view/parameters.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gotrace::internal {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Decodes the encoding of URLs.
std::string Decode(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded.push_back(' ');
    } else if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
               HexDigit(text[i + 2]) >= 0) {
      decoded.push_back(static_cast<char>(16 * HexDigit(text[i + 1]) + HexDigit(text[i + 2])));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace

ViewRequest::ViewRequest(absl::string_view text) {
  const size_t question = text.find('?');
  path_ = Decode(text.substr(0, question));
  if (question == absl::string_view::npos) return;
  for (const absl::string_view piece :
       absl::StrSplit(text.substr(question + 1), '&', absl::SkipEmpty())) {
    const size_t equals = piece.find('=');
    parameters_.emplace_back(
        Decode(piece.substr(0, equals)),
        equals == absl::string_view::npos ? std::string() : Decode(piece.substr(equals + 1)));
  }
}

absl::Status ViewRequest::CheckNames(absl::Span<const absl::string_view> names) const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const std::string& name = parameters_[i].first;
    bool is_known = false;
    for (const absl::string_view known : names) is_known |= name == known;
    if (!is_known) return absl::InvalidArgumentError(absl::StrCat("unknown parameter ", name));
    if (Find(name) != &parameters_[i].second) {
      return absl::InvalidArgumentError(absl::StrCat("parameter ", name, " is given twice"));
    }
  }
  return absl::OkStatus();
}

const std::string* ViewRequest::Find(absl::string_view name) const {
  for (const auto& [known, value] : parameters_) {
    if (known == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<int64_t> ViewRequest::Number(absl::string_view name, int64_t min, int64_t max,
                                            int64_t otherwise) const {
  const std::string* const text = Find(name);
  if (text == nullptr) return otherwise;
  int64_t number = 0;
  if (!absl::SimpleAtoi(*text, &number) || number < min || number > max) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must be a number from ", min, " to ", max));
  }
  return number;
}

}  // namespace gotrace::internal
