// What people type who know other tools, or other commands of this one, and what to type instead.
#ifndef GOTRACE_TOOLS_CLI_INSTEAD_H_
#define GOTRACE_TOOLS_CLI_INSTEAD_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gotrace::internal {

struct Instead {
  absl::string_view command;  // The command to which a flag is given; "" for any command.
  absl::string_view typed;    // A flag, perhaps with a value: "focus", "type=cpu". Or a command.
  absl::string_view advice;   // Continues a sentence, after a semicolon.
};

// Return the rows about flags, and about commands. Static lifetime.
absl::Span<const Instead> InsteadOfFlags();
absl::Span<const Instead> InsteadOfCommands();

// Return the advice for a flag that the command does not have, for a value that its flag does not
// have, and for a command that there is not; "" if there is none.
absl::string_view AdviceOnFlag(absl::string_view command, absl::string_view name);
absl::string_view AdviceOnValue(absl::string_view command, absl::string_view name,
                                absl::string_view value);
absl::string_view AdviceOnCommand(absl::string_view name);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_INSTEAD_H_
