// One event as it stands on the wire, uninterpreted.
#ifndef GOTRACE_TRACEV2_RAW_EVENT_H_
#define GOTRACE_TRACEV2_RAW_EVENT_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

// The fields of one stack frame, in the order of the wire.
inline constexpr const char* kFrameFields[] = {"pc", "func", "file", "line"};
inline constexpr int kFrameFieldCount = 4;

// Framing and tables are events too: batches appear as EventBatch events, whose payload follows as
// events of its own.
struct RawEvent {
  EventType type = EventType::kNone;

  // The arguments that the event's row in events.def names; for a Stack event four more for each
  // frame, in order of kFrameFields.
  std::vector<uint64_t> args;

  // The trailing bytes of an event with EventForm::kData. Owned by whoever made the event.
  absl::string_view data;

  // For an EventBatch on its way to WireWriter: that its `size` shall be computed from what follows
  // instead of taken from `args`. The text form says `size=auto`.
  bool auto_size = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_RAW_EVENT_H_
