// Shows the progress of long work on a terminal.
#ifndef GOTRACE_TOOLS_CLI_PROGRESS_H_
#define GOTRACE_TOOLS_CLI_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace gotrace::internal {

struct ProgressCount {
  uint64_t bytes = 0;   // How many bytes of the input were read.
  uint64_t total = 0;   // The size of the input, or 0 if it is not known.
  uint64_t events = 0;  // How many events were processed; 0 where they are not counted.
  uint64_t file = 0;    // The number of the current file, counted from 1.
  uint64_t files = 0;   // How many files there are.
};

// Formats one line for the terminal: which of several files, bytes, share, events, rate, and the
// time left if it can be estimated. `elapsed` is the time since the work started.
std::string FormatProgress(const ProgressCount& count, absl::Duration elapsed);

// Shows FormatProgress() on the standard error after the first second, and removes it at the end.
// Shows nothing if the standard error is not a terminal, or if the command prints to a terminal at
// the same time.
class Progress {
 public:
  // `prints_along` says whether the command prints to the standard output while it works.
  explicit Progress(bool prints_along);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Returns whether to call Show(), after `steps` more steps of the work. Cheap: returns true only
  // once in many steps.
  bool Due(uint64_t steps = 1) {
    if (!enabled_) return false;
    const uint64_t looks = steps_ / kStepsPerLook;
    steps_ += steps;
    return steps_ / kStepsPerLook != looks;
  }

  // Returns whether anything is ever shown.
  bool enabled() const { return enabled_; }

  void Show(const ProgressCount& count);

  // Removes the line, so that other text can be written. The next Show() shows it again.
  void Wipe();

 private:
  static constexpr uint64_t kStepsPerLook = 4096;

  const bool enabled_;
  const absl::Time begin_;
  absl::Time last_shown_;
  uint64_t steps_ = 0;
  bool visible_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_PROGRESS_H_
