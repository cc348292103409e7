// The properties of an event, apart from its arguments, in one word.
#ifndef GOTRACE_INTERNAL_EVENT_TAGS_H_
#define GOTRACE_INTERNAL_EVENT_TAGS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"

namespace gotrace::internal {

// The type, kind, states and fault of an event, in one word that is always written as a whole:
// reading a word soon after writing its bytes one by one would stall the processor.
class EventTags {
 public:
  constexpr EventTags() : EventTags(EventType{}, EventKind{}) {}

  // Makes the tags of a sound event that is not a transition.
  constexpr EventTags(EventType type, EventKind kind)
      : EventTags(type, kind, 0, 0, FaultId::kEnd) {}

  constexpr EventType type() const { return static_cast<EventType>(Byte(0)); }
  constexpr EventKind kind() const { return static_cast<EventKind>(Byte(1)); }

  // Return the GoStates or ProcStates of a kStateTransition event.
  constexpr uint8_t from() const { return Byte(2); }
  constexpr uint8_t to() const { return Byte(3); }

  // Returns the fault, or kEnd if there is none.
  constexpr FaultId fault() const { return static_cast<FaultId>(Byte(4)); }

  // Returns these tags with a transition. `State` is GoState or ProcState.
  template <class State>
  constexpr EventTags WithTransition(State from, State to) const {
    return {type(), kind(), static_cast<uint8_t>(from), static_cast<uint8_t>(to), fault()};
  }

  // Returns these tags with a fault.
  constexpr EventTags WithFault(FaultId fault) const {
    return {type(), kind(), from(), to(), fault};
  }

 private:
  constexpr EventTags(EventType type, EventKind kind, uint8_t from, uint8_t to, FaultId fault)
      : bytes_(Shifted(static_cast<uint8_t>(type), 0) | Shifted(static_cast<uint8_t>(kind), 1) |
               Shifted(from, 2) | Shifted(to, 3) | Shifted(static_cast<uint8_t>(fault), 4)) {}

  constexpr uint8_t Byte(int place) const { return static_cast<uint8_t>(bytes_ >> (8 * place)); }

  static constexpr uint64_t Shifted(uint8_t byte, int place) {
    return uint64_t{byte} << (8 * place);
  }

  uint64_t bytes_;
};

// The tags of a sound event, by its type on the wire. States are 0.
inline constexpr std::array<EventTags, 256> kEventTags = [] {
  std::array<EventTags, 256> tags = {};
  for (size_t type = 0; type < tags.size(); ++type) {
    tags[type] = EventTags(static_cast<EventType>(type), kEventKinds[type]);
  }
  return tags;
}();

constexpr EventTags TagsOf(EventType type) { return kEventTags[static_cast<uint8_t>(type)]; }

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_EVENT_TAGS_H_
