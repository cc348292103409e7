// Writes events as text, byte for byte like `go tool trace -d=parsed` of Go 1.27.
#ifndef GOTRACE_TEXT_EXPORTER_H_
#define GOTRACE_TEXT_EXPORTER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"

namespace gotrace {

// Formats one event as a TextExporter does: one line, lines for its stacks if it has any, and a
// newline at the end. An exporter is faster for many events.
std::string FormatEvent(const Event& event, absl::TimeZone zone = absl::LocalTimeZone());

// Writes each event, in order. Any selection of events may be added, such as that of an
// EventFilter. An event with an Event::fault() has Fault=ID at the end of its first line. Not
// thread-safe.
class TextExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter. Prints wall-clock times in `zone`; Go's tool
  // uses the local zone.
  explicit TextExporter(ByteSink* out, absl::TimeZone zone = absl::LocalTimeZone());
  ~TextExporter() override;

  // Writes `events`. The text may reach the ByteSink later, at the latest with Finish().
  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Flushes the text to the ByteSink, and returns its status. Does not finish the ByteSink, so more
  // can be appended to it.
  absl::Status Finish() override;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_TEXT_EXPORTER_H_
