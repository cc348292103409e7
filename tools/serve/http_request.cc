#include "tools/serve/http_request.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gotrace::internal {
namespace {

// Returns whether a character can be in the name of a method or of a header.
bool IsTokenChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("!#$%&'*+-.^_`|~", absl::string_view(&c, 1));
}

bool IsToken(absl::string_view text) { return !text.empty() && absl::c_all_of(text, IsTokenChar); }

// Returns whether a text has printable characters only, and bytes that are not ASCII.
bool IsPrintable(absl::string_view text) {
  return absl::c_all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

}  // namespace

const std::string* HttpRequest::Header(absl::string_view name) const {
  const std::string* found = nullptr;
  for (const auto& [known, value] : headers) {
    if (known != name) continue;
    if (found != nullptr) return nullptr;
    found = &value;
  }
  return found;
}

absl::string_view HttpRequest::Path() const {
  return absl::string_view(target).substr(0, target.find('?'));
}

absl::string_view HttpRequest::Query() const {
  const size_t question = target.find('?');
  return question == std::string::npos ? absl::string_view()
                                       : absl::string_view(target).substr(question + 1);
}

bool HttpRequest::KeepsConnection() const {
  const std::string* const connection = Header("connection");
  return is_http11 && (connection == nullptr || !absl::EqualsIgnoreCase(*connection, "close"));
}

bool HttpRequest::HasBody() const {
  for (const auto& [name, value] : headers) {
    if (name == "transfer-encoding" || (name == "content-length" && value != "0")) return true;
  }
  return false;
}

size_t FindHttpHead(absl::string_view bytes) {
  const size_t end = bytes.find("\r\n\r\n");
  return end == absl::string_view::npos ? 0 : end + 4;
}

std::optional<HttpRequest> ParseHttpRequest(absl::string_view head) {
  if (!absl::ConsumeSuffix(&head, "\r\n\r\n")) return std::nullopt;
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  const std::vector<absl::string_view> parts = absl::StrSplit(lines[0], ' ');
  if (parts.size() != 3 || !IsToken(parts[0])) return std::nullopt;
  if (!absl::StartsWith(parts[1], "/") || !IsPrintable(parts[1])) return std::nullopt;
  if (parts[2] != "HTTP/1.1" && parts[2] != "HTTP/1.0") return std::nullopt;
  HttpRequest request;
  request.method = std::string(parts[0]);
  request.target = std::string(parts[1]);
  request.is_http11 = parts[2] == "HTTP/1.1";
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == absl::string_view::npos) return std::nullopt;
    const absl::string_view name = lines[i].substr(0, colon);
    const absl::string_view value = absl::StripAsciiWhitespace(lines[i].substr(colon + 1));
    if (!IsToken(name) || !IsPrintable(lines[i])) return std::nullopt;
    request.headers.emplace_back(absl::AsciiStrToLower(name), std::string(value));
  }
  return request;
}

bool IsOwnHost(absl::string_view host) {
  // A port is a colon and digits at the end.
  size_t end = host.size();
  while (end > 0 && absl::ascii_isdigit(static_cast<unsigned char>(host[end - 1]))) --end;
  if (end > 0 && end < host.size() && host[end - 1] == ':') host = host.substr(0, end - 1);
  return absl::EqualsIgnoreCase(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

bool AreEqualSecrets(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace gotrace::internal
