// Makes broken traces whole: the command `repair` of gotrace-dump.
#ifndef GOTRACE_TOOLS_REPAIR_H_
#define GOTRACE_TOOLS_REPAIR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "rewrite/repair.h"

namespace gotrace {

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

 private:
  RepeatableInput(std::string file, int fd, const ReaderLimits& limits, Progress* progress)
      : file_(std::move(file)), fd_(fd), limits_(limits), progress_(progress) {}

  std::string file_;
  int fd_;  // Of the copy; -1 if the file itself is read.
  ReaderLimits limits_;
  Progress* progress_;
};

// Writes the repaired trace to `out`.
absl::Status WriteRepaired(const RepairPlan& plan, const RepeatableInput& input, Output* out);

// What to print of the plan: what is done, and what comes of it. `target` tells what was written:
// a file, or "to the standard output"; "" for nothing.
std::vector<std::string> RepairReport(const RepairPlan& plan, absl::string_view target);

}  // namespace gotrace

#endif  // GOTRACE_TOOLS_REPAIR_H_
