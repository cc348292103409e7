#include "gotrace/event_sink.h"

namespace gotrace {

absl::Status ReadInto(Reader& reader, absl::Span<EventSink* const> sinks) {
  for (absl::Span<const Event> block; !(block = reader.NextBlock()).empty();) {
    for (EventSink* const sink : sinks) sink->Add(block);
  }
  absl::Status status = reader.status();
  for (EventSink* const sink : sinks) status.Update(sink->Finish());
  return status;
}

}  // namespace gotrace
