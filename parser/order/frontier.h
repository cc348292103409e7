// The threads of a generation, each at its next event, and which of them is earliest.
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

// A binary min-heap of cursors by their events' times. Events that happen at the same time come in
// an order that the heap's shape decides, so its steps are exactly those of Go's reader
// (FORMAT.md §9).
//
// Cursors whose events must wait can be parked: they are no longer in the heap until a condition
// that they wait for is met.
class Frontier {
 public:
  // Whether no cursor is left, in the heap or parked.
  bool empty() const { return size_ == 0 && parked_.empty(); }

  // How many cursors are in the heap.
  size_t size() const { return size_; }

  // How many were inserted since the last Clear().
  size_t inserted() const { return cursors_.size(); }

  // The time of the earliest event of all, parked or not. Requires that there are some.
  int64_t EarliestTime() {
    if (parked_.empty()) return heap_[0].time;
    const int64_t parked = parked_.Earliest()->time();
    return std::min(parked, heap_[0].time);
  }

  // The cursor at `index`; the one at 0 is the earliest.
  ThreadCursor& cursor(size_t index) const { return *heap_[index].cursor; }
  int64_t time(size_t index) const { return heap_[index].time; }

  // Up to which time, this one included, the cursor at 0 stays there as it moves on.
  int64_t FirstUntil() const { return std::min(heap_[1].time, heap_[2].time); }

  // Adds a cursor that stands at an event.
  void Insert(std::unique_ptr<ThreadCursor> cursor);

  // Puts the cursor at `index` where it belongs after it moved to another event.
  void Update(size_t index) {
    if (index == 0) return UpdateFirst(heap_[0].cursor->time());
    heap_[index].time = heap_[index].cursor->time();
    if (SiftUp(index) == index) SiftDown(index, heap_[index]);
  }

  // The same for the cursor at 0, whose event is one of `time` now.
  void UpdateFirst(int64_t time) { SiftDown(0, {time, heap_[0].cursor}); }

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

  // Puts `entry` where it belongs, at `index` or below. What stands at `index` is overwritten.
  // Inline, since every event passes here.
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

  // What stands behind the end of the heap, so that all entries have two children, of which the
  // left one is there if any is.
  static constexpr Entry kNone = {std::numeric_limits<int64_t>::max(), nullptr};
  static constexpr size_t RoomFor(size_t size) { return 2 * size + 1; }

  std::vector<Entry> heap_{RoomFor(1), kNone};
  size_t size_ = 0;  // Of the heap; kNone behind it.
  WaitList parked_;
  std::vector<std::unique_ptr<ThreadCursor>> cursors_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_FRONTIER_H_
