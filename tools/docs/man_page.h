// Manual pages from the tables of commands and flags, in man(7).
#ifndef GOTRACE_TOOLS_DOCS_MAN_PAGE_H_
#define GOTRACE_TOOLS_DOCS_MAN_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {

// Returns the page gotrace-dump(1). `date` is the day of the release: "2026-11-26".
std::string ProgramManPage(const CommandList& commands, absl::string_view date);

// Returns the page gotrace-dump-COMMAND(1).
std::string CommandManPage(Command& command, absl::string_view date);

// Returns `text` escaped so that man shows it unchanged. If `is_literal`, ASCII hyphens stay ASCII,
// as in flags; otherwise they may become typographic ones.
std::string EscapeForMan(absl::string_view text, bool is_literal);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_DOCS_MAN_PAGE_H_
