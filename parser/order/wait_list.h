// A list of threads whose next event has to wait, by the conditions for which it waits.
#ifndef GOTRACE_PARSER_ORDER_WAIT_LIST_H_
#define GOTRACE_PARSER_ORDER_WAIT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace gotrace::internal {

class ThreadCursor;

// A change in the state of the program that events wait for.
struct WaitCondition {
  enum class Kind : uint8_t {
    kGoRunnable,     // Goroutine `id` is Runnable, and its last number is `number`.
    kGoWaiting,      // Goroutine `id` is Waiting, and its last number is `number`.
    kGoNotRunning,   // Goroutine `id` is not Running.
    kProcIdle,       // P `id` is Idle, and its last number is `number`.
    kProcSyscall,    // P `id` is in a syscall, and its last number is `number`.
    kProcNoSyscall,  // P `id` is not in a syscall.
    kThread,         // Another thread's event changed what thread `id` executes.
    kGC,             // The last number of the garbage collector is `number`.
  };
  Kind kind;
  int64_t id = 0;
  uint64_t number = 0;

  friend bool operator==(const WaitCondition& a, const WaitCondition& b) {
    return a.kind == b.kind && a.id == b.id && a.number == b.number;
  }
  template <class H>
  friend H AbslHashValue(H h, const WaitCondition& condition) {
    return H::combine(std::move(h), condition.kind, condition.id, condition.number);
  }
};

// Holds cursors until one of their conditions is met, so that events that must wait are not tried
// again and again. Every operation takes amortized logarithmic time.
class WaitList {
 public:
  bool empty() const { return parked_ == 0; }
  size_t size() const { return parked_; }

  // Adds a cursor that waits for any of `conditions`. It must not move while it is in the list.
  void Park(ThreadCursor* cursor, absl::Span<const WaitCondition> conditions);

  // Removes and returns the earliest of the cursors that wait for `condition`, or returns nullptr.
  ThreadCursor* Wake(const WaitCondition& condition);

  // Returns the condition that woke `cursor` last, unless it was already taken.
  std::optional<WaitCondition> TakeReason(const ThreadCursor* cursor);

  // Returns the earliest cursor. Requires that the list is not empty.
  ThreadCursor* Earliest();

  // Removes and returns the earliest cursor. Requires that the list is not empty.
  ThreadCursor* TakeEarliest();

  void Clear();

 private:
  // A cursor's entry in one of the heaps. It is stale after the cursor has left the list.
  struct Entry {
    int64_t time;
    uint64_t ticket;  // A new one each time a cursor is parked, in increasing order.
    ThreadCursor* cursor;

    // Orders a heap so that the earliest event is on top, and among equals the one parked first.
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.time != b.time ? a.time > b.time : a.ticket > b.ticket;
    }
  };
  using Heap = std::vector<Entry>;

  void Push(const Entry& entry, Heap* heap);
  void Pop(Heap* heap);
  void PopStale(Heap* heap);
  ThreadCursor* Take(const Entry& entry);
  void DropStale();

  absl::flat_hash_map<WaitCondition, Heap> by_condition_;
  absl::flat_hash_map<const ThreadCursor*, WaitCondition> reasons_;  // Why each cursor was woken.
  Heap all_;
  size_t parked_ = 0;
  size_t entries_ = 0;  // The number of entries in by_condition_ and all_, including stale ones.
  uint64_t last_ticket_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_WAIT_LIST_H_
