// Where a command that makes one file of another writes it: the file of -o, or the standard output.
#ifndef GOTRACE_TOOLS_TRACE_TARGET_H_
#define GOTRACE_TOOLS_TRACE_TARGET_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/output.h"

namespace gotrace::internal {

class TraceTarget {
 public:
  // `path` is the value of -o, or "" if it was not given.
  TraceTarget(std::string path, Output* standard_output)
      : path_(std::move(path)), standard_output_(*standard_output) {}

  // Returns OK, or why what is made of the file `input` cannot be written there: because that is
  // the input, or `is_binary` and there is a terminal.
  absl::Status Check(const std::string& input, bool is_binary = true) const;

  // Calls `write` with the output to write to. A file gets its name, or replaces the one before,
  // once `write` has succeeded.
  absl::Status Write(absl::FunctionRef<absl::Status(Output*)> write) const;

  // "to the standard output", or the name of the file.
  std::string Shown() const;

  bool is_standard_output() const { return path_.empty() || path_ == "-"; }

 private:
  const std::string path_;
  Output& standard_output_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_TRACE_TARGET_H_
