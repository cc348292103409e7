#include "tools/serve/page_server.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

absl::string_view MediaTypeOf(absl::string_view name) {
  if (absl::EndsWith(name, ".js")) return "text/javascript; charset=utf-8";
  if (absl::EndsWith(name, ".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

}  // namespace

HttpAnswer PageServer::AnswerAllowed(absl::string_view path, absl::string_view query) const {
  if (absl::ConsumePrefix(&path, kApi)) {
    ViewAnswer answer = answer_(absl::StrCat(path, query.empty() ? "" : "?", query));
    return {answer.status, std::move(answer.media_type), std::move(answer.body)};
  }
  absl::ConsumePrefix(&path, "/");
  const absl::string_view name = path.empty() ? kFirstPage : path;
  for (const PageFile& file : files_) {
    if (file.name != name) continue;
    std::string bytes(file.bytes);
    if (name == kFirstPage) {
      // The browser asks for the other files, and they need the token, too.
      for (const PageFile& other : files_) {
        bytes =
            absl::StrReplaceAll(bytes, {{absl::StrCat("\"", other.name, "\""),
                                         absl::StrCat("\"", other.name, "?token=", token_, "\"")}});
      }
    }
    return {200, std::string(MediaTypeOf(name)), std::move(bytes)};
  }
  return {404, "text/plain; charset=utf-8", "There is nothing here.\n"};
}

HttpAnswer PageServer::Answer(const HttpRequest& request) const {
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
  HttpAnswer answer;
  if (host == nullptr || !IsOwnHost(*host)) {
    answer = {403, "text/plain; charset=utf-8", "This server is for this machine only.\n"};
  } else if (!AreEqualSecrets(token, token_)) {
    answer = {403, "text/plain; charset=utf-8",
              "The token is missing or wrong: open the URL that `gotrace-dump serve` printed.\n"};
  } else {
    answer = AnswerAllowed(request.Path(), query);
  }
  answer.headers = {{"Content-Security-Policy", std::string(kPolicy)},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Resource-Policy", "same-origin"},
                    {"Cache-Control", "no-store"}};
  return answer;
}

}  // namespace gotrace::internal
