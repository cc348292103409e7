#include "tools/docs/cli_docs.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gotrace/library_version.h"
#include "tools/cli/registry.h"
#include "tools/docs/completion.h"
#include "tools/docs/man_page.h"

namespace gotrace::internal {

absl::StatusOr<std::vector<CliDoc>> CliDocs(absl::string_view changelog) {
  // "## 0.3.0 - 2026-11-27"
  constexpr absl::string_view kRelease = "\n## ";
  changelog.remove_prefix(std::min(changelog.find(kRelease), changelog.size()));
  if (!absl::ConsumePrefix(&changelog, absl::StrCat(kRelease, GOTRACE_VERSION, " - "))) {
    return absl::FailedPreconditionError(
        absl::StrCat("the first release in CHANGELOG.md is not \"## " GOTRACE_VERSION
                     " - DATE\", which is the version in gotrace/library_version.h"));
  }
  const absl::string_view date = changelog.substr(0, changelog.find('\n'));
  const CommandList commands = MakeCommands();
  std::vector<CliDoc> docs = {
      {"completions/gotrace-dump.bash", BashCompletion()},
      {"completions/_gotrace-dump", ZshCompletion()},
      {"completions/gotrace-dump.fish", FishCompletion()},
      {"man/gotrace-dump.1", ProgramManPage(commands, date)},
  };
  for (const auto& command : commands) {
    docs.push_back({absl::StrCat("man/gotrace-dump-", command->text().name, ".1"),
                    CommandManPage(*command, date)});
  }
  return docs;
}

}  // namespace gotrace::internal
