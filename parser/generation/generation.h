// Generations: the parts of a trace, each with its own tables (FORMAT.md §6).
#ifndef GOTRACE_PARSER_GENERATION_GENERATION_H_
#define GOTRACE_PARSER_GENERATION_GENERATION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// Returns whether `batch` is a sync batch in a trace of `version`.
bool IsSyncBatch(const Batch& batch, Version version);

// A batch of timed events, not yet decoded.
struct EventBatch {
  static constexpr uint32_t kLast = static_cast<uint32_t>(-1);

  const char* payload = nullptr;
  uint32_t size = 0;            // The size of the payload, in bytes.
  uint32_t next = kLast;        // The index of the thread's next batch.
  uint64_t time = 0;            // The base of its time differences, in ticks.
  uint64_t offset = 0;          // The offset of its first byte in the trace.
  uint64_t payload_offset = 0;  // The offset of its payload's first byte in the trace.
};

// Returns whether a batch of a trace of `version` holds timed events, and not a table, CPU samples,
// clock data, or the data of an experiment.
bool IsEventBatch(const Batch& batch, Version version);

// Returns the fault of a trace that ends at `end` inside a generation, whose number may not be
// known (FORMAT.md §6.3).
Fault IncompleteGeneration(std::optional<uint64_t> number, uint64_t end);

// The event batches of one thread, in the trace's order.
struct ThreadBatches {
  ThreadId thread;
  uint32_t first = 0;  // The index of its first batch.
  uint32_t last = 0;   // The index of its last batch.
};

// One generation of a trace. It has views of the source's bytes.
class Generation {
 public:
  explicit Generation(const ReaderLimits& limits = {});

  // Adds one batch. Faults: those of tables, end-of-generation-event, and limit-generation-bytes
  // and limit-threads for batches that exceed a limit, which are not added.
  absl::Status Add(const Batch& batch, Version version);

  // Checks that the generation is complete. Call it after adding all of its batches; `end_offset`
  // is where it ends. Faults: no-frequency, no-clock-snapshot, stack-string.
  absl::Status Check(Version version, uint64_t end_offset) const;

  // Like Check(), and sorts the samples if the generation is complete.
  absl::Status Finish(Version version, uint64_t end_offset);

  // Returns whether Add() would reject `batch` because of the limit on threads.
  bool LacksThread(const Batch& batch, Version version) const {
    return threads_.size() >= max_threads_ && IsEventBatch(batch, version) &&
           !thread_index_.contains(batch.thread);
  }

  uint64_t number() const { return number_; }
  void set_number(uint64_t number) { number_ = number; }

  // Returns the earliest time of all its batches, in ticks; 0 if it has none.
  uint64_t min_ticks() const { return min_ticks_; }

  // Returns the offset of its first batch in the trace.
  uint64_t begin_offset() const { return begin_offset_; }

  // Returns the offset after its last batch in the trace.
  uint64_t end_offset() const { return end_offset_; }

  // Returns the threads with event batches, in order of their first event batches.
  absl::Span<const ThreadBatches> threads() const { return threads_; }

  // Returns the event batches of all threads, in file order.
  const std::deque<EventBatch>& event_batches() const { return event_batches_; }

  // Returns the total size of its batches, including their headers, in bytes.
  uint64_t bytes() const { return bytes_; }

  // Returns the number of batches of all kinds, not counting an EndOfGeneration event.
  uint64_t batch_count() const { return batch_count_; }

  GenerationTables& tables() { return tables_; }
  const GenerationTables& tables() const { return tables_; }

  // The parts that may be missing from a generation. Set by a GenerationFeed.
  struct Integrity {
    // Whether something of it is missing, so that contradictions in events need not be faults.
    bool damaged = false;
    // Whether it has no end marker and ends only with the trace.
    bool is_last = false;
    // Whether it may lack tables that were never written, because the trace ends in it.
    bool incomplete = false;
    // The error with which reading the rest of the trace, which may belong to this generation,
    // fails. OK if no more of the trace is known to exist, or if the next generation follows.
    absl::Status cut;
  };
  Integrity& integrity() { return integrity_; }
  const Integrity& integrity() const { return integrity_; }

 private:
  absl::Status AddEventBatch(const Batch& batch);

  const uint64_t max_bytes_;
  const uint64_t max_threads_;
  uint64_t number_ = 0;
  uint64_t min_ticks_ = 0;
  uint64_t begin_offset_ = 0;
  uint64_t end_offset_ = 0;
  uint64_t batch_count_ = 0;
  uint64_t bytes_ = 0;
  std::deque<EventBatch> event_batches_;  // A deque, since a vector would copy millions of them.
  std::vector<ThreadBatches> threads_;
  absl::flat_hash_map<ThreadId, uint32_t> thread_index_;
  GenerationTables tables_;
  Integrity integrity_;
};

// Returns the generations of a trace in order.
class GenerationFeed {
 public:
  virtual ~GenerationFeed() = default;

  // Returns the next generation, nullptr at the end of the trace, or why there is no further
  // generation. Releases the source's bytes of the previous one, of which no views may be used any
  // more. Must not be called again after the end or an error.
  virtual absl::StatusOr<std::unique_ptr<Generation>> Next() = 0;

  // Returns the offset of the generation that Next() would read.
  virtual uint64_t next_offset() const = 0;

  // Returns the offset in the input of the byte at `offset` in the current generation.
  virtual uint64_t InputOffset(uint64_t offset) const { return offset; }

  // Returns the offset of another trace, at which this one ends. The source stays there.
  virtual std::optional<uint64_t> next_trace() const { return std::nullopt; }
};

// Reads generations up to the first fault.
class GenerationReader final : public GenerationFeed {
 public:
  // The source must be positioned after the header, and must outlive the reader.
  GenerationReader(ByteSource* source, Version version, const ReaderLimits& limits = {})
      : source_(*source), version_(version), limits_(limits) {}

  absl::StatusOr<std::unique_ptr<Generation>> Next() override;
  uint64_t next_offset() const override {
    return spill_.has_value() ? spill_->offset : source_.offset();
  }

 private:
  // Up to Go 1.25, a generation ends at the first batch of the next one, which is kept in spill_.
  absl::StatusOr<std::unique_ptr<Generation>> NextWithSpill();

  // Since Go 1.26, an EndOfGeneration event ends a generation.
  absl::StatusOr<std::unique_ptr<Generation>> NextWithEnd();

  ByteSource& source_;
  const Version version_;
  const ReaderLimits limits_;
  bool first_ = true;
  std::optional<Batch> spill_;  // The first batch of the next generation.
  absl::Status after_;          // Why nothing can be read after the last generation.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_GENERATION_H_
