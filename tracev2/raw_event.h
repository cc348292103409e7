// An event in the form that it has on the wire, not interpreted.
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

// An event on the wire. Framing and tables are events too: a batch is an EventBatch event followed
// by the events of its payload.
struct RawEvent {
  EventType type = EventType::kNone;

  // The arguments of the event's row in events.def; for a Stack event, four more for each frame, in
  // the order of kFrameFields.
  std::vector<uint64_t> args;

  // The trailing bytes of an event with EventForm::kData. Not owned.
  absl::string_view data;

  // For an EventBatch passed to WireWriter: whether its size is computed from the following events
  // and not taken from `args`. `size=auto` in the text form.
  bool auto_size = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_RAW_EVENT_H_
