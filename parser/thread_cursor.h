// One thread of a generation, at one of its events.
#ifndef GOTRACE_PARSER_THREAD_CURSOR_H_
#define GOTRACE_PARSER_THREAD_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "parser/batch_decoder.h"
#include "parser/decode_ahead.h"
#include "parser/fault.h"
#include "parser/generation.h"
#include "parser/ids.h"
#include "parser/thread_decoder.h"

namespace gotrace {

struct ThreadState;

// Walks over the timed events of one thread in one generation, which must outlive it.
class ThreadCursor {
 public:
  enum class Step : uint8_t { kEvent, kEnd, kFault };

  // How far a cursor decodes ahead of where it stands.
  struct Ahead {
    size_t events = 1;       // How many it decodes at a time, at most.
    bool check_ids = false;  // Whether ids_found() tells something, see ThreadDecoder.
    // Who decodes the next of them while those before are used, if anyone does. The cursor must
    // live until it forgot all requests, or ended.
    DecodeAhead* helper = nullptr;
  };

  ThreadCursor(const Generation& generation, const ThreadBatches& thread)
      : ThreadCursor(generation, thread, Ahead{}) {}
  ThreadCursor(const Generation& generation, const ThreadBatches& thread, const Ahead& ahead);

  // A cursor at the same event as `other`, that decodes one event at a time.
  ThreadCursor(const ThreadCursor& other);
  ThreadCursor& operator=(const ThreadCursor&) = delete;

  // Goes to the next event: event(), time() and offset() then give it. At kFault, fault() does.
  Step Advance() {
    if (current_ == last_) return Refill();
    ++current_;
    return Step::kEvent;
  }

  // The next event, if it was decoded already, or nullptr. Advance() cannot fail then.
  const DecodedEvent* Peek() const { return current_ == last_ ? nullptr : current_ + 1; }

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
  // decode, and returns what that was. Advance() gives kEnd then. Requires that there is no helper.
  Rest SkipAll();

  ThreadId thread() const { return thread_; }
  const TimedEvent& event() const { return current_->event; }
  int64_t time() const { return current_->time; }  // In nanoseconds.
  bool ids_found() const { return current_->ids_found; }

  // Of the event's first byte in the trace.
  uint64_t offset() const { return payload_offset_ + current_->position; }
  Place place() const;  // Of the event.
  Fault fault() const;  // After kFault.

  // The scheduler model's state of the thread, looked up once. Set by the Scheduler.
  ThreadState* state = nullptr;

  // Under which a WaitList holds the cursor; 0 if none does.
  uint64_t ticket = 0;

 private:
  // Where the next events are put.
  absl::Span<DecodedEvent> room() {
    if (ahead_ == nullptr) return absl::MakeSpan(&own_, 1);
    return absl::MakeSpan(ahead_.get() + (second_half_ ? ahead_size_ : 0), ahead_size_);
  }
  Step Refill();
  void AskForMore();

  const ThreadId thread_;
  const DecodedEvent* current_;
  const DecodedEvent* last_;     // Of those that are decoded.
  uint64_t payload_offset_ = 0;  // Of their batch.
  uint32_t batch_;               // Its index.
  ThreadDecoder decoder_;
  DecodedEvent own_;                       // Where one is decoded at a time,
  std::unique_ptr<DecodedEvent[]> ahead_;  // and where more are; twice with a helper.
  size_t ahead_size_ = 0;
  bool second_half_ = false;
  bool asked_ = false;
  DecodeAhead* const helper_ = nullptr;
  DecodeAhead::Request request_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_THREAD_CURSOR_H_
