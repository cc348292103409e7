// Reads the events that the filter flags select, for `events` and `convert`.
#ifndef GOTRACE_TOOLS_INPUT_EVENT_SELECTION_H_
#define GOTRACE_TOOLS_INPUT_EVENT_SELECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_times.h"
#include "gotrace/reader.h"
#include "gotrace/window_reader.h"
#include "tools/cli/progress.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

// Returns the window that the flags give, which shows `*progress`.
WindowOptions WindowOf(const FilterFlags& flags, Progress* progress);

// Returns `status`, and if it says that wall-clock times cannot be used, an error that names `file`
// and the flag that has one, and says what else could be given.
absl::Status WithAdviceOnTimes(const absl::Status& status, const std::string& file,
                               const FilterFlags& flags);

struct SelectionOptions {
  FilterFlags filter;
  TraceNumber trace = 0;  // Which trace of the input.

  // As in WindowOptions.
  bool to_end = false;
  bool whole_generations = false;
  bool from_beginning = false;

  // Prints no notes on how the trace was opened, because they were printed before.
  bool quiet = false;
};

// What reading the selected events showed.
struct SelectionResult : WindowReader::Seen {
  absl::Status status;  // Why reading ended early, if it did.
  uint64_t events = 0;  // How many were read.
  uint64_t bytes = 0;   // How many bytes of the file were read.
  Losses losses;
};

// A WindowReader for a file that the command line names and a window that its flags give: with
// progress, notes, and messages that name both.
class EventSelection {
 public:
  // Opens the trace in `file` and prints notes on what was undone to read it. Fails if the trace
  // cannot be opened, or has no wall-clock times although the filter has some. `*progress` must
  // outlive the object.
  static absl::StatusOr<std::unique_ptr<EventSelection>> Open(std::string file,
                                                              const SelectionOptions& options,
                                                              ReaderOptions reader_options,
                                                              Progress* progress);

  // As those of WindowReader.
  const Event* Next() { return reader_.Next(); }
  absl::StatusOr<EventFilter> AbsoluteFilter() const;
  int64_t trace_start() const { return reader_.trace_start(); }
  const EventTimes& times() const { return reader_.times(); }

  // Warns on the standard error if the input holds more traces, and returns the result. Call it
  // once, after the last Next().
  SelectionResult Finish();

 private:
  EventSelection(std::string file, const FilterFlags& flags, OpenedTrace input, WindowReader reader)
      : file_(std::move(file)),
        flags_(flags),
        input_(std::move(input)),
        reader_(std::move(reader)) {}

  const std::string file_;
  const FilterFlags flags_;
  const OpenedTrace input_;  // Its source is that of the reader.
  WindowReader reader_;
};

// If no event lies between --from and --to, explains why. Returns whether this is the case.
bool NoteEmptyWindow(const std::string& file, const FilterFlags& flags,
                     const WindowReader::Seen& seen);

// Notes that the times of the trace mean nothing, if that is so.
void NoteTimelessGeneration(const std::string& file, const WindowReader::Seen& seen);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_EVENT_SELECTION_H_
