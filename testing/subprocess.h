// Runs a program as its users do. For tests.
#ifndef GOTRACE_TESTING_SUBPROCESS_H_
#define GOTRACE_TESTING_SUBPROCESS_H_

#include <sys/resource.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct SubprocessOptions {
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();

  std::string input = {};        // What the standard input gives.
  size_t piece_size = kAll;      // How many bytes of it are written at once.
  size_t read_at_most = kAll;    // After so many bytes the standard output's reader goes away.
  std::string output_path = {};  // Where the standard output goes instead of a pipe, if not "".
  bool non_blocking = false;     // Whether the pipe of the standard output is.
  // Called once something has come out, which may be while the program waits for more to be read.
  std::function<void()> on_output = {};
  rlim_t file_size = RLIM_INFINITY;      // How large a file the program can write.
  rlim_t address_space = RLIM_INFINITY;  // How much memory it can have.
  bool one_pipe = false;  // Whether the standard error goes where the standard output goes.
};

struct SubprocessResult {
  int exit_code = -1;  // Or minus the signal that ended it.
  std::string out;
  std::string err;
};

// Runs the program at `args[0]` to its end, with TZ=UTC.
SubprocessResult RunSubprocess(const std::vector<std::string>& args,
                               const SubprocessOptions& options);

// Runs gotrace-dump, which the test must have among its data.
SubprocessResult RunDump(std::vector<std::string> args, const SubprocessOptions& options = {});

// The same, and expects it to succeed without a word on the standard error. Returns what it prints.
std::string DumpOutput(const std::vector<std::string>& args, const SubprocessOptions& options = {});

// Expects a run to have come to this.
void ExpectFailure(const SubprocessResult& result, int exit_code, const std::string& out,
                   const std::string& err);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SUBPROCESS_H_
