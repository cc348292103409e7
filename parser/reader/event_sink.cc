#include "gotrace/event_sink.h"

#include <algorithm>

namespace gotrace {

absl::Status ReadInto(Reader& reader, absl::Span<EventSink* const> sinks) {
  const auto wants_more = [](const EventSink* sink) { return sink->WantsMore(); };
  while (std::any_of(sinks.begin(), sinks.end(), wants_more)) {
    const absl::Span<const Event> block = reader.NextBlock();
    if (block.empty()) break;
    for (EventSink* const sink : sinks) {
      if (sink->WantsMore()) sink->Add(block);
    }
  }
  absl::Status status = reader.status();
  for (EventSink* const sink : sinks) status.Update(sink->Finish());
  return status;
}

}  // namespace gotrace
