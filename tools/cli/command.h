// The interface of the commands of gotrace-dump. Each command is one class in a file of its own,
// and one row in registry.cc.
#ifndef GOTRACE_TOOLS_CLI_COMMAND_H_
#define GOTRACE_TOOLS_CLI_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/flags.h"
#include "tools/cli/output.h"

namespace gotrace::internal {

enum ExitCode { kSuccess = 0, kBroken = 1, kUsageOrIo = 2, kAboveLimit = 3 };

// The exit codes of most commands, for CommandText::exit_codes.
inline constexpr absl::string_view kUsualExitCodes =
    "  0  the input was read to its end, or as far as was asked for\n"
    "  1  the trace is broken; the output has everything before the fault\n"
    "  2  wrong usage, or a file cannot be read or written, which includes a pipe that was "
    "closed, as by `head`";

// The help of a command. Lines are wrapped when they are printed.
struct CommandText {
  absl::string_view name;     // As it is typed: "events".
  absl::string_view summary;  // A few words for the list of commands.
  absl::string_view description;
  absl::string_view examples;  // Lines, which are not wrapped.
  absl::string_view exit_codes = kUsualExitCodes;
  bool takes_several_files = false;  // And directories.
  bool compares_files = false;       // One or more, if it does not take several.
};

class Command {
 public:
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  virtual const CommandText& text() const = 0;

  // Returns the rows of the flags, in the order in which help lists them. They set members of this
  // object.
  virtual std::vector<Flag> Flags() = 0;

  // Checks the flags against each other. Called after all flags were set.
  virtual absl::Status Check() const { return absl::OkStatus(); }

  // Returns the mode of the command, for the trace of the run; "" if there is only one. Called
  // after all flags were set.
  virtual absl::string_view mode() const { return ""; }

  // Returns whether the flags determine the input, so that no file need be given. Called after all
  // flags were set.
  virtual bool NeedsNoFiles() const { return false; }

  // Does the work, and returns the exit code. There is at least one file unless NeedsNoFiles(), and
  // no more than text() allows. "-" stands for the standard input.
  virtual int Run(const std::vector<std::string>& files, Output* out) = 0;

  // Returns the short form of the command line: "gotrace-dump wire [FLAGS] FILE...".
  std::string Usage();

  // Returns the paragraphs of help between the usage and the flags.
  std::string Description() const;

  // Returns the text that `gotrace-dump help COMMAND` prints.
  std::string Help();

 protected:
  Command() = default;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_COMMAND_H_
