// Events on their way into a trace: what GenerationWriter writes.
#ifndef GOTRACE_REWRITE_WRITER_EVENT_H_
#define GOTRACE_REWRITE_WRITER_EVENT_H_

#include <cstdint>
#include <vector>

#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"

namespace gotrace::internal {

// A timed event as it is to stand on the wire, with the context that it is to be seen in.
struct WriterEvent {
  EventType type = EventType::kNone;
  ThreadId thread = ThreadId::kNone;  // Whose event it is; kNone for no thread.

  // What the thread executes just before the event, kNone where that is nothing or not known. For
  // the types that say themselves what they are about it need not be given.
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;

  int64_t time = 0;  // In nanoseconds of the trace's clock.

  // The arguments of its row in events.def, without the time difference. Sequence numbers are
  // assigned when the event is written, except for the first one of the GC.
  uint64_t args[4] = {};
};

// Turns the events that a Reader gives into those of the wire.
class WriterEventCollector {
 public:
  // Adds what `event` stands for. kSync events and CPU samples stand for nothing here: they belong
  // to the generation's tables.
  void Add(const Event& event);

  const std::vector<WriterEvent>& events() const { return events_; }

  // Gives up and returns the events since the last Take().
  std::vector<WriterEvent> Take();

  // How many events a Reader gave of those, and of CPU samples, since the last Take().
  uint64_t given() const { return given_; }

 private:
  std::vector<WriterEvent> events_;
  uint64_t given_ = 0;
  uint64_t last_offset_ = 0;  // Of the last one in events_.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_WRITER_EVENT_H_
