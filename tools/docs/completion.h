// Scripts that complete command lines of gotrace-dump in shells, generated from the tables of
// commands and flags. Each consists of a fixed program in the shell's language, and tables.
#ifndef GOTRACE_TOOLS_DOCS_COMPLETION_H_
#define GOTRACE_TOOLS_DOCS_COMPLETION_H_

#include <string>

namespace gotrace::internal {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_DOCS_COMPLETION_H_
