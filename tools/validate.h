// Judges files: the command `validate` of gotrace-dump.
#ifndef GOTRACE_TOOLS_VALIDATE_H_
#define GOTRACE_TOOLS_VALIDATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/output.h"
#include "validator/report.h"

namespace gotrace {

struct ValidateCommand {
  std::vector<std::string> paths;  // Files, directories, or "-" for the standard input.
  ValidateOptions options;
  bool json = false;
  int jobs = 1;  // How many files are read at once.
};

// What all files together came to.
struct ValidateSummary {
  int sound = 0;
  int broken = 0;
  int unjudged = 0;  // They cannot be read.
};

// Judges every file, and in a directory each that stands directly in it and is not hidden. Reports
// go to `out` in the order of the paths, those of a directory's files in that of their names.
ValidateSummary ValidateFiles(const ValidateCommand& command, Output* out);

}  // namespace gotrace

#endif  // GOTRACE_TOOLS_VALIDATE_H_
