// Converts a trace to the protobuf format of Perfetto, for https://ui.perfetto.dev and for
// Perfetto's trace_processor.
#ifndef GOTRACE_PERFETTO_EXPORTER_H_
#define GOTRACE_PERFETTO_EXPORTER_H_

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

namespace gotrace {

// How the states of goroutines are written.
enum class PerfettoScheduling : uint8_t {
  // As the events of Linux's scheduler, in Perfetto's compact form: Perfetto knows who woke a
  // goroutine, and can compute critical paths.
  kAuto,

  // As Perfetto's generic kernel events, without wakers.
  kGeneric,

  // Not at all.
  kOff,
};

// What to write.
struct PerfettoOptions {
  // Selects what is converted. Times since the start count from the first event that is added. The
  // exporter needs all events of the generations from the one that contains times.from to the one
  // that contains times.to. The output begins with the states and open slices at times.from, some
  // of which are only stated at the end of a generation.
  EventFilter filter;

  PerfettoScheduling scheduling = PerfettoScheduling::kAuto;

  // Whether to write call stacks of the events that have one. CPU samples always have a stack.
  bool stacks = false;

  // Whether to write the events of the alloc/free experiment, as instants of their goroutines.
  bool alloc = false;

  // Whether to write a track for each OS thread (M) with the goroutines that it ran.
  bool threads = false;

  // Whether to compress the packets, with deflate. Perfetto reads such files as well.
  bool compress = false;

  // The process that all goroutines belong to, since traces do not name it. Files of different
  // processes can be concatenated in any order: their ids differ, and each process other than 1 is
  // a machine of its own, so that its goroutines and Ps are distinct from those of other processes.
  std::string process_name = "Go program";
  int32_t pid = 1;

  // Nanoseconds to add to all times in the file, to align the trace with another clock. `filter`
  // uses the times of the trace.
  int64_t time_offset = 0;

  // Called with each remark for the user about the result, a sentence without a full stop, at most
  // once for each sentence.
  std::function<void(absl::string_view)> on_note;
};

// Writes one trace; several exporters can write to the same sink, one after the other.
// docs/perfetto.md describes what the tracks, slices and tables hold.
//
// Memory is in proportion to the goroutines and tasks that are alive, and to the distinct names and
// stacks.
class PerfettoExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive this object. The caller has to call ByteSink::Finish()
  // after Finish().
  PerfettoExporter(ByteSink* out, PerfettoOptions options);
  ~PerfettoExporter() override;

  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Writes what is still buffered. Returns the status of the ByteSink.
  absl::Status Finish() override;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_PERFETTO_EXPORTER_H_
