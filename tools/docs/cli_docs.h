// The files that are generated from the tables of commands and flags.
#ifndef GOTRACE_TOOLS_DOCS_CLI_DOCS_H_
#define GOTRACE_TOOLS_DOCS_CLI_DOCS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct CliDoc {
  std::string path;  // In the folder that has them all: "man/gotrace-dump.1".
  std::string content;
};

// Returns the manual pages and the scripts for completion.
//
// `changelog` is CHANGELOG.md, which has the day of the release. Fails if its latest release is not
// GOTRACE_VERSION.
absl::StatusOr<std::vector<CliDoc>> CliDocs(absl::string_view changelog);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_DOCS_CLI_DOCS_H_
