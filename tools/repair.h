// Makes broken traces whole: the command `repair` of gotrace-dump.
#ifndef GOTRACE_TOOLS_REPAIR_H_
#define GOTRACE_TOOLS_REPAIR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/repair.h"
#include "tools/open_trace.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace gotrace::internal {

// An input that can be read from its beginning again and again. What can be read only once, as the
// standard input, is copied to a temporary file that goes away with this object.
class RepeatableInput {
 public:
  // `file` is a path, or "-" for the standard input. `progress` must outlive what Open() gives.
  static absl::StatusOr<RepeatableInput> Create(const std::string& file, const ReaderLimits& limits,
                                                Progress* progress);

  RepeatableInput(RepeatableInput&& other) noexcept;
  RepeatableInput& operator=(RepeatableInput&&) = delete;
  ~RepeatableInput();

  // The input from its beginning. No other source that this gave may be in use any more.
  absl::StatusOr<std::unique_ptr<ByteSource>> Open() const;

  // Whether zstd or gzip compressed it. No source that this gave may be in use any more.
  bool IsCompressed() const;

 private:
  absl::StatusOr<std::unique_ptr<ByteStream>> OpenRaw() const;

  RepeatableInput(std::string file, int fd, const ReaderLimits& limits, Progress* progress)
      : file_(std::move(file)), fd_(fd), limits_(limits), progress_(progress) {}

  std::string file_;
  int fd_;  // Of the copy; -1 if the file itself is read.
  ReaderLimits limits_;
  Progress* progress_;
};

// The trace of an input that is to be repaired.
struct ChosenTrace {
  OpenInput open;  // Gives that trace alone, or all of an input that holds no other.
  // Where there are others: all of them, and what becomes of each.
  std::vector<std::string> report;
  TraceNumber number = 1;    // Which trace it is.
  uint64_t count = 1;        // How many traces the input holds.
  bool is_selected = false;  // Whether it was asked for by its number.

  // Whether the input is broken because it holds others, which no one asked to leave out.
  bool leaves_out_others() const { return count > 1 && !is_selected; }
};

// Chooses the `number`th trace of `input`, which `file` names. `input` must outlive what this
// returns. Fails if there are not so many, or the input cannot be read. Of an input in which no
// trace is found, all is chosen.
absl::StatusOr<ChosenTrace> ChooseTrace(const std::string& file, const RepeatableInput& input,
                                        const ReaderLimits& limits, TraceNumber number);

// Writes the repaired trace to `out`. `open` must be that which the plan was made of.
absl::Status WriteRepaired(const RepairPlan& plan, const OpenInput& open, Output* out);

// What to print of the plan, which was made of `chosen`: what is done, and the result. `target` is
// what was written: a file, or "to the standard output"; "" for nothing. `is_compressed` says
// whether the input is compressed, which the output never is.
std::vector<std::string> RepairReport(const RepairPlan& plan, const ChosenTrace& chosen,
                                      bool is_compressed, absl::string_view target);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_REPAIR_H_
