// Writes a trace in the formats of Git's Trace2, for the tools that read those: a goroutine is a
// thread of Trace2, a region is a region, a message is data, and a task is a child process.
#ifndef GOTRACE_TRACE2_EXPORTER_H_
#define GOTRACE_TRACE2_EXPORTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"

namespace gotrace {

// What git writes for GIT_TRACE2, GIT_TRACE2_PERF and GIT_TRACE2_EVENT.
enum class Trace2Form : uint8_t {
  kNormal,  // Tasks, and timers and counters of the whole program, as text.
  kPerf,    // Everything, as text in columns.
  kEvent,   // Everything, as a JSON object on each line.
};

// What to write, and in which form.
struct Trace2Options {
  Trace2Form form = Trace2Form::kNormal;

  // What to write. A region, a task or a range has the kind and the context of its beginning, and
  // a time in a state those of the event that ends it. What began before the filter's first time,
  // and lasts longer, is written as if it began then. Times since the start count from `start`.
  EventFilter filter;

  // Leaves out times and places in the source code, as git does for GIT_TRACE2_BRIEF and the like.
  bool brief = false;

  // The event form leaves out regions that are nested more deeply, and the data in regions that are
  // nested as deeply. 0 is no limit; git's is 2 unless GIT_TRACE2_EVENT_NESTING is set.
  uint64_t nesting = 0;

  // The wall-clock time of the trace's start. The default is what the clock snapshots in the trace
  // say, which only Go 1.25 and later write: for other traces it must be set, unless no times are
  // written because the form is kNormal or kPerf, and brief.
  std::optional<absl::Time> epoch;

  // The Event::time() of the trace's start, which `epoch` and the times since the start refer to.
  // The default is that of the first event that is added.
  std::optional<int64_t> start;

  // The zone of times in kNormal and kPerf, where git uses the local one. kEvent has UTC.
  absl::TimeZone zone = absl::LocalTimeZone();

  // The command and the version of the program; traces do not say what they were.
  std::string program = "go-program";
  std::string version = "unknown";
};

// Writes the events of Trace2 while it is given those of a trace. It needs all events from the
// beginning of the generation that contains the filter's first time to the end of the one that
// contains its last time, where the trace may first state that a goroutine exists. Memory is in
// proportion to the goroutines, regions and tasks that exist at one time, and to the number of
// different names, reasons to block and stacks; a bit for each task is kept, too. Not thread-safe.
//
// docs/commands.md describes what becomes what.
class Trace2Exporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter.
  explicit Trace2Exporter(ByteSink* out, Trace2Options options = {});
  ~Trace2Exporter() override;

  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Ends what is still open, and writes timers, counters and the event `atexit`. Returns the status
  // of the ByteSink, which it does not finish, or an error if the wall-clock time of the trace is
  // needed and not known; then nothing was written.
  absl::Status Finish() override;

 private:
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE2_EXPORTER_H_
