// Reports errors of commands on the standard error.
#ifndef GOTRACE_TOOLS_CLI_REPORT_H_
#define GOTRACE_TOOLS_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/command.h"
#include "tools/cli/output.h"

namespace gotrace::internal {

// The result of a command for one file.
struct FileResult {
  absl::Status status;       // The error of reading, or of writing a file.
  uint64_t events = 0;       // How many were read.
  uint64_t bytes = 0;        // How many bytes of the file were read, if that is known.
  std::string hint = {};     // What to do about the error; "" for the default hint for it.
  bool can_salvage = false;  // Whether --salvage is possible and was not given.
  bool is_trace = true;      // Whether the input should be a trace, which `validate` can check.
  std::vector<std::string> salvage_report = {};  // SalvageReport(), with --salvage.
  std::string above_limit = {};  // What exceeds a limit that the user gave, so that a check fails.
};

// Prints the error in `result` and what to do about it. Returns the exit code.
int ReportError(const std::string& file, const FileResult& result);

// Writes out the rest of the output, and prints the reports and the error in `result`. Returns the
// exit code.
int Conclude(const std::string& file, const FileResult& result, Output* out);

// Prints that none of `files` is a trace. Returns the exit code.
int ReportNoTrace(const std::vector<std::string>& files);

// Prints `line` with the program's and the file's name before it.
void Note(const std::string& file, absl::string_view line);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_REPORT_H_
