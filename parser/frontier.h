// The threads of a generation, each at its next event, and which of them is earliest.
#ifndef GOTRACE_PARSER_FRONTIER_H_
#define GOTRACE_PARSER_FRONTIER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "parser/batch_decoder.h"
#include "parser/fault.h"
#include "parser/generation.h"
#include "parser/ids.h"
#include "parser/wait_list.h"

namespace gotrace {

struct ThreadState;

// Walks over the event batches of one thread in one generation.
class ThreadCursor {
 public:
  enum class Step : uint8_t { kEvent, kEnd, kFault };

  ThreadCursor(const Generation& generation, const ThreadBatches& thread);

  // Decodes the next event: event(), time() and offset() then give it. At kFault, fault() does.
  Step Advance();

  // Leaves the rest of the batch being read: Advance() goes on with the thread's next one. Returns
  // how many bytes were left.
  size_t SkipBatch();

  // What was left of a thread.
  struct Rest {
    uint64_t batches = 0;  // The one being read included, if anything of it is left.
    uint64_t bytes = 0;    // Of their payloads.
    uint64_t events = 0;   // In each batch those before the first that cannot be decoded.
  };

  // Leaves all of the thread from the event on that Advance() gave last, or that it could not
  // decode, and returns what that was. Advance() gives kEnd then.
  Rest SkipAll();

  ThreadId thread() const { return thread_; }
  const TimedEvent& event() const { return event_; }
  int64_t time() const { return time_; }  // In nanoseconds.
  uint64_t offset() const;                // Of the event's first byte in the trace.
  Place place() const;                    // Of the event.
  Fault fault() const;

  // The scheduler model's state of the thread, looked up once. Set by the Scheduler.
  ThreadState* state = nullptr;

  // Under which a WaitList holds the cursor; 0 if none does.
  uint64_t ticket = 0;

 private:
  bool EnterNextBatch();

  const Generation& generation_;
  const ThreadId thread_;
  uint32_t batch_;       // Index of the batch being read.
  uint32_t next_batch_;  // The one after it, or EventBatch::kLast.
  const char* event_pos_ = nullptr;
  const char* pos_ = nullptr;
  const char* end_ = nullptr;
  int64_t time_ = 0;  // Of the last event. Zero asks for the batch's own time, as in Go's reader.
  TimedEvent event_;
};

// A binary min-heap of cursors by their events' times. Events that happen at the same time come in
// an order that the heap's shape decides, so its steps are exactly those of Go's reader
// (FORMAT.md §9).
//
// Cursors whose events must wait can be parked: they are no longer in the heap until a condition
// that they wait for is met.
class Frontier {
 public:
  // Whether no cursor is left, in the heap or parked.
  bool empty() const { return heap_.empty() && parked_.empty(); }

  // How many cursors are in the heap.
  size_t size() const { return heap_.size(); }

  // How many were inserted since the last Clear().
  size_t inserted() const { return cursors_.size(); }

  // The time of the earliest event of all, parked or not. Requires that there are some.
  int64_t EarliestTime() {
    if (parked_.empty()) return heap_[0].time;
    const int64_t parked = parked_.Earliest()->time();
    return heap_.empty() ? parked : std::min(parked, heap_[0].time);
  }

  // The cursor at `index`; the one at 0 is the earliest.
  ThreadCursor& cursor(size_t index) const { return *heap_[index].cursor; }
  int64_t time(size_t index) const { return heap_[index].time; }

  // Adds a cursor that stands at an event.
  void Insert(std::unique_ptr<ThreadCursor> cursor);

  // Puts the cursor at `index` where it belongs after it moved to another event.
  void Update(size_t index);

  // Takes out the cursor at `index`.
  void Remove(size_t index);

  // Puts all cursors of the heap in order of time, which is a heap too.
  void Sort();

  bool has_parked() const { return !parked_.empty(); }

  // Parks the cursor at 0 until one of `conditions` is met. Returns the condition that woke it
  // since it was parked last, if one did, even if it moved on since: others may wait for that too.
  std::optional<WaitCondition> Park(absl::Span<const WaitCondition> conditions);

  // Puts the earliest of the cursors that wait for `condition` back into the heap, if there is one.
  void Wake(const WaitCondition& condition);

  // Puts the earliest parked cursor back into the heap. Requires that there is one.
  void WakeEarliest();

  // Puts all parked cursors back into the heap.
  void WakeAll();

  void Clear();

 private:
  struct Entry {
    int64_t time;
    ThreadCursor* cursor;
  };

  void Push(ThreadCursor* cursor);
  size_t SiftUp(size_t index);
  void SiftDown(size_t index);

  std::vector<Entry> heap_;
  WaitList parked_;
  std::vector<std::unique_ptr<ThreadCursor>> cursors_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_FRONTIER_H_
