// Parses the command line of gotrace-dump: the command, its flags and its files, or a request for
// help.
#ifndef GOTRACE_TOOLS_CLI_COMMAND_LINE_H_
#define GOTRACE_TOOLS_CLI_COMMAND_LINE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {

struct CommandLine {
  Command* command = nullptr;      // One of the commands that ParseCommandLine() was given.
  std::vector<std::string> files;  // "-" for the standard input.
  // The flags that were given, and their values.
  std::vector<std::pair<std::string, std::string>> flags;
  std::string help;  // What to print instead of running the command, or "".
  // After an error: the command whose help explains the correct usage, or nullptr for the help of
  // the program.
  Command* explained_by = nullptr;
};

// Reads the arguments, without the program's name, into `*line`, and sets the flags of the command.
// `is_terminal` says whether the output goes to a terminal, where files alone mean `summary`.
// Returns an error that says what is wrong with the arguments.
absl::Status ParseCommandLine(absl::Span<char* const> args, const CommandList& commands,
                              bool is_terminal, CommandLine* line);

// A flag or a variable, and its help.
struct HelpItem {
  absl::string_view name;
  absl::string_view help;
};

// Returns the flags that every command has.
absl::Span<const HelpItem> CommonFlags();

// Returns the environment variables that affect the program.
absl::Span<const HelpItem> EnvironmentVariables();

// The short form of the command line.
inline constexpr absl::string_view kProgramUsage = "gotrace-dump [COMMAND] [FLAGS] FILE...";

// Returns the paragraphs of help about all commands.
std::string ProgramDescription(const CommandList& commands);

// Returns the example of the command for the program's help, without a line break.
absl::string_view FirstExample(const Command& command);

// Returns the text that `gotrace-dump --help` prints.
std::string ProgramHelp(const CommandList& commands);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_COMMAND_LINE_H_
