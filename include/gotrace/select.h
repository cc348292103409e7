// Selects goroutines or kinds of events of a trace, as a smaller trace.
#ifndef GOTRACE_SELECT_H_
#define GOTRACE_SELECT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_writer.h"

namespace gotrace {

// What to select of a trace.
struct Selection {
  // Goroutines: those with one of the ids, those that started in one of the functions
  // ("main.work"), those that took part in one of the tasks or their descendants, and those that
  // had a region of one of the types. All, if none of the four is set.
  std::set<GoId> goroutines;
  std::set<std::string> functions;
  std::set<TaskId> tasks;
  std::set<std::string> regions;

  // Whether to select also the goroutines that created or woke one of these.
  bool with_wakers = false;

  // Kinds of events; all, if empty. State transitions are always kept, since they say who ran
  // where. The events with which something begins and ends belong together: kRangeBegin stands for
  // kRangeActive and kRangeEnd, too.
  std::set<EventKind> kinds;

  // Whether to leave out the goroutines and the kinds that are given, and to keep the others.
  bool drops = false;

  // Returns whether goroutines are selected, and whether they have to be found in the trace first.
  bool has_goroutines() const {
    return !goroutines.empty() || !functions.empty() || !tasks.empty() || !regions.empty();
  }
  bool needs_search() const {
    return !functions.empty() || !tasks.empty() || !regions.empty() ||
           (with_wakers && !goroutines.empty());
  }
};

// The result of SelectEvents().
struct SelectedTrace {
  WrittenTrace written;
  uint64_t goroutines = 0;  // How many were selected, if that is known; 0 if all are.
  uint64_t events_read = 0;

  // OK, or why the original could not be read to its end.
  absl::Status status;
  Losses losses;
};

// Writes the selected events of the trace that `open` opens at its beginning to `*out`, which is
// not finished. Go's reader accepts the result. `open` is called twice if
// Selection::needs_search(). Memory is bounded by the largest generation and the numbers of
// goroutines and, with wakers, of pairs of them.
//
// Events keep their times, Ps and threads. Of a goroutine that is left out, nothing remains: where
// it ran, its P runs no goroutine. What it did to others happens without a goroutine: it creates or
// wakes them, and a P that was taken away in its syscall stops there. Cycles of the garbage
// collector are kept only if all goroutines are.
//
// If the last event is left out, the status of a P is repeated at its time, so that the trace lasts
// until then.
absl::StatusOr<SelectedTrace> SelectEvents(
    const std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>& open,
    const Selection& selection, const ReaderOptions& options, ByteSink* out);

}  // namespace gotrace

#endif  // GOTRACE_SELECT_H_
