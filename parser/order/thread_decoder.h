// Decodes what one thread wrote in one generation.
#ifndef GOTRACE_PARSER_ORDER_THREAD_DECODER_H_
#define GOTRACE_PARSER_ORDER_THREAD_DECODER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "parser/generation/generation.h"
#include "parser/generation/table_use.h"
#include "parser/order/batch_decoder.h"

namespace gotrace::internal {

// A timed event and where it stands. One fills a cache line.
struct alignas(64) DecodedEvent : TimedEvent {
  bool ids_found = false;  // See ThreadDecoder.
  uint32_t batch = 0;      // The index of its batch among the generation's event batches.
  int64_t time = 0;        // In nanoseconds.
  uint64_t offset = 0;     // Of its first byte in the trace.
};
static_assert(sizeof(DecodedEvent) == 64);

// Walks over a thread's event batches, in bulk. Views the generation, which must outlive it.
class ThreadDecoder {
 public:
  // With `check_ids`, DecodedEvent::ids_found tells whether the generation's tables have every
  // string and stack that the event names, when it is decoded. Otherwise it stays false. With
  // `use`, which needs that, those are noted there; of an event that names one that is missing,
  // maybe not all.
  ThreadDecoder(const Generation& generation, const ThreadBatches& thread, bool check_ids,
                TableUse* use = nullptr);

  // Decodes the next events into `events`, which must not be empty, and returns how many: all are
  // of one batch(). Fewer than there is room for do not mean that they end; none mean that the
  // thread ends, or that it goes on with what cannot be decoded: failed() tells.
  size_t Decode(absl::Span<DecodedEvent> events);

  // Whether each event that the last Decode() gave has its ids_found and none is earlier than the
  // one before it. May be false where it is so, if their times are damaged.
  bool plain() const { return plain_; }

  // Whether the last Decode() returned 0 since what stands at offset() is no event.
  bool failed() const { return pos_ != end_; }

  // The index of the batch being read, and where in the trace the event stands that is decoded
  // next.
  uint32_t batch_index() const { return batch_; }
  const EventBatch& batch() const { return generation_.event_batches()[batch_]; }
  uint64_t offset() const { return batch().payload_offset + (pos_ - batch().payload); }
  const char* pos() const { return pos_; }
  const char* end() const { return end_; }

  // The time of the last event in nanoseconds, or where the batch begins.
  int64_t time() const { return time_; }

  // Goes to the event at `offset` of the trace, in the batch at `index`, one of the thread's. The
  // event before it was at `time`.
  void Seek(uint32_t index, uint64_t offset, int64_t time);

  // Leaves the rest of the batch being read, and returns how many bytes that was.
  size_t SkipBatch();

  // Goes to the thread's next batch that holds something, unless there is something left of this
  // one. Returns false at the thread's end.
  bool EnterNextBatch();

  const Generation& generation() const { return generation_; }

 private:
  // As Decode(), with kNotes if use_ is to be told, and kGaps if ids before the last one of a table
  // may have no entry.
  template <bool kNotes, bool kGaps>
  size_t DecodeSome(absl::Span<DecodedEvent> events);

  // Whether the tables have all that the event names, if that is asked for.
  bool FindIds(const TimedEvent& event) const;

  // Sets ids_found of all of them, and returns whether it is true of each.
  bool FindAllIds(absl::Span<DecodedEvent> events) const;

  const Generation& generation_;
  TableUse* const use_;
  const bool check_ids_;
  const bool has_gaps_;  // Of the generation's tables.
  bool plain_ = false;
  uint32_t batch_;       // Index of the batch being read.
  uint32_t next_batch_;  // The one after it, or EventBatch::kLast.
  const char* pos_ = nullptr;
  const char* end_ = nullptr;
  int64_t time_ = 0;  // Of the last event. Zero asks for the batch's own time, as in Go's reader.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_THREAD_DECODER_H_
