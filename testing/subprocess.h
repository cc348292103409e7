// Runs a program in the way a user does. For tests.
#ifndef GOTRACE_TESTING_SUBPROCESS_H_
#define GOTRACE_TESTING_SUBPROCESS_H_

#include <sys/resource.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

struct SubprocessOptions {
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();

  std::string input = {};        // The content of the standard input.
  size_t piece_size = kAll;      // The number of bytes of it to write at once.
  size_t read_at_most = kAll;    // After this many bytes, closes the pipe of the standard output.
  std::string output_path = {};  // If not "", the file that the standard output goes to.
  bool non_blocking = false;     // Whether the pipe of the standard output is non-blocking.
  // Called once after the first output, possibly while the program waits for more to be read.
  std::function<void()> on_output = {};
  rlim_t file_size = RLIM_INFINITY;      // The maximum size of a file that the program can write.
  rlim_t address_space = RLIM_INFINITY;  // The maximum memory of the program.
  // Variables to add to the environment.
  std::vector<std::pair<std::string, std::string>> environment = {};
  bool one_pipe = false;     // Whether the standard error goes to the standard output.
  bool is_terminal = false;  // Whether the standard output is a terminal, of 100 columns.
};

struct SubprocessResult {
  int exit_code = -1;  // If a signal ended it, minus its number.
  std::string out;
  std::string err;
};

// Runs the program at `args[0]` to its end, with TZ=UTC.
SubprocessResult RunSubprocess(const std::vector<std::string>& args,
                               const SubprocessOptions& options);

// Runs gotrace-dump, which must be in the test's data.
SubprocessResult RunDump(std::vector<std::string> args, const SubprocessOptions& options = {});

// The same, and expects it to succeed with nothing on the standard error. Returns its output.
std::string DumpOutput(const std::vector<std::string>& args, const SubprocessOptions& options = {});

// Expects this result of a run.
void ExpectFailure(const SubprocessResult& result, int exit_code, const std::string& out,
                   const std::string& err);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SUBPROCESS_H_
