// Explains why an event cannot come next, and which event must come first.
#ifndef GOTRACE_PARSER_ORDER_OBSTACLE_H_
#define GOTRACE_PARSER_ORDER_OBSTACLE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// An event that others wait for, identified by what it must do to a goroutine, a P or the garbage
// collector.
struct AwaitedEvent {
  enum class Kind : uint8_t {
    kNone,      // No event would help: the waiting event contradicts earlier ones.
    kNumbered,  // The event of the resource with sequence number `number`, of any type.
    kMention,   // The first event of the generation that mentions the resource.
    kLeave,     // The event by which the resource leaves `thread`. It has no number.
    kEarlier,   // An earlier event that has the sequence number of the waiting one.
  };
  Kind kind = Kind::kNone;
  EventType type = EventType::kNone;            // The likeliest type; others may do as well.
  ResourceKind resource = ResourceKind::kNone;  // kNone means the garbage collector.
  int64_t id = -1;                              // The id of the goroutine or P.
  uint64_t number = 0;                          // For kNumbered.
  // For kLeave: the thread that must have the event; none if no thread has the resource.
  ThreadId thread;

  // Whether both are the same event. Types are ignored, because they are guesses.
  friend bool operator==(const AwaitedEvent& a, const AwaitedEvent& b) {
    return a.kind == b.kind && a.resource == b.resource && a.id == b.id && a.number == b.number &&
           a.thread == b.thread;
  }
  template <class H>
  friend H AbslHashValue(H h, const AwaitedEvent& a) {
    return H::combine(std::move(h), a.kind, a.resource, a.id, a.number, a.thread);
  }
};

// What prevents an event from coming next.
struct Obstacle {
  std::string why;  // For example "goroutine 7 is Running on thread 12, must be Waiting".
  AwaitedEvent awaited;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_OBSTACLE_H_
