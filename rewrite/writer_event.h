// The events that GenerationWriter writes.
#ifndef GOTRACE_REWRITE_WRITER_EVENT_H_
#define GOTRACE_REWRITE_WRITER_EVENT_H_

#include <cstdint>
#include <vector>

#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"

namespace gotrace::internal {

// A timed event to write, with the context in which a reader must see it.
struct WriterEvent {
  EventType type = EventType::kNone;
  uint32_t number = 0;                // Among the events of its generation, for messages.
  ThreadId thread = ThreadId::kNone;  // The event's thread; kNone for no thread.

  // The goroutine and P of the thread just before the event; kNone if none or unknown. Not required
  // for types whose arguments identify the goroutine or P.
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;

  int64_t time = 0;  // In nanoseconds of the trace's clock.

  // The arguments of its row in events.def, without the time difference. Sequence numbers are
  // assigned when the event is written, except for the first one of the GC.
  uint64_t args[4] = {};
};

// Converts the events that a Reader returns to events on the wire.
class WriterEventCollector {
 public:
  // Adds the wire event of `event`, and returns it; it may be changed until the next call. Returns
  // nullptr for an event that is part of the one before, and for kSync events and CPU samples,
  // which belong to the generation's tables.
  WriterEvent* Add(const Event& event);

  // Adds an event that is on the wire.
  void Append(const WriterEvent& event) { events_.push_back(event); }

  // Returns whether `event` is a part of the one on the wire to which the event before belongs.
  bool Continues(const Event& event) const {
    return ContinuesSwitch(event) || EndsAfterLossOfProc(event);
  }

  // Returns the number of wire events since the last Take().
  size_t size() const { return events_.size(); }

  // Returns the events since the last Take(), and clears them.
  std::vector<WriterEvent> Take();

  // Returns the number of events added since the last Take(), including CPU samples.
  uint64_t given() const { return given_; }

 private:
  // Return whether `event` and the last of events_ are parts of one event on the wire. The programs
  // that build events need not give them offsets, so there is more to compare.
  bool ContinuesSwitch(const Event& event) const;
  bool EndsAfterLossOfProc(const Event& event) const;

  std::vector<WriterEvent> events_;
  uint64_t given_ = 0;
  uint64_t last_offset_ = 0;  // The offset of the last of events_.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_WRITER_EVENT_H_
