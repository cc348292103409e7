// What commands share that do the same with each of several files.
#ifndef GOTRACE_TOOLS_PER_FILE_COMMAND_H_
#define GOTRACE_TOOLS_PER_FILE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/read_mode.h"
#include "gotrace/reader_limits.h"
#include "tools/command.h"
#include "tools/file_list.h"
#include "tools/output.h"
#include "tools/report.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {

// Where a command writes its output for one file.
class FileOutput {
 public:
  // `has_heading` says whether a heading precedes the output of each file, and `*is_first` whether
  // none was written yet. The references must outlive this object.
  FileOutput(const ListedFile& file, bool has_heading, bool* is_first, Output* out)
      : file_(file), several_(has_heading), is_first_(*is_first), out_(*out) {}

  // The path of the file; "-" is the standard input.
  const std::string& file() const { return file_.path; }

  // What the output calls it: its name, and which of its traces if all of them are read.
  std::string name() const { return NameOf(file_.label()); }

  // Whether the output of this file is one of several.
  bool several() const { return several_; }

  // Writes the heading of the file, if it is one of several: once, so that this can be called
  // before each piece of output. For text only.
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

// Takes several files and directories, and runs RunFile() for each of them.
class PerFileCommand : public Command {
 public:
  // Returns the highest of the exit codes.
  int Run(const std::vector<std::string>& files, Output* out) override;

 protected:
  // Reads one file, prints its output, and returns the result. Notes that are not errors go to the
  // standard error directly.
  virtual FileResult RunFile(FileOutput* output) = 0;

  // The flags that say what to read of a file. With --trace=all, the trace is set for each.
  virtual InputFlags& input() = 0;
};

// Whether a file that was found in a directory is not a trace, or one of the v1 format. Then it
// says so on the standard error.
bool IsSkipped(const ListedFile& file, const ReaderLimits& limits);

// Appends the line of JSON for a file with this name that could not be read.
void AppendUnreadJson(absl::string_view name, const absl::Status& status, const Losses& losses,
                      TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_PER_FILE_COMMAND_H_
