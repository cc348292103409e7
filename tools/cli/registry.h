// The commands of gotrace-dump.
#ifndef GOTRACE_TOOLS_CLI_REGISTRY_H_
#define GOTRACE_TOOLS_CLI_REGISTRY_H_

#include <memory>
#include <vector>

#include "tools/cli/command.h"

namespace gotrace::internal {

using CommandList = std::vector<std::unique_ptr<Command>>;

// Returns all commands, in the order in which help lists them. The first one is the default.
CommandList MakeCommands();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_REGISTRY_H_
