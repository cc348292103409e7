// Encodes batches and what stands in them (FORMAT.md §4): the one place where a batch is put
// together from numbers. WireWriter writes a whole trace, event by event, with this.
#ifndef GOTRACE_TRACEV2_BATCH_ENCODER_H_
#define GOTRACE_TRACEV2_BATCH_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

// How the payload size of a batch is encoded.
enum class BatchSizeForm : uint8_t {
  kShortest,  // As every other number.
  kPadded,    // In ten bytes, as Go's runtime does, which knows the size only when the batch ends.
};

// What the header of a batch says besides the size of its payload.
struct BatchHeader {
  static constexpr uint64_t kNoThread = ~uint64_t{0};

  uint64_t generation = 0;
  uint64_t thread = kNoThread;
  uint64_t time = 0;        // In ticks.
  uint64_t experiment = 0;  // 0 for an EventBatch, else an ExperimentalBatch; at most 255.
};

// Appends the payload size of a batch.
void AppendBatchSize(uint64_t size, BatchSizeForm form, std::string* out);

// Appends the header of a batch whose payload has `size` bytes.
void AppendBatchHeader(const BatchHeader& header, uint64_t size, BatchSizeForm form,
                       std::string* out);

// Appends a whole batch.
void AppendBatch(const BatchHeader& header, absl::string_view payload, BatchSizeForm form,
                 std::string* out);

// Appends the type of an event and its numbers, each in its shortest form.
void AppendEvent(EventType type, absl::Span<const uint64_t> numbers, std::string* out);
inline void AppendEvent(EventType type, std::initializer_list<uint64_t> numbers, std::string* out) {
  AppendEvent(type, absl::MakeConstSpan(numbers.begin(), numbers.size()), out);
}

// The same for a timed event, which happened `ticks` after the one before it in its batch.
void AppendTimedEvent(EventType type, uint64_t ticks, absl::Span<const uint64_t> args,
                      std::string* out);
inline void AppendTimedEvent(EventType type, uint64_t ticks, std::initializer_list<uint64_t> args,
                             std::string* out) {
  AppendTimedEvent(type, ticks, absl::MakeConstSpan(args.begin(), args.size()), out);
}

// Appends a String event, an entry of a string table.
void AppendString(uint64_t id, absl::string_view text, std::string* out);

// Collects entries, which must not be divided, in as few batches of one kind as hold them.
class BatchSplitter {
 public:
  // The payload of each batch begins with `kind` unless that is kNone. Batches are appended to
  // `*out`, which must outlive the splitter.
  BatchSplitter(const BatchHeader& header, EventType kind, std::string* out)
      : header_(header), kind_(kind), out_(*out) {}

  // Adds an entry of less than kMaxBatchSize bytes.
  void Add(absl::string_view entry);

  // Writes the last batch. Call it after the last entry.
  void Finish();

 private:
  const BatchHeader header_;
  const EventType kind_;
  std::string& out_;
  std::string payload_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_BATCH_ENCODER_H_
