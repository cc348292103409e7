// Writes a trace as JSON for chrome://tracing, ui.perfetto.dev and other viewers of the Trace Event
// Format. The output shows the same as `go tool trace` does in the browser, plus user tasks and
// regions.
#ifndef GOTRACE_CHROME_EXPORTER_H_
#define GOTRACE_CHROME_EXPORTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/ids.h"

namespace gotrace {

// The events to write, and their arrangement.
struct ChromeOptions {
  // The resources that have lanes.
  enum class View {
    kProc,       // Each P, with the goroutines that run on it.
    kThread,     // Each thread, with the goroutines that run on it.
    kGoroutine,  // Each goroutine.
  };
  View view = View::kProc;

  // Selects what is shown. A slice matches by the kind of the event that ends it and by the
  // goroutine, P and thread where it begins; an arrow is shown if both of its ends are. Counters
  // match by kind only. Slices that overlap the filter's times are shown whole. Times since the
  // start count from `start`.
  EventFilter filter;

  // If it is not empty, only these tasks and their regions are shown.
  std::set<TaskId> tasks;

  // The Event::time() that becomes 0 in the output, usually the time of the trace's first event. By
  // default it is the time of the first event that is added. In a file with several traces, it must
  // stand for the same moment in each of them.
  std::optional<int64_t> start;

  // If it is not empty, the names of the processes in the output begin with it.
  std::string process_name;
};

// A file with several traces, which are written one after the other. Not thread-safe.
class ChromeFile {
 public:
  // Writes to `*out`, which must outlive this object.
  explicit ChromeFile(ByteSink* out);
  ~ChromeFile();

  // Completes the JSON object. Returns the status of the ByteSink, which it does not finish.
  absl::Status Finish();

 private:
  friend class ChromeExporter;
  class Writer;

  const std::unique_ptr<Writer> writer_;
};

// Writes the JSON object as events are added. It needs all events from the beginning of a
// generation; ChromeOptions::filter selects what is shown. Memory is in proportion to the
// goroutines and open tasks that exist at one time, and to the number of different stacks, whose
// frames are written at the end. Not thread-safe.
//
// In the output, process 0 has the lanes of the view as its threads, process 1 has the counters
// (goroutines by state, threads, and the heap), and process 2 has the lanes of tasks. The second
// trace of a ChromeFile has processes 3 to 5, and so on.
class ChromeExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter.
  explicit ChromeExporter(ByteSink* out, const ChromeOptions& options = {});

  // Adds a trace to `*file`, which must outlive the exporter. Traces are added one at a time: the
  // exporter of the previous trace must have been finished.
  explicit ChromeExporter(ChromeFile* file, const ChromeOptions& options = {});
  ~ChromeExporter() override;

  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Ends all open slices at the last event, and completes the JSON object unless it belongs to a
  // ChromeFile. Returns the status of the ByteSink, which it does not finish.
  absl::Status Finish() override;

 private:
  class State;

  std::unique_ptr<ChromeFile> own_file_;  // nullptr if the caller owns the file.
  std::unique_ptr<State> state_;
};

// Narrows the output of a ChromeExporter to related goroutines, or to given tasks. All events that
// the exporter will receive have to be added to this object first, before the exporter is
// constructed. Memory is in proportion to the number of tasks, and to the number of pairs of
// goroutines of which one unblocked the other. Not thread-safe.
class ChromeFocus final : public EventSink {
 public:
  // The part of the trace that is shown.
  enum class On {
    // The filter's goroutines, the goroutines that unblocked them, and the goroutines that
    // unblocked the latter, as `go tool trace` shows for a goroutine.
    kRelatedGoroutines,
    // The given tasks and their descendants, or all tasks if none is given, and the goroutines that
    // worked on them, from the beginning of the first given task to the end of the last, as `go
    // tool trace` shows for a task in its view of goroutines.
    kTasks,
    // The same with all goroutines, as `go tool trace` shows for a task in its view of Ps.
    kTaskTimes,
  };

  // Finish() changes `*filter` and, for tasks, `*tasks`, which must outlive this object. Copy both
  // to the ChromeOptions of the exporter afterwards.
  ChromeFocus(On on, EventFilter* filter, std::set<TaskId>* tasks);
  ~ChromeFocus() override;

  void Add(absl::Span<const Event> events) override;

  // Returns an InvalidArgumentError if the trace has no event of one of the given tasks.
  absl::Status Finish() override;

 private:
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_CHROME_EXPORTER_H_
