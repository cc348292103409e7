#include "parser/framing/cut_batch.h"

#include "gotrace/event_type.h"
#include "gotrace/internal/event_spec.h"
#include "tracev2/raw_event.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace {

// The type of the entries of a batch that fills a table and begins with `type`; kNone if it is no
// such batch.
EventType EntryType(EventType type) {
  switch (type) {
    case EventType::kStrings:
      return EventType::kString;
    case EventType::kStacks:
      return EventType::kStack;
    case EventType::kCPUSamples:
      return EventType::kCPUSample;
    default:
      return EventType::kNone;
  }
}

bool IsTimed(EventType type) {
  const EventSpec* const spec = FindEventSpec(type);
  return spec != nullptr && spec->timed();
}

}  // namespace

size_t SizeOfWholeEvents(absl::string_view payload) {
  if (payload.empty()) return 0;
  const EventType entry_type = EntryType(static_cast<EventType>(payload[0]));
  const size_t begin = entry_type == EventType::kNone ? 0 : 1;
  size_t whole = begin;
  RawEvent event;
  while (whole < payload.size()) {
    const EventType type = static_cast<EventType>(payload[whole]);
    if (entry_type == EventType::kNone ? !IsTimed(type) : type != entry_type) return 0;
    const WireResult result = DecodeRawEvent(payload.substr(whole), &event);
    if (result.status == WireStatus::kTruncated) break;
    if (result.status != WireStatus::kOk) return 0;
    whole += result.size;
  }
  return whole == begin ? 0 : whole;
}

}  // namespace gotrace::internal
