// What an event is, apart from its arguments.
#ifndef GOTRACE_PARSER_EVENT_TAGS_H_
#define GOTRACE_PARSER_EVENT_TAGS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "parser/event_kind.h"
#include "parser/fault.h"
#include "tracev2/event_type.h"

namespace gotrace {

// One word, so that all of it is written at once.
struct alignas(8) EventTags {
  EventType type = EventType::kNone;
  EventKind kind = EventKind::kNone;
  uint8_t from = 0;  // For kStateTransition: a GoState or ProcState.
  uint8_t to = 0;
  FaultId fault = FaultId::kEnd;  // kEnd for none.
  uint8_t unused[3] = {};         // So that a copy is one word.
};
static_assert(sizeof(EventTags) == 8);

// Those of a sound event, by its type on the wire. What depends on more is 0.
inline constexpr std::array<EventTags, 256> kEventTags = [] {
  std::array<EventTags, 256> tags = {};
  for (size_t type = 0; type < tags.size(); ++type) {
    tags[type] = {static_cast<EventType>(type), kEventKinds[type]};
  }
  return tags;
}();

}  // namespace gotrace

#endif  // GOTRACE_PARSER_EVENT_TAGS_H_
