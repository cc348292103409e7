// The head of an HTTP request, as far as the viewer needs it.
#ifndef GOTRACE_TOOLS_SERVE_HTTP_REQUEST_H_
#define GOTRACE_TOOLS_SERVE_HTTP_REQUEST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct HttpRequest {
  std::string method;  // "GET".
  std::string target;  // "/api/trace?token=...".
  bool is_http11 = false;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.

  // Returns the value of a header, or nullptr unless it is there exactly once. Valid as long as
  // this object.
  const std::string* Header(absl::string_view name) const;

  // Returns the path of the target, and what comes after its "?".
  absl::string_view Path() const;
  absl::string_view Query() const;

  // Returns whether the connection stays open after the answer.
  bool KeepsConnection() const;

  // Returns whether a body follows the head.
  bool HasBody() const;
};

// The size of the largest head that is read, in bytes.
inline constexpr size_t kMaxHttpHead = 16384;

// Returns the size of the head with which `bytes` begin, including the empty line at its end, or 0
// if the end is not there.
size_t FindHttpHead(absl::string_view bytes);

// Reads a head. Returns nullopt if it is not one, or one that nobody but an attacker sends: with
// control characters, or with lines that continue others.
std::optional<HttpRequest> ParseHttpRequest(absl::string_view head);

// Returns whether `host` is this machine: localhost, 127.0.0.1 or [::1], with any port or none.
bool IsOwnHost(absl::string_view host);

// Compares secrets in a time that does not depend on where they differ.
bool AreEqualSecrets(absl::string_view a, absl::string_view b);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_HTTP_REQUEST_H_
