// Tells on a terminal how far a long work has come.
#ifndef GOTRACE_TOOLS_PROGRESS_H_
#define GOTRACE_TOOLS_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace gotrace::internal {

// How far the work has come.
struct ProgressCount {
  uint64_t bytes = 0;   // Of the input that were read.
  uint64_t total = 0;   // Of the input, 0 if that is not known.
  uint64_t events = 0;  // That were dealt with.
  uint64_t file = 0;    // The number, from 1 on, of the one that is dealt with,
  uint64_t files = 0;   // of so many.
};

// One line for the terminal: which of several files, bytes, share, events, rate, and the time left
// if it can be known.
// `elapsed` is the time since the work began.
std::string FormatProgress(const ProgressCount& count, absl::Duration elapsed);

// Shows FormatProgress() on the standard error once the work has taken a second, and wipes it at
// the end. Only where the standard error is a terminal, and not where other text goes to a terminal
// at the same time.
class Progress {
 public:
  // `prints_along` tells that the command prints to the standard output while it works.
  explicit Progress(bool prints_along);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it is time to call Show(). Cheap: it looks at the clock once in many calls.
  bool Due() { return enabled_ && ++calls_ % kCallsPerLook == 0; }

  // Whether anything is ever shown.
  bool enabled() const { return enabled_; }

  void Show(const ProgressCount& count);

  // Wipes the line, so that other text can be written. The next Show() writes it again.
  void Wipe();

 private:
  static constexpr uint64_t kCallsPerLook = 4096;

  const bool enabled_;
  const absl::Time begin_;
  absl::Time last_shown_;
  uint64_t calls_ = 0;
  bool visible_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_PROGRESS_H_
