// Prints a row of testdata/traces/chrome_views.tsv:
//
//   chrome_digest TRACE QUERY < JSON
//
// where the standard input is what `go tool trace` returns for /jsontrace?QUERY. With --lines
// instead of TRACE, prints what the digest is of.
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "testdata/test_data.h"
#include "testing/chrome_view.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: chrome_digest TRACE|--lines QUERY < JSON\n";
    return 2;
  }
  const std::string json(std::istreambuf_iterator<char>(std::cin), {});
  const absl::StatusOr<std::vector<std::string>> events =
      gotrace::internal::ComparableChromeEvents(json, argv[2]);
  if (!events.ok()) {
    std::cerr << argv[1] << ' ' << argv[2] << ": " << events.status() << '\n';
    return 1;
  }
  const std::string text = absl::StrJoin(*events, "\n");
  if (std::string(argv[1]) == "--lines") {
    std::cout << text << '\n';
  } else {
    std::cout << argv[1] << '\t' << argv[2] << '\t' << events->size() << '\t'
              << gotrace::internal::Sha256Hex(text) << '\n';
  }
}
