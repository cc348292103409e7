// Why an event cannot come next, and which event must come first.
#ifndef GOTRACE_PARSER_ORDER_OBSTACLE_H_
#define GOTRACE_PARSER_ORDER_OBSTACLE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// An event that others wait for, told by what it must do to a goroutine, a P or the garbage
// collector.
struct AwaitedEvent {
  enum class Kind : uint8_t {
    kNone,      // No event would help: the waiting one contradicts what came before it.
    kNumbered,  // The event of the resource with `number`, whatever its type.
    kMention,   // The first one in the generation that tells of the resource.
    kLeave,     // The one by which the resource leaves `thread`. It has no sequence number.
    kEarlier,   // One that had to come earlier: the waiting event bears the number it would have.
  };
  Kind kind = Kind::kNone;
  EventType type = EventType::kNone;            // The likeliest; others may do as well.
  ResourceKind resource = ResourceKind::kNone;  // kNone is the garbage collector.
  int64_t id = -1;                              // Of the goroutine or P.
  uint64_t number = 0;                          // With kNumbered: the sequence number.
  ThreadId thread;  // With kLeave: the one that must make it; none if no thread has the resource.

  // Whether both stand for the same event. Their types are guesses and may differ.
  friend bool operator==(const AwaitedEvent& a, const AwaitedEvent& b) {
    return a.kind == b.kind && a.resource == b.resource && a.id == b.id && a.number == b.number &&
           a.thread == b.thread;
  }
  template <class H>
  friend H AbslHashValue(H h, const AwaitedEvent& a) {
    return H::combine(std::move(h), a.kind, a.resource, a.id, a.number, a.thread);
  }
};

// What stands between an event and its turn.
struct Obstacle {
  std::string why;  // "goroutine 7 is Running on thread 12, must be Waiting".
  AwaitedEvent awaited;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_OBSTACLE_H_
