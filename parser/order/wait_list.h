// Threads whose next event cannot come next, by what must change before it can.
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
    kGoRunnable,     // Goroutine `id` is Runnable, and had its `number`th event last.
    kGoWaiting,      // The same for Waiting.
    kGoNotRunning,   // Goroutine `id` is not Running.
    kProcIdle,       // P `id` is Idle, and had its `number`th event last.
    kProcSyscall,    // The same for a P in a syscall, abandoned or not.
    kProcNoSyscall,  // P `id` is not in a syscall.
    kThread,         // Another thread's event gave or took what thread `id` executes.
    kGC,             // The garbage collector had its `number`th event last.
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

// Holds cursors until a condition of theirs is met, so that events which must wait are not tried
// again and again. Every operation takes logarithmic time, shared out among all of them.
class WaitList {
 public:
  bool empty() const { return parked_ == 0; }
  size_t size() const { return parked_; }

  // Takes in a cursor that waits for any of `conditions`. It must not move while it is in here.
  void Park(ThreadCursor* cursor, absl::Span<const WaitCondition> conditions);

  // Takes out the earliest of the cursors that wait for `condition`, or returns nullptr.
  ThreadCursor* Wake(const WaitCondition& condition);

  // The condition that woke `cursor` last, unless that was asked before.
  std::optional<WaitCondition> TakeReason(const ThreadCursor* cursor);

  // The earliest of all cursors. Requires that there are some.
  ThreadCursor* Earliest();

  // Takes out the earliest of all cursors. Requires that there are some.
  ThreadCursor* TakeEarliest();

  void Clear();

 private:
  // A cursor's place in one of the heaps. It is stale once the cursor has left.
  struct Entry {
    int64_t time;
    uint64_t ticket;  // Given anew each time that a cursor is parked, in rising order.
    ThreadCursor* cursor;

    // Puts the earliest event, and the first to be parked among equals, on top of a heap.
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
  absl::flat_hash_map<const ThreadCursor*, WaitCondition> reasons_;  // Why cursors were woken.
  Heap all_;
  size_t parked_ = 0;
  size_t entries_ = 0;  // Of by_condition_ and all_, stale ones too.
  uint64_t last_ticket_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_WAIT_LIST_H_
