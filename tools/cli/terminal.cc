#include "tools/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace gotrace::internal {

size_t TerminalWidth() {
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0) return 0;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t TableWidth() {
  const size_t terminal = TerminalWidth();
  return terminal > 0 ? terminal : 100;
}

}  // namespace gotrace::internal
