// Reads the command line of gotrace-dump: which command, its flags, its files; or a wish for help.
#ifndef GOTRACE_TOOLS_COMMAND_LINE_H_
#define GOTRACE_TOOLS_COMMAND_LINE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/registry.h"

namespace gotrace::internal {

struct CommandLine {
  Command* command = nullptr;      // One of the commands that ParseCommandLine() was given.
  std::vector<std::string> files;  // "-" for the standard input.
  // The flags that were given, and their values.
  std::vector<std::pair<std::string, std::string>> flags;
  std::string help;  // What to print instead of running the command, or "".
  // After an error: the command whose help explains what is right, or nullptr for that of the
  // program.
  Command* explained_by = nullptr;
};

// Reads the arguments, without the program's name, into `*line`, and sets the flags of the command.
// An error says what is wrong with the arguments.
absl::Status ParseCommandLine(absl::Span<char* const> args, const CommandList& commands,
                              CommandLine* line);

// A flag or a variable, and what help says about it.
struct HelpItem {
  absl::string_view name;
  absl::string_view help;
};

// The flags that every command has.
absl::Span<const HelpItem> CommonFlags();

// The variables of the environment that change what the program does.
absl::Span<const HelpItem> EnvironmentVariables();

// The command line in short.
inline constexpr absl::string_view kProgramUsage = "gotrace-dump [COMMAND] [FLAGS] FILE...";

// Returns the paragraphs of help about all commands.
std::string ProgramDescription(const CommandList& commands);

// Returns the example of the command that help for the program has, without a line break.
absl::string_view FirstExample(const Command& command);

// Returns the text that `gotrace-dump --help` prints.
std::string ProgramHelp(const CommandList& commands);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMAND_LINE_H_
