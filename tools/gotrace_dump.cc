// gotrace-dump: reads Go execution traces on the command line. The commands are in registry.cc.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/output.h"
#include "tools/registry.h"
#include "tools/report.h"

namespace gotrace::internal {
namespace {

int Main(absl::Span<char* const> args) {
  // A closed pipe, and a file that must not grow, are noticed when something is written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(EndForLackOfMemory);
  const CommandList commands = MakeCommands();
  CommandLine line;
  if (absl::Status status = ParseCommandLine(args, commands, &line); !status.ok()) {
    absl::FPrintF(
        stderr, "gotrace-dump: %s\nTry: gotrace-dump %s--help\n", status.message(),
        line.explained_by == nullptr ? "" : absl::StrCat(line.explained_by->text().name, " "));
    return kUsageOrIo;
  }
  Output out(STDOUT_FILENO, "the standard output");
  if (!line.help.empty()) {
    out.buffer().Append(line.help);
    return Conclude("", {}, &out);
  }
  return line.command->Run(line.files, &out);
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  return gotrace::internal::Main(absl::MakeConstSpan(argv + 1, argc > 0 ? argc - 1 : 0));
}
