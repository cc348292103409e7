// Reads the events that the filter flags select, for `events` and `convert`.
#ifndef GOTRACE_TOOLS_EVENT_SELECTION_H_
#define GOTRACE_TOOLS_EVENT_SELECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_times.h"
#include "gotrace/reader.h"
#include "tools/open_trace.h"
#include "tools/progress.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {

struct SelectionOptions {
  FilterFlags filter;
  TraceNumber trace = 0;  // The number of the trace in the input.
  // Continues after an event that is too late for the filter, since the times of a damaged trace
  // may be wrong.
  bool to_end = false;
  // Whether times() is used, although the filter may have no wall-clock times.
  bool wall = false;
  // Selects every event of the generations from the one that contains the filter's first time to
  // the one that contains its last time, whether or not it meets the filter's conditions: for
  // exporters, which need the state at the first time, and apply AbsoluteFilter() themselves. A
  // generation states what a goroutine has been doing since its beginning only when this changes,
  // or at its end.
  bool whole_window = false;
  // Reads from the beginning of the trace even if the first time is later. With whole_window, all
  // events before the window are selected then, too.
  bool from_beginning = false;
  // Prints no notes on how the trace was opened, because they were already printed.
  bool quiet = false;
};

// The result of reading the selected events.
struct SelectionResult {
  absl::Status status;  // Why reading ended early, if it did.
  uint64_t events = 0;  // How many were read.
  uint64_t bytes = 0;   // How many bytes of the file were read.
  Losses losses;
  // If the filter has conditions: the times of the first event, and of the latest that was read.
  int64_t first_time = 0;
  int64_t last_time = 0;
  // If the filter has wall-clock times: the same two times as wall-clock times, if known, and
  // whether any event was between them.
  std::optional<absl::Time> first_wall;
  std::optional<absl::Time> last_wall;
  bool within_wall = false;
  // With SelectionOptions::whole_window: whether any event meets the conditions other than those on
  // time.
  bool any_matches = false;
  // The first generation whose frequency of the trace clock is implausible, so that the times of
  // its events are meaningless.
  std::optional<GenerationInfo> timeless;
};

// The events of one trace that the options select.
class EventSelection {
 public:
  // Opens the trace in `file` and prints notes on damage in transport that was undone. If the
  // filter has a first time, and the input can be read from any place, reading starts with the
  // generation that may contain that time. Fails if the trace cannot be opened, or has no
  // wall-clock times although the filter has some. `*progress` must outlive the object.
  static absl::StatusOr<std::unique_ptr<EventSelection>> Open(std::string file,
                                                              const SelectionOptions& options,
                                                              ReaderOptions reader_options,
                                                              Progress* progress);

  // Returns the next selected event, or nullptr if there is none: at the end of the trace, after a
  // fault, or once no later event can be selected. The event is valid until the next call.
  const Event* Next();

  // Returns the filter with all times converted to values of Event::time(), by the clock of the
  // generation that was read first. Call it after Next(). Fails if the filter has wall-clock times,
  // but the generation has no clock snapshot.
  absl::StatusOr<EventFilter> AbsoluteFilter() const;

  // Returns the time of the trace's first event. Call it after Next().
  int64_t trace_start() const { return start_.value_or(0); }

  // Returns the times of the events. Requires SelectionOptions::wall. Valid as long as this object.
  const EventTimes& times() const { return times_; }

  // Warns on the standard error if the input holds more traces, and returns the result. Call it
  // once, after the last Next().
  SelectionResult Finish();

 private:
  enum class Verdict { kTake, kSkip, kTakeAndStop, kStop };

  EventSelection(std::string file, const SelectionOptions& options, OpenedTrace input,
                 Reader reader, std::optional<int64_t> start, Progress* progress);

  void BeginGeneration(const Event& sync);
  Verdict Look(const Event& event);
  bool IsPast(const Event& event) const;

  const std::string file_;
  const SelectionOptions options_;
  const OpenedTrace input_;  // Its source was passed to the reader.
  Reader reader_;
  std::optional<int64_t> start_;  // The time of the trace's first event.
  Progress& progress_;
  EventFilter filter_;
  const EventFilter filter_without_times_;
  const bool matches_all_;
  EventTimes times_;
  bool stopped_ = false;
  SelectionResult result_;
};

// If no event lies between --from and --to, explains why. Returns whether this is the case.
bool NoteEmptyWindow(const std::string& file, const FilterFlags& flags,
                     const SelectionResult& result);

// If the times of the trace are meaningless, prints a note.
void NoteTimelessGeneration(const std::string& file, const SelectionResult& result);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_EVENT_SELECTION_H_
