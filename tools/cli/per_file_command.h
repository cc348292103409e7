// The base class of commands that do the same with each of several files.
#ifndef GOTRACE_TOOLS_CLI_PER_FILE_COMMAND_H_
#define GOTRACE_TOOLS_CLI_PER_FILE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/reader_limits.h"
#include "gotrace/reader_options.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/output.h"
#include "tools/cli/report.h"
#include "tools/cli/shared_flags.h"

namespace gotrace::internal {

// The output of a command for one file.
class FileOutput {
 public:
  // `has_heading` says whether a heading precedes the output of each file, and `*is_first` whether
  // no heading was written yet. The arguments must outlive this object.
  FileOutput(const ListedFile& file, bool has_heading, bool* is_first, Output* out)
      : file_(file), several_(has_heading), is_first_(*is_first), out_(*out) {}

  // Returns the path of the file; "-" is the standard input.
  const std::string& file() const { return file_.path; }

  // Returns its name in the output: the name of the file, and the number of the trace if all traces
  // are read.
  std::string name() const { return NameOf(file_.label()); }

  // Returns whether there are outputs for several files.
  bool several() const { return several_; }

  // Writes the heading of the file if it is one of several. Does nothing when called again, so it
  // can be called before each piece of output. For text only.
  void BeginText();

  Output& out() { return out_; }
  TextBuffer& buffer() { return out_.buffer(); }

 private:
  const ListedFile file_;
  const bool several_;
  bool has_begun_ = false;
  bool& is_first_;
  Output& out_;
};

// Calls RunFile() for each of several files, including those in directories.
class PerFileCommand : public Command {
 public:
  // Returns the highest of the exit codes.
  int Run(const std::vector<std::string>& files, Output* out) override;

 protected:
  // Reads one file, prints its output, and returns the result. Notes that are not errors go to the
  // standard error directly.
  virtual FileResult RunFile(FileOutput* output) = 0;

  // Returns the flags that select the part of a file to read. With --trace=all, their `trace` is
  // set for each trace.
  virtual InputFlags& input() = 0;
};

// Returns whether a file was found in a directory and is not a trace, or is one of the v1 format.
// If so, prints a note on the standard error.
bool IsSkipped(const ListedFile& file, const ReaderLimits& limits);

// Appends the line of JSON for a file with this name that could not be read.
void AppendUnreadJson(absl::string_view name, const absl::Status& status, const Losses& losses,
                      TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_PER_FILE_COMMAND_H_
