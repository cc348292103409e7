// One thread of a generation, at one of its events.
#ifndef GOTRACE_PARSER_ORDER_THREAD_CURSOR_H_
#define GOTRACE_PARSER_ORDER_THREAD_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "parser/generation/generation.h"
#include "parser/order/batch_decoder.h"
#include "parser/order/thread_decoder.h"

namespace gotrace::internal {

struct ThreadState;

// Iterates over the timed events of one thread in one generation, which must outlive the cursor.
class ThreadCursor {
 public:
  enum class Step : uint8_t { kEvent, kEnd, kFault };

  static constexpr size_t kMaxAhead = 255;  // The largest count that fits in a byte.

  // How far a cursor decodes ahead of its position.
  struct Ahead {
    size_t events = 1;       // The maximum number of events to decode at a time, at most kMaxAhead.
    bool check_ids = false;  // Whether ids_found() is meaningful, see ThreadDecoder.
    TableUse* use = nullptr;  // See ThreadDecoder.
  };

  ThreadCursor(const Generation& generation, const ThreadBatches& thread)
      : ThreadCursor(generation, thread, Ahead{}) {}
  ThreadCursor(const Generation& generation, const ThreadBatches& thread, const Ahead& ahead);

  // A cursor at the same event as `other` that decodes one event at a time.
  ThreadCursor(const ThreadCursor& other);
  ThreadCursor& operator=(const ThreadCursor&) = delete;

  // Moves to the next event, which event(), time() and offset() then return. After kFault, fault()
  // returns the fault.
  Step Advance() {
    if (current_ == last_) return AdvanceFar();
    ++current_;
    return Step::kEvent;
  }

  // Returns the event that Advance() would move to, or nullptr if Advance() would return something
  // else; see EndsNext(). The event is valid until Advance().
  const DecodedEvent* Peek() { return current_ == last_ ? PeekFar() : current_ + 1; }

  // Whether ids_found() is true and Peek() returns an event, which is not earlier if `watches_time`
  // is set.
  [[gnu::noinline]] bool IsPlain(bool watches_time);

  // Whether IsPlain(true) is known to be true without decoding more.
  bool IsKnownPlain() const { return current_ < plain_end_; }

  // Whether Advance() would return kEnd. Requires that Peek() returned nullptr.
  bool EndsNext() const { return !decoder_.failed(); }

  // Skips the rest of the current batch after kFault, and returns its size in bytes. Advance()
  // continues with the thread's next batch.
  size_t SkipBatch() { return decoder_.SkipBatch(); }

  // What SkipAll() skipped.
  struct Rest {
    uint64_t batches = 0;  // Includes the current batch, if any of it is left.
    uint64_t bytes = 0;    // The size of the payloads.
    uint64_t events = 0;   // In each batch, those before the first that cannot be decoded.
  };

  // Skips the rest of the thread, including the event that Advance() returned last or could not
  // decode. Returns what was skipped. After that, Advance() returns kEnd.
  Rest SkipAll();

  ThreadId thread() const { return thread_; }
  const DecodedEvent& event() const { return *current_; }
  int64_t time() const { return current_->time; }  // In nanoseconds.
  bool ids_found() const { return current_->ids_found; }

  // The offset of the event's first byte in the trace.
  uint64_t offset() const { return current_->offset; }
  Place place() const;  // The place of the event.
  Fault fault() const;  // Only after kFault.

  // The scheduler model's state of the thread, looked up once. Set by the SchedulerModel.
  ThreadState* state = nullptr;

  // The ticket under which a WaitList holds the cursor; 0 if it is not in one.
  uint64_t ticket = 0;

 private:
  // The half of the buffer to decode more events into. Events in the other half are still in use.
  absl::Span<DecodedEvent> room() {
    DecodedEvent* const both = ahead_ == nullptr ? own_ : ahead_.get();
    return absl::MakeSpan(both + (second_half_ ? half_size_ : 0), half_size_);
  }
  [[gnu::noinline]] Step AdvanceFar();
  [[gnu::noinline]] const DecodedEvent* PeekFar();

  const ThreadId thread_;
  const DecodedEvent* current_;
  const DecodedEvent* last_;       // The last decoded event of the same half.
  const DecodedEvent* plain_end_;  // Events before it are plain, see IsKnownPlain().
  const uint8_t half_size_;
  uint8_t peeked_ = 0;             // See has_peeked_; 0 at an end or a fault.
  bool second_half_ : 1 = false;   // Whether room() is the second half.
  bool has_peeked_ : 1 = false;    // Whether the next events were decoded into room().
  bool peeked_plain_ : 1 = false;  // ThreadDecoder::plain() for those events.
  ThreadDecoder decoder_;
  std::unique_ptr<DecodedEvent[]> ahead_;  // The buffer if several events are decoded at a time.
  DecodedEvent own_[2];                    // The buffer if not.
};
// A generation may have a hundred thousand threads.
static_assert(sizeof(ThreadCursor) <= 256);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_THREAD_CURSOR_H_
