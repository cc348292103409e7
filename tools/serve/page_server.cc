#include "tools/serve/page_server.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kApi = "/api/";
constexpr absl::string_view kFirstPage = "index.html";

// The page has files of its own and nothing else.
constexpr absl::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::pair<absl::string_view, absl::string_view> kHeaders[] = {
    {"Content-Security-Policy", kPolicy},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

// Returns a header's value that has the browser save an answer. The name can have any bytes.
std::string AttachmentNamed(absl::string_view name) {
  std::string value = "attachment; filename*=UTF-8''";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '.' || c == '-' || c == '_') {
      value.push_back(c);
    } else {
      absl::StrAppendFormat(&value, "%%%02X", byte);
    }
  }
  return value;
}

absl::string_view MediaTypeOf(absl::string_view name) {
  if (absl::EndsWith(name, ".js")) return "text/javascript; charset=utf-8";
  if (absl::EndsWith(name, ".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

}  // namespace

HttpAnswer PageServer::FileAt(absl::string_view path) const {
  absl::ConsumePrefix(&path, "/");
  const absl::string_view name = path.empty() ? kFirstPage : path;
  for (const PageFile& file : files_) {
    if (file.name == name) return {200, std::string(MediaTypeOf(name)), std::string(file.bytes)};
  }
  return {404, "text/plain; charset=utf-8", "There is nothing here.\n"};
}

HttpAnswer PageServer::Answer(const HttpRequest& request,
                              const std::function<bool()>& keep_going) const {
  const std::string* const host = request.Header("host");
  // The token may be in the query or in a header. The other parameters are the request's own.
  absl::string_view token;
  std::string query;
  for (const absl::string_view piece : absl::StrSplit(request.Query(), '&', absl::SkipEmpty())) {
    absl::string_view value = piece;
    if (absl::ConsumePrefix(&value, "token=")) {
      token = value;
    } else {
      absl::StrAppend(&query, query.empty() ? "" : "&", piece);
    }
  }
  if (const std::string* const header = request.Header("x-gotrace-token")) token = *header;
  absl::string_view path = request.Path();
  HttpAnswer answer;
  if (host == nullptr || !IsOwnHost(*host)) {
    answer = {403, "text/plain; charset=utf-8", "This server is for this machine only.\n"};
  } else if (!absl::ConsumePrefix(&path, kApi)) {
    // The browser asks for these without the token, and nothing of the trace is in them.
    answer = FileAt(path);
  } else if (!AreEqualSecrets(token, token_)) {
    answer = {403, "text/plain; charset=utf-8",
              "The token is missing or wrong: open the URL that `gotrace-dump serve` printed.\n"};
  } else {
    ViewAnswer found = answer_(absl::StrCat(path, query.empty() ? "" : "?", query), keep_going);
    answer = {found.status, std::move(found.media_type), std::move(found.body)};
    if (!found.file_name.empty()) {
      answer.headers.emplace_back("Content-Disposition", AttachmentNamed(found.file_name));
    }
  }
  for (const auto& [name, value] : kHeaders) answer.headers.emplace_back(name, value);
  return answer;
}

}  // namespace gotrace::internal
