// Converts a trace to FXT, the trace format of Fuchsia, which Perfetto and magic-trace's viewer
// open.
#ifndef GOTRACE_FXT_EXPORTER_H_
#define GOTRACE_FXT_EXPORTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/fxt_buffer.h"

namespace gotrace {

// What to write.
struct FxtOptions {
  // Selects what is written. Times are a window: the output begins with the state at the beginning
  // of the window, and everything that is open at its end stays open. The other conditions select
  // the states of goroutines by the goroutine, and by the P and the thread on which a state begins;
  // and regions, ranges and tasks by the event that begins them. Times since the start count from
  // the first event that is added.
  EventFilter filter;

  // The id and the name of the process to which all goroutines belong. Files of different processes
  // can be concatenated in any order, since the ids of their threads and CPUs differ:
  // export/fxt/FORMAT.md describes the ids, and how many processes are possible.
  uint64_t pid = 1;
  std::string process_name = "go";

  // Nanoseconds to add to all times in the file, to align the trace with another clock. `filter`
  // uses the times of the trace.
  int64_t time_offset = 0;

  // Whether flows connect the creation and the waking of a goroutine with the moment at which it
  // runs.
  bool flows = true;

  // Whether to write call stacks, as arguments of regions, ranges, tasks, logs, syscalls and flows,
  // and of a duration for each time that a goroutine waits. CPU samples always have a stack.
  bool stacks = false;

  // Whether to write the events of the alloc/free experiment, as instants of their goroutines.
  bool alloc = false;

  // Whether each OS thread (M) also becomes a thread in FXT, with the goroutines that it ran as
  // durations.
  bool threads = false;

  // How records are buffered if they come faster than they can be written.
  FxtBuffer buffer;

  // Called by Finish() with each remark for the user about the result, a sentence without a full
  // stop.
  std::function<void(absl::string_view)> on_note;
};

// Writes the events of a trace as FXT:
//
//   - each goroutine is a thread, named after the function that it started in, and each P is a CPU;
//   - context switches and wake-ups show the states of goroutines: a waiting goroutine is
//     "blocked", one in a syscall is "suspended", and one that waits to run is "running" or woken
//     up;
//   - regions, ranges of the runtime and syscalls are durations, tasks are asynchronous events, and
//     logs, labels and CPU samples are instants;
//   - the size of the heap, its goal, GOMAXPROCS, the number of goroutines in each state, and the
//     number of busy Ps are counters.
//
// export/fxt/FORMAT.md describes the records. The same events and options give the same bytes,
// except for records that a streaming buffer drops.
//
// Memory is in proportion to the number of goroutines, tasks, regions and ranges at a time, and to
// the distinct stacks and strings. Each goroutine whose id is 0, or 2^31 or more, also takes memory
// until the end.
class FxtExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive this object, and which the caller has to finish.
  FxtExporter(ByteSink* out, FxtOptions options);
  ~FxtExporter() override;

  // Takes events. For a window of time, all events are needed from the beginning of the generation
  // in which the window begins to the end of the generation in which it ends, since some facts
  // about the window are only stated there.
  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Writes everything that is open, and the contents of the buffer. Returns the error of the
  // ByteSink, if there was one.
  absl::Status Finish() override;

  // Returns how many records were dropped because they did not fit into the buffer. Records that a
  // circular buffer replaced do not count.
  uint64_t dropped_records() const;

  // Returns how many records a circular buffer has replaced by later ones.
  uint64_t replaced_records() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_FXT_EXPORTER_H_
