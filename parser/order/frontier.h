// The threads of a generation, each at its next event, ordered by time.
#ifndef GOTRACE_PARSER_ORDER_FRONTIER_H_
#define GOTRACE_PARSER_ORDER_FRONTIER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "parser/order/thread_cursor.h"
#include "parser/order/thread_decoder.h"
#include "parser/order/wait_list.h"

namespace gotrace::internal {

// A binary min-heap of cursors, ordered by the times of their events. The shape of the heap decides
// the order of events with equal times, so its steps are exactly those of Go's reader (FORMAT.md
// §9).
//
// Cursors whose events must wait can be parked. A parked cursor is not in the heap until a
// condition that it waits for is met.
class Frontier {
 public:
  // Returns whether there are no cursors, neither in the heap nor parked.
  bool empty() const { return size_ == 0 && parked_.empty(); }

  // Returns the number of cursors in the heap.
  size_t size() const { return size_; }

  // Returns the number of cursors inserted since the last Clear().
  size_t inserted() const { return cursors_.size(); }

  // Returns the time of the earliest event, parked or not. Requires that the frontier is not empty.
  int64_t EarliestTime() {
    if (parked_.empty()) return heap_[0].time;
    const int64_t parked = parked_.Earliest()->time();
    return std::min(parked, heap_[0].time);
  }

  // Returns the cursor at `index` of the heap. The cursor at 0 is the earliest.
  ThreadCursor& cursor(size_t index) const { return *heap_[index].cursor; }
  int64_t time(size_t index) const { return heap_[index].time; }

  // Returns the latest time that an event of the cursor at 0 may have for the cursor to stay first.
  int64_t FirstUntil() const { return std::min(heap_[1].time, heap_[2].time); }

  // Adds a cursor that is at an event.
  void Insert(std::unique_ptr<ThreadCursor> cursor);

  // Restores the heap after the cursor at `index` moved to another event.
  void Update(size_t index) {
    if (index == 0) return UpdateFirst(heap_[0].cursor->time());
    heap_[index].time = heap_[index].cursor->time();
    if (SiftUp(index) == index) SiftDown(index, heap_[index]);
  }

  // Like Update(0), for a cursor whose event is now at `time`.
  void UpdateFirst(int64_t time) { SiftDown(0, {time, heap_[0].cursor}); }

  // Removes the cursor at `index` from the heap.
  void Remove(size_t index);

  // Sorts the cursors of the heap by time. The result is a heap too.
  void Sort();

  bool has_parked() const { return !parked_.empty(); }

  // Parks the cursor at 0 until one of `conditions` is met. Returns the condition that woke it
  // after it was last parked, if any, even if the cursor has moved since: other cursors may wait
  // for the same condition.
  std::optional<WaitCondition> Park(absl::Span<const WaitCondition> conditions);

  // Moves the earliest of the cursors that wait for `condition` back into the heap, if there is
  // one.
  void Wake(const WaitCondition& condition);

  // Moves the earliest parked cursor back into the heap. Requires that there is one.
  void WakeEarliest();

  // Moves all parked cursors back into the heap.
  void WakeAll();

  void Clear();

 private:
  struct Entry {
    int64_t time;
    ThreadCursor* cursor;
  };

  void Push(ThreadCursor* cursor);
  size_t SiftUp(size_t index);

  // Places `entry` at `index` or below it, and overwrites the entry at `index`. Inline, because it
  // runs for every event.
  void SiftDown(size_t index, const Entry entry) {
    Entry* const heap = heap_.data();
    while (true) {
      size_t child = 2 * index + 1;
      child += heap[child + 1].time < heap[child].time;
      if (heap[child].time >= entry.time) break;
      heap[index] = heap[child];
      index = child;
    }
    heap[index] = entry;
  }

  // Fills the vector after the end of the heap, so that every entry has two children. The left
  // child exists if either does.
  static constexpr Entry kNone = {std::numeric_limits<int64_t>::max(), nullptr};
  static constexpr size_t RoomFor(size_t size) { return 2 * size + 1; }

  std::vector<Entry> heap_{RoomFor(1), kNone};
  size_t size_ = 0;  // The size of the heap; the rest of the vector is kNone.
  WaitList parked_;
  std::vector<std::unique_ptr<ThreadCursor>> cursors_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_FRONTIER_H_
