// The command line of gotrace-dump: its commands, their flags, its help.
#ifndef GOTRACE_TOOLS_COMMAND_LINE_H_
#define GOTRACE_TOOLS_COMMAND_LINE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

ABSL_DECLARE_FLAG(std::string, format);
ABSL_DECLARE_FLAG(bool, stacks);
ABSL_DECLARE_FLAG(bool, wall);
ABSL_DECLARE_FLAG(std::string, kind);
ABSL_DECLARE_FLAG(std::string, g);
ABSL_DECLARE_FLAG(std::string, p);
ABSL_DECLARE_FLAG(std::string, m);
ABSL_DECLARE_FLAG(std::string, from);
ABSL_DECLARE_FLAG(std::string, to);
ABSL_DECLARE_FLAG(int64_t, limit);
ABSL_DECLARE_FLAG(bool, header);
ABSL_DECLARE_FLAG(bool, json);
ABSL_DECLARE_FLAG(std::string, strictness);
ABSL_DECLARE_FLAG(int64_t, max_per_check);
ABSL_DECLARE_FLAG(int32_t, jobs);
ABSL_DECLARE_FLAG(bool, padded);
ABSL_DECLARE_FLAG(bool, salvage);
ABSL_DECLARE_FLAG(int64_t, trace);
ABSL_DECLARE_FLAG(std::string, limits);
ABSL_DECLARE_FLAG(bool, check);
ABSL_DECLARE_FLAG(std::string, o);

namespace gotrace::internal {

// The value of --trace where it is not given.
inline constexpr int64_t kAnyTrace = std::numeric_limits<int64_t>::min();

enum class Command : uint8_t { kEvents, kWire, kAssemble, kFootprint, kInfo, kValidate, kRepair };

struct CommandLine {
  Command command = Command::kEvents;
  std::string file;                // "-" for the standard input.
  std::vector<std::string> files;  // All of them; `file` is the first.
  std::string help;                // What to print instead of doing anything, or "".
};

// Reads the arguments, without the program's name, and sets the flags. An error says what is wrong
// with them.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<char* const> args);

// As it is typed: "events".
absl::string_view CommandName(Command command);

// The command that the arguments begin with, if it is one.
std::optional<Command> NamedCommand(absl::Span<char* const> args);

// The help for `command`, or for the program as a whole.
std::string CommandHelp(Command command);
std::string ProgramHelp();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMAND_LINE_H_
