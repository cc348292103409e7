// Writes a trace as JSON for chrome://tracing, ui.perfetto.dev and other viewers of the Trace Event
// Format: what `go tool trace` shows in its browser, with user tasks and regions.
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

// What to write, and how it is arranged.
struct ChromeOptions {
  // What has a lane of its own.
  enum class View {
    kProc,       // Each P, with the goroutines that run on it.
    kThread,     // Each thread, with the goroutines that run on it.
    kGoroutine,  // Each goroutine.
  };
  View view = View::kProc;

  // What to show. A slice has the kind of the event that ends it and the goroutine, P and thread of
  // its beginning; an arrow is shown if both of its ends are. Counters have a kind only. Slices
  // that overlap the filter's times are shown whole. Times since the start count from `start`.
  EventFilter filter;

  // If it is not empty, only these tasks and their regions are shown.
  std::set<TaskId> tasks;

  // The Event::time() that is 0 in the output: usually that of the trace's first event. The default
  // is that of the first event that is added. In a file with several traces, that of each trace
  // must be the same moment.
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

// Writes the JSON object while it is given events. It needs all events from the beginning of a
// generation; ChromeOptions::filter selects what is shown. Memory is in proportion to what exists
// at one time (goroutines, open tasks), and to the number of different stacks, whose frames are at
// the end of the output. Not thread-safe.
//
// The lanes of a view are the threads of the process 0; those of tasks, of the process 2. The
// counters, of the process 1, are those of goroutines by state, of threads, and of the heap. The
// second trace of a ChromeFile has the processes 3 to 5, and so on.
class ChromeExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter.
  explicit ChromeExporter(ByteSink* out, const ChromeOptions& options = {});

  // Adds a trace to `*file`, which must outlive the exporter. Traces must not be added at the same
  // time: the exporter of the one before has to be finished.
  explicit ChromeExporter(ChromeFile* file, const ChromeOptions& options = {});
  ~ChromeExporter() override;

  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Ends what is still open with the last event, and completes the object, unless that is up to a
  // ChromeFile. Returns the status of the ByteSink, which it does not finish.
  absl::Status Finish() override;

 private:
  class State;

  std::unique_ptr<ChromeFile> own_file_;  // nullptr if the file is somebody else's.
  std::unique_ptr<State> state_;
};

// Narrows what a ChromeExporter shows to what belongs together. It has to see all events that the
// exporter will see, before the exporter is constructed. Memory is in proportion to the number of
// tasks, and of pairs of goroutines of which one unblocked the other. Not thread-safe.
class ChromeFocus final : public EventSink {
 public:
  // What the trace is reduced to.
  enum class On {
    // The filter's goroutines, those that unblocked them, and those that unblocked these: what `go
    // tool trace` shows for a goroutine.
    kRelatedGoroutines,
    // The given tasks and those that descend from them, or all if none is given, with the
    // goroutines that worked on them; from the beginning of the first given one to the end of the
    // last: what `go tool trace` shows for a task in its view of goroutines.
    kTasks,
    // The same with all goroutines: what `go tool trace` shows for a task in its view of Ps.
    kTaskTimes,
  };

  // Finish() changes `*filter` and, for tasks, `*tasks`, which must outlive this object. These are
  // to become members of ChromeOptions.
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
