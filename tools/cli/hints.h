// Hints on how gotrace-dump can help with a fault or a finding. The library only says what is
// wrong.
#ifndef GOTRACE_TOOLS_CLI_HINTS_H_
#define GOTRACE_TOOLS_CLI_HINTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/check.h"

namespace gotrace::internal {

// Returns a clause, without a full stop, that names the command or flag that helps after a finding
// of `check`; "" if there is none. It may refer to the check's remedy.
std::string HintFor(CheckId check);

// Returns `message`, which ends with the check's remedy if that is shown, and HintFor(check).
std::string WithHint(absl::string_view message, CheckId check);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_HINTS_H_
