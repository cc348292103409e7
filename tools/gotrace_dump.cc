// gotrace-dump: reads Go execution traces on the command line. The commands are in registry.cc.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "tools/cli/command.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/terminal.h"

namespace gotrace::internal {
namespace {

void TraceCommand(Trace2* trace, const CommandLine& line) {
  if (trace == nullptr) return;
  if (!line.help.empty()) return trace->WriteCommandName("help");
  trace->WriteCommandName(line.command->text().name);
  if (const absl::string_view mode = line.command->mode(); !mode.empty()) {
    trace->WriteCommandMode(mode);
  }
  for (const auto& [name, value] : line.flags) trace->WriteParameter(name, value);
}

// Writes that the arguments are wrong, as git does: "_usage_" takes the place of a command, or
// comes after the one that was given.
void TraceWrongUsage(Trace2* trace, const CommandLine& line, absl::string_view message) {
  if (trace == nullptr) return;
  if (line.explained_by != nullptr) trace->WriteCommandName(line.explained_by->text().name);
  trace->WriteCommandName("_usage_");
  trace->WriteError(message, "wrong usage");
}

int Run(absl::Span<char* const> args) {
  const CommandList commands = MakeCommands();
  CommandLine line;
  const bool is_terminal = TerminalWidth() > 0;
  if (absl::Status status = ParseCommandLine(args, commands, is_terminal, &line); !status.ok()) {
    TraceWrongUsage(SelfTrace(), line, status.message());
    absl::FPrintF(
        stderr, "gotrace-dump: %s\nTry: gotrace-dump %s--help\n", status.message(),
        line.explained_by == nullptr ? "" : absl::StrCat(line.explained_by->text().name, " "));
    return kUsageOrIo;
  }
  TraceCommand(SelfTrace(), line);
  Output out(STDOUT_FILENO, "the standard output");
  if (!line.help.empty()) {
    out.buffer().Append(line.help);
    return Conclude("", {}, &out);
  }
  return line.command->Run(line.files, &out);
}

int Main(absl::Span<char* const> args) {
  // A closed pipe, and a file that must not grow, are noticed when something is written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(EndForLackOfMemory);
  const SelfTraceSession session(args);
  const int code = Run(args.subspan(std::min<size_t>(args.size(), 1)));
  if (SelfTrace() != nullptr) SelfTrace()->WriteExit(code);
  return code;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) { return gotrace::internal::Main(absl::MakeConstSpan(argv, argc)); }
