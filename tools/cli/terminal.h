// The terminal to which output goes.
#ifndef GOTRACE_TOOLS_CLI_TERMINAL_H_
#define GOTRACE_TOOLS_CLI_TERMINAL_H_

#include <cstddef>

namespace gotrace::internal {

// Returns the number of columns of the terminal that is the standard output; 0 if it is none.
size_t TerminalWidth();

// Returns the width of tables: that of the terminal, or 100 if the standard output is none.
size_t TableWidth();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_TERMINAL_H_
