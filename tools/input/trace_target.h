// The output of a command that converts one file to another: the file of -o, or the standard
// output.
#ifndef GOTRACE_TOOLS_INPUT_TRACE_TARGET_H_
#define GOTRACE_TOOLS_INPUT_TRACE_TARGET_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gotrace/trace_writer.h"
#include "tools/cli/output.h"

namespace gotrace::internal {

// Reads a trace that was written. Returns an internal error if it cannot be read.
absl::Status ReadTraceAgain(const std::string& path);

// Returns the part of a command's report about events that the writer had to add or to drop, since
// they contradict others; "" if there are none: "; dropped 3 that contradict the ones before".
std::string ShowContradictions(const WrittenTrace& written);

class TraceTarget {
 public:
  // `path` is the value of -o, or "" if it was not given.
  TraceTarget(std::string path, Output* standard_output)
      : path_(std::move(path)), standard_output_(*standard_output) {}

  // Returns an error if the target is the file `input` itself, or if it is a terminal and
  // `is_binary`.
  absl::Status Check(const std::string& input, bool is_binary = true) const;

  // Calls `write` with the output. A file gets its name, or replaces the previous one, once `write`
  // has succeeded.
  absl::Status Write(absl::FunctionRef<absl::Status(Output*)> write) const;

  // Like Write(), for a trace. A file is read again before it gets its name, and the fault if it
  // cannot be read is an internal error.
  absl::Status WriteTrace(absl::FunctionRef<absl::Status(Output*)> write) const;

  // Returns "to the standard output", or the name of the file.
  std::string Shown() const;

  bool is_standard_output() const { return path_.empty() || path_ == "-"; }

 private:
  absl::Status Write(absl::FunctionRef<absl::Status(Output*)> write,
                     absl::FunctionRef<absl::Status(const std::string& path)> check) const;

  const std::string path_;
  Output& standard_output_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_TRACE_TARGET_H_
