// Cuts a window of time out of a trace, as a trace that can be read by itself.
//
//   gotrace::WindowOptions window;
//   window.filter.since_start = {.from = 1'000'000'000, .to = 1'010'000'000};
//   auto source = gotrace::OpenSource("large.trace");
//   auto out = gotrace::SinkToFile("window.trace");
//   …
//   absl::StatusOr<gotrace::TrimmedTrace> trimmed =
//       gotrace::TrimTrace(std::move(source).value(), window, {}, out->get());
//   if (trimmed.ok()) status = (*out)->Finish();
#ifndef GOTRACE_TRIM_H_
#define GOTRACE_TRIM_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_filter.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_writer.h"
#include "gotrace/window_reader.h"

namespace gotrace {

// The result of TrimTrace().
struct TrimmedTrace {
  WrittenTrace written;

  // The window in values of Event::time(). An end that was not given is the smallest or largest
  // number.
  EventFilter::Times window;

  // OK, or why the original could not be read to the end of the window. What was written has the
  // events before the fault.
  absl::Status status;

  // What reading the original showed.
  WindowReader::Seen seen;
  Losses losses;
  uint64_t events_read = 0;
  uint64_t bytes_read = 0;
};

// Writes the events of a window of the trace in `source`, which must be positioned at its
// beginning, to `*out`, which is not finished. Go's reader accepts the result. It has all events
// whose times are in the window, at the same times, so that the same window of both traces has the
// same events. If the source can be read from any place, only the generations that the window needs
// are read. Memory is bounded by the largest generation and the state of the program.
//
// If the window begins inside the trace, the result begins some nanoseconds earlier, about one for
// each goroutine and P, with everything that exists then:
//
// - The status of each goroutine and P, as the runtime states them, with the goroutine's last stack
//   in versions from 1.23 on. A status does not say why a goroutine waits.
// - What is in progress: a GC cycle, sweeps and mark assists, as the runtime states them. Stops of
//   the world, tasks and regions begin there again. To begin a task or region of a goroutine that
//   does not run, the goroutine runs for a moment on a thread with the id 0.
// - The last values of GOMAXPROCS, of the heap and of its goal, and the label of each running
//   goroutine.
//
// This is a generation of its own, and the next one begins with the statuses again, unless the
// window begins in the first generation of the original.
//
// If the original continues after the window, the status of a P is repeated at the last time of the
// window, so that the trace lasts until then. What is open at the end stays open. The parts of a
// GoSwitch event, and the two of a GoDestroySyscall, stay together: they are in the result if the
// first of them is in the window.
//
// `window` has the ends of the window, and its callback; all other conditions are ignored. Returns
// an error as WindowReader::Open() does, and kNotFound if no event of the trace is at or after the
// beginning of the window, or none before its end. `out` then has at most the header of a trace.
absl::StatusOr<TrimmedTrace> TrimTrace(std::unique_ptr<ByteSource> source, WindowOptions window,
                                       ReaderOptions options, ByteSink* out);

}  // namespace gotrace

#endif  // GOTRACE_TRIM_H_
