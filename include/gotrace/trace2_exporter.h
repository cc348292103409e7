// Writes a trace in the formats of Git's Trace2, for tools that read them. A goroutine becomes a
// thread of Trace2, a region a region, a message data, and a task a child process.
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

// The formats that git writes for GIT_TRACE2, GIT_TRACE2_PERF and GIT_TRACE2_EVENT.
enum class Trace2Form : uint8_t {
  kNormal,  // Tasks, and timers and counters of the whole program, as text.
  kPerf,    // Everything, as text in columns.
  kEvent,   // Everything, as a JSON object on each line.
};

// What to write, and in which form.
struct Trace2Options {
  Trace2Form form = Trace2Form::kNormal;

  // Selects what is written. A region, task or range matches by the kind and context of its
  // beginning, and a time in a state by those of the event that ends it. Anything that is already
  // open at the filter's first time is written as if it began then. Times since the start count
  // from `start`.
  EventFilter filter;

  // Leaves out times and places in the source code, as git does for GIT_TRACE2_BRIEF and the like.
  bool brief = false;

  // The nesting limit of the event form, which leaves out regions that are nested more deeply, and
  // the data in regions of exactly this depth. 0 is no limit; git's is 2 unless
  // GIT_TRACE2_EVENT_NESTING is set.
  uint64_t nesting = 0;

  // The wall-clock time of the trace's start. By default it is taken from the clock snapshots in
  // the trace, which only Go 1.25 and later write. For older traces it must be set, unless the form
  // is kNormal or kPerf and `brief` is set, so that no times are written.
  std::optional<absl::Time> epoch;

  // The Event::time() of the trace's start, to which `epoch` and the times since the start refer.
  // The default is the time of the first event that is added.
  std::optional<int64_t> start;

  // The zone of times in kNormal and kPerf, where git uses the local one. kEvent has UTC.
  absl::TimeZone zone = absl::LocalTimeZone();

  // The command and the version of the program, since traces do not have them.
  std::string program = "go-program";
  std::string version = "unknown";
};

// Writes the events of Trace2 while it is given those of a trace. It needs all events from the
// beginning of the generation that contains the filter's first time to the end of the one that
// contains its last time, where the trace may first state that a goroutine exists. Memory is in
// proportion to the goroutines, regions and tasks that exist at one time, and to the number of
// different names, reasons to block and stacks; a bit for each task is kept, too. Not thread-safe.
//
// docs/commands.md describes the mapping.
class Trace2Exporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter.
  explicit Trace2Exporter(ByteSink* out, Trace2Options options = {});
  ~Trace2Exporter() override;

  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Ends everything that is open, and writes timers, counters and the event `atexit`. Returns the
  // status of the ByteSink, which it does not finish. Returns an error, and writes nothing, if the
  // wall-clock time of the trace is needed and not known.
  absl::Status Finish() override;

 private:
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE2_EXPORTER_H_
