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

// Walks over the timed events of one thread in one generation, which must outlive it.
class ThreadCursor {
 public:
  enum class Step : uint8_t { kEvent, kEnd, kFault };

  static constexpr size_t kMostAhead = 255;  // What a byte can count.

  // How far a cursor decodes ahead of where it stands.
  struct Ahead {
    size_t events = 1;        // How many it decodes at a time, at most; never above kMostAhead.
    bool check_ids = false;   // Whether ids_found() tells something, see ThreadDecoder,
    TableUse* use = nullptr;  // and what that notes.
  };

  ThreadCursor(const Generation& generation, const ThreadBatches& thread)
      : ThreadCursor(generation, thread, Ahead{}) {}
  ThreadCursor(const Generation& generation, const ThreadBatches& thread, const Ahead& ahead);

  // A cursor at the same event as `other`, that decodes one event at a time.
  ThreadCursor(const ThreadCursor& other);
  ThreadCursor& operator=(const ThreadCursor&) = delete;

  // Goes to the next event: event(), time() and offset() then give it. At kFault, fault() does.
  Step Advance() {
    if (current_ == last_) return AdvanceFar();
    ++current_;
    return Step::kEvent;
  }

  // The event that Advance() would go to, or nullptr where it would give something else: EndsNext()
  // tells what. It is valid until Advance().
  const DecodedEvent* Peek() { return current_ == last_ ? PeekFar() : current_ + 1; }

  // Whether ids_found(), and Peek() gives an event, which with `watches_time` is not earlier.
  [[gnu::noinline]] bool IsPlain(bool watches_time);

  // Whether IsPlain(true), as far as is known without looking further.
  bool IsKnownPlain() const { return current_ < plain_end_; }

  // Whether Advance() would give kEnd. Requires that Peek() gave nullptr.
  bool EndsNext() const { return !decoder_.failed(); }

  // Leaves the rest of the batch being read, after kFault: Advance() goes on with the thread's next
  // one. Returns how many bytes were left.
  size_t SkipBatch() { return decoder_.SkipBatch(); }

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
  const DecodedEvent& event() const { return *current_; }
  int64_t time() const { return current_->time; }  // In nanoseconds.
  bool ids_found() const { return current_->ids_found; }

  // Of the event's first byte in the trace.
  uint64_t offset() const { return current_->offset; }
  Place place() const;  // Of the event.
  Fault fault() const;  // After kFault.

  // The scheduler model's state of the thread, looked up once. Set by the Scheduler.
  ThreadState* state = nullptr;

  // Under which a WaitList holds the cursor; 0 if none does.
  uint64_t ticket = 0;

 private:
  // Where further events are put: there are two halves, as those before are still in use.
  absl::Span<DecodedEvent> room() {
    DecodedEvent* const both = ahead_ == nullptr ? own_ : ahead_.get();
    return absl::MakeSpan(both + (second_half_ ? half_size_ : 0), half_size_);
  }
  [[gnu::noinline]] Step AdvanceFar();
  [[gnu::noinline]] const DecodedEvent* PeekFar();

  const ThreadId thread_;
  const DecodedEvent* current_;
  const DecodedEvent* last_;       // Of those that are decoded, in one half.
  const DecodedEvent* plain_end_;  // Those before it are plain, see IsKnownPlain().
  const uint8_t half_size_;
  uint8_t peeked_ = 0;             // See has_peeked_; 0 at an end or a fault.
  bool second_half_ : 1 = false;   // Whether room() is the second half.
  bool has_peeked_ : 1 = false;    // Whether those behind last_ were decoded into room(),
  bool peeked_plain_ : 1 = false;  // and what the decoder told of them, see ThreadDecoder.
  ThreadDecoder decoder_;
  std::unique_ptr<DecodedEvent[]> ahead_;  // Where more than one are decoded at a time,
  DecodedEvent own_[2];                    // and where they are not.
};
// A generation may have a hundred thousand threads.
static_assert(sizeof(ThreadCursor) <= 256);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_THREAD_CURSOR_H_
