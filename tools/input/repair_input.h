// The input of the command `repair`, which is read several times.
#ifndef GOTRACE_TOOLS_INPUT_REPAIR_INPUT_H_
#define GOTRACE_TOOLS_INPUT_REPAIR_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/repair.h"
#include "parser/source/steady_input.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

// An input that can be read from its beginning any number of times. If it can be read only once,
// like a pipe, it is first copied to a temporary file, which is removed with this object.
class RepeatableInput {
 public:
  // `file` is a path, or "-" for the standard input. `progress` must outlive the sources that
  // Open() returns.
  static absl::StatusOr<RepeatableInput> Create(const std::string& file, const ReaderLimits& limits,
                                                Progress* progress);

  RepeatableInput(RepeatableInput&& other) noexcept;
  RepeatableInput& operator=(RepeatableInput&&) = delete;
  ~RepeatableInput();

  // Returns the input from its beginning. No source that an earlier call returned may be in use.
  // Each source has the same bytes as the first source that was read to its end, or fails with
  // kAborted.
  absl::StatusOr<std::unique_ptr<ByteSource>> Open() const;

  // Returns whether the input is compressed with zstd or gzip. No source that Open() returned may
  // be in use.
  bool IsCompressed() const;

 private:
  absl::StatusOr<std::unique_ptr<ByteStream>> OpenRaw() const;

  RepeatableInput(std::string file, int fd, const ReaderLimits& limits, Progress* progress)
      : file_(std::move(file)), fd_(fd), limits_(limits), progress_(progress) {}

  std::string file_;
  int fd_;  // The descriptor of the copy; -1 if the file itself is read.
  ReaderLimits limits_;
  Progress* progress_;
  SteadyInput steady_;
};

// The trace to repair.
struct ChosenTrace {
  OpenInput open;  // Opens only this trace, or the whole input if it holds no other.
  // If there are other traces: a line for each trace, with what happens to it.
  std::vector<std::string> report;
  TraceNumber number = 1;    // The number of the trace.
  uint64_t count = 1;        // How many traces the input holds.
  bool is_selected = false;  // Whether it was selected by its number.

  // Returns whether the input is broken because it holds other traces, which the user did not ask
  // to leave out.
  bool leaves_out_others() const { return count > 1 && !is_selected; }
};

// Chooses the `number`th trace of `input`, whose name is `file`. `input` must outlive the result.
// Fails if there are fewer traces, if the input cannot be read, or if it is known not to be a
// trace. Chooses all of an input in which no trace is found.
absl::StatusOr<ChosenTrace> ChooseTrace(const std::string& file, const RepeatableInput& input,
                                        const ReaderLimits& limits, TraceNumber number);

// Creates a file without a name in the directory of TMPDIR, or in /tmp. It is gone once its
// descriptor, which the caller closes, is closed.
absl::StatusOr<int> CreateTemporary();

// Copies the rest of `from` to `to`, and shows the progress.
absl::Status CopyStream(ByteStream* from, Output* to, Progress* progress);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_REPAIR_INPUT_H_
