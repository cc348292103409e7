// Generations: the parts of a trace that each bring their own tables (FORMAT.md §6).
#ifndef GOTRACE_PARSER_GENERATION_GENERATION_H_
#define GOTRACE_PARSER_GENERATION_GENERATION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "gotrace/reader_limits.h"
#include "gotrace/version.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation_tables.h"

namespace gotrace::internal {

// Whether `batch` is one that tells a generation's clock, in a trace of `version`.
bool IsSyncBatch(const Batch& batch, Version version);

// A batch of timed events, not yet decoded.
struct EventBatch {
  static constexpr uint32_t kLast = static_cast<uint32_t>(-1);

  const char* payload = nullptr;
  uint32_t size = 0;            // Of the payload, in bytes.
  uint32_t next = kLast;        // The thread's next batch, as an index.
  uint64_t time = 0;            // Where its time differences begin, in ticks.
  uint64_t offset = 0;          // Of its first byte in the trace.
  uint64_t payload_offset = 0;  // Of its payload's first byte in the trace.
};

// Whether a batch of a trace of `version` holds timed events, rather than a table, CPU samples,
// what belongs to a sync, or the data of an experiment.
bool IsEventBatch(const Batch& batch, Version version);

// The fault of a trace that ends at `end` inside of a generation, whose number may not be known
// (FORMAT.md §6.3).
Fault IncompleteGeneration(std::optional<uint64_t> number, uint64_t end);

// The event batches of one thread, in the trace's order.
struct ThreadBatches {
  ThreadId thread;
  uint32_t first = 0;  // Index of its first batch.
  uint32_t last = 0;   // Index of its last batch.
};

// Everything that a trace holds of one generation. Views the source's bytes.
class Generation {
 public:
  explicit Generation(const ReaderLimits& limits = {});

  // Takes in one batch. Faults: those of tables, end-of-generation-event, and of batches that it
  // has no room for, which it leaves out: limit-generation-bytes, limit-threads.
  absl::Status Add(const Batch& batch, Version version);

  // Checks that the generation, which was found to end at `end_offset`, is whole once all of its
  // batches were added. Faults: no-frequency, no-clock-snapshot, stack-string.
  absl::Status Check(Version version, uint64_t end_offset) const;

  // The same, and prepares its samples if it is whole.
  absl::Status Finish(Version version, uint64_t end_offset);

  // Whether Add() would refuse `batch` since there is no room for its thread.
  bool LacksThread(const Batch& batch, Version version) const {
    return threads_.size() >= most_threads_ && IsEventBatch(batch, version) &&
           !thread_index_.contains(batch.thread);
  }

  uint64_t number() const { return number_; }
  void set_number(uint64_t number) { number_ = number; }

  // The earliest time of any of its batches, in ticks; 0 if it has none.
  uint64_t min_ticks() const { return min_ticks_; }

  // Where its first batch begins and its last one ends in the trace.
  uint64_t begin_offset() const { return begin_offset_; }
  uint64_t end_offset() const { return end_offset_; }

  // Threads with event batches, in order of their first one.
  absl::Span<const ThreadBatches> threads() const { return threads_; }
  const std::deque<EventBatch>& event_batches() const { return event_batches_; }

  // How many bytes its batches have, with their headers.
  uint64_t bytes() const { return bytes_; }

  // Batches of all kinds; an EndOfGeneration event is none.
  uint64_t batch_count() const { return batch_count_; }

  GenerationTables& tables() { return tables_; }
  const GenerationTables& tables() const { return tables_; }

 private:
  absl::Status AddEventBatch(const Batch& batch);

  const uint64_t most_bytes_;
  const uint64_t most_threads_;
  uint64_t number_ = 0;
  uint64_t min_ticks_ = 0;
  uint64_t begin_offset_ = 0;
  uint64_t end_offset_ = 0;
  uint64_t batch_count_ = 0;
  uint64_t bytes_ = 0;
  std::deque<EventBatch> event_batches_;  // There may be millions: a vector would copy them.
  std::vector<ThreadBatches> threads_;
  absl::flat_hash_map<ThreadId, uint32_t> thread_index_;
  GenerationTables tables_;
};

// Reads one generation after the other.
class GenerationReader {
 public:
  // The source must stand behind the header and outlive the reader.
  GenerationReader(ByteSource* source, Version version, const ReaderLimits& limits = {})
      : source_(*source), version_(version), limits_(limits) {}

  // What Next() came to.
  enum class Outcome {
    kGeneration,  // `generation` holds the next one.
    kEnd,         // The trace ends here, as it may.
    kFault,       // `status` tells why there is no further one.
  };
  struct Result {
    Outcome outcome = Outcome::kEnd;
    std::unique_ptr<Generation> generation;
    absl::Status status;
  };

  // Reads the next generation. The source's bytes of the one before are released: nothing may view
  // them any more. Not to be called again after kEnd or kFault.
  Result Next();

  // Where reading stands in the trace.
  uint64_t offset() const { return source_.offset(); }

  // Where the generation begins that Next() would read.
  uint64_t next_offset() const { return spill_.has_value() ? spill_->offset : offset(); }

  // Whether the generation that Next() gave last, or found a fault in, ends only because the trace
  // does. Since Go 1.26 none does.
  bool ends_with_trace() const {
    return version_ < Version::kGo126 && after_.ok() && !spill_.has_value();
  }

  // Why nothing can be read behind the generation that Next() gave last, if that is known: then it
  // may lack what stood there.
  const absl::Status& after() const { return after_; }

 private:
  // Up to Go 1.25 a generation ends where a batch of the next one stands, which is kept for then.
  Result NextWithSpill();
  // Since Go 1.26 an EndOfGeneration event ends it.
  Result NextWithEnd();

  ByteSource& source_;
  const Version version_;
  const ReaderLimits limits_;
  bool first_ = true;
  std::optional<Batch> spill_;  // The first batch of the next generation.
  absl::Status after_;          // Why what follows the last generation cannot be read.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_GENERATION_H_
