// Decodes the events that one thread wrote in one generation.
#ifndef GOTRACE_PARSER_ORDER_THREAD_DECODER_H_
#define GOTRACE_PARSER_ORDER_THREAD_DECODER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "parser/generation/generation.h"
#include "parser/generation/table_use.h"
#include "parser/order/batch_decoder.h"

namespace gotrace::internal {

// A timed event and its place. It fills a cache line.
struct alignas(64) DecodedEvent : TimedEvent {
  bool ids_found = false;  // See ThreadDecoder.
  uint32_t batch = 0;      // The index of its batch in Generation::event_batches().
  int64_t time = 0;        // In nanoseconds.
  uint64_t offset = 0;     // The offset of its first byte in the trace.
};
static_assert(sizeof(DecodedEvent) == 64);

// Iterates over the event batches of a thread and decodes many events at a time. Views the
// generation, which must outlive it.
class ThreadDecoder {
 public:
  // With `check_ids`, DecodedEvent::ids_found says whether the tables of the generation have every
  // string and stack that the event refers to; otherwise it stays false. With `use`, which requires
  // `check_ids`, these strings and stacks are recorded there. If an event refers to one that is
  // missing, some of its others may not be recorded.
  ThreadDecoder(const Generation& generation, const ThreadBatches& thread, bool check_ids,
                TableUse* use = nullptr);

  // Decodes the next events into `events`, which must not be empty, and returns their number. All
  // of them are in the same batch(). A return value below the size of `events` does not mean that
  // the events end. 0 means that the thread ends, or that the next bytes cannot be decoded; see
  // failed().
  size_t Decode(absl::Span<DecodedEvent> events);

  // Whether each event of the last Decode() has ids_found set and none is earlier than the one
  // before it. May be wrongly false if their times are damaged.
  bool plain() const { return plain_; }

  // Whether the last Decode() returned 0 because the bytes at offset() are not an event.
  bool failed() const { return pos_ != end_; }

  // The batch being read, and the position of the event that is decoded next.
  uint32_t batch_index() const { return batch_; }
  const EventBatch& batch() const { return generation_.event_batches()[batch_]; }
  uint64_t offset() const { return batch().payload_offset + (pos_ - batch().payload); }
  const char* pos() const { return pos_; }
  const char* end() const { return end_; }

  // The time of the last event in nanoseconds, or of the beginning of the batch.
  int64_t time() const { return time_; }

  // Moves to the place after the event at `offset` of the trace and `time`, in the batch with index
  // `index`, which must be one of the thread's.
  void Seek(uint32_t index, uint64_t offset, int64_t time);

  // Skips the rest of the current batch, and returns its size in bytes.
  size_t SkipBatch();

  // Moves to the thread's next batch that is not empty, unless something is left of the current
  // one. Returns false at the end of the thread.
  bool EnterNextBatch();

  const Generation& generation() const { return generation_; }

 private:
  // Does Decode(). kNotes says whether to record ids in use_, and kGaps whether ids below the
  // largest one of a table may be missing.
  template <bool kNotes, bool kGaps>
  size_t DecodeSome(absl::Span<DecodedEvent> events);

  // Whether the tables have everything that the event refers to, if check_ids_ is set.
  bool FindIds(const TimedEvent& event) const;

  // Sets ids_found of all events, and returns whether it is true for each of them.
  bool FindAllIds(absl::Span<DecodedEvent> events) const;

  const Generation& generation_;
  TableUse* const use_;
  const bool check_ids_;
  const bool has_gaps_;  // Whether the tables of the generation have gaps.
  bool plain_ = false;
  uint32_t batch_;       // The index of the batch being read.
  uint32_t next_batch_;  // The index of the next one, or EventBatch::kLast.
  const char* pos_ = nullptr;
  const char* end_ = nullptr;
  // The time of the last event. With 0, the batch's time is used, as in Go's reader.
  int64_t time_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_THREAD_DECODER_H_
