// Scripts that complete command lines of gotrace-dump in shells, from the tables of commands and
// flags. Each is a program of the shell, which is the same for all commands, and tables.
#ifndef GOTRACE_TOOLS_COMPLETION_H_
#define GOTRACE_TOOLS_COMPLETION_H_

#include <string>

namespace gotrace::internal {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMPLETION_H_
