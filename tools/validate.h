// Judges files: the command `validate` of gotrace-dump.
#ifndef GOTRACE_TOOLS_VALIDATE_H_
#define GOTRACE_TOOLS_VALIDATE_H_

#include <string>
#include <vector>

#include "gotrace/validate.h"
#include "tools/open_trace.h"
#include "tools/output.h"

namespace gotrace::internal {

struct ValidateCommand {
  std::vector<std::string> paths;  // Files, directories, or "-" for the standard input.
  ValidateOptions options;
  bool json = false;
  TraceNumber trace = 0;  // Which trace of each file; 0 for the file as Go's reader sees it.
  // How many cores may be used: that many files are read at once, and if there are at most half as
  // many files, each on two cores.
  int jobs = 1;
};

// What all files together came to, those up to where the output was closed.
struct ValidateSummary {
  int sound = 0;
  int broken = 0;
  int unjudged = 0;  // They cannot be read.
  int skipped = 0;   // They are no traces, and stand in a directory that was given.

  int files() const { return sound + broken + unjudged + skipped; }
};

// Judges every file of `paths`, and in a directory every one below it, at whatever depth. Hidden
// files and directories, links to directories, and what is no file, as a pipe, are left out there,
// and what is no trace at all is skipped. Reports go to `out` in the order of the paths, those of a
// directory's files in that of their names. On a terminal it shows how far it has come.
ValidateSummary ValidateFiles(const ValidateCommand& command, Output* out);

// "412 files: 400 sound, 10 broken, 2 cannot be read", without what there is none of.
std::string FormatSummary(const ValidateSummary& summary);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_VALIDATE_H_
