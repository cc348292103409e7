// Reads the generations of a trace that may be damaged.
#ifndef GOTRACE_PARSER_GENERATION_TOLERANT_GENERATION_READER_H_
#define GOTRACE_PARSER_GENERATION_TOLERANT_GENERATION_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"
#include "gotrace/version.h"
#include "parser/event/trace_clock.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"

namespace gotrace::internal {

// Continues after faults of framing, generations and tables: damaged parts are skipped, and the
// rest is returned. For a sound trace it returns the same generations as GenerationReader.
class TolerantGenerationReader final : public GenerationFeed {
 public:
  // The source must be positioned after the header. It and `losses` must outlive the reader.
  // `report` is called with each fault.
  TolerantGenerationReader(ByteSource* source, Version version, BatchFinder::Report report,
                           Losses* losses, const ReaderLimits& limits = {});

  // Called during Next() for each batch of the generation that does not exceed a limit, in order,
  // with the fault in the batch if it is a table and has one. Not called for an end of generation.
  using Observer = std::function<void(const Batch&, const std::optional<Fault>&)>;
  void Observe(Observer observer) { observer_ = std::move(observer); }

  // Returns an error only if the input cannot be read.
  absl::StatusOr<std::unique_ptr<Generation>> Next() override;
  uint64_t next_offset() const override {
    return spill_.has_value() ? spill_->offset : source_.offset();
  }
  uint64_t InputOffset(uint64_t offset) const override { return finder_.InputOffset(offset); }
  std::optional<uint64_t> next_trace() const override { return finder_.next_trace(); }

 private:
  enum class Belongs { kHere, kNext, kNowhere };

  bool ReadBatch(uint64_t generation, Batch* batch);
  bool BeginsGeneration(const Batch& batch);
  void Drop(const Batch& batch);
  void SkipRest();
  Belongs Classify(const Generation& generation, const Batch& batch);
  void Add(const Batch& batch, Generation* generation);
  void ReportNoGeneration();
  void Finish(bool ended, Generation* generation);
  void TakeClock(uint64_t end, Generation* generation);
  void ReportBatch(FaultId id, const Batch& batch, std::string message);
  void Report(Fault fault);
  void ReportFraming(Fault fault);

  ByteSource& source_;
  const Version version_;
  const BatchFinder::Report report_;
  Losses& losses_;
  const ReaderLimits limits_;
  BatchFinder finder_;
  std::optional<Batch> spill_;
  TraceClock last_clock_;
  uint64_t last_number_ = 0;         // The number of the last generation.
  Generation::Integrity integrity_;  // Of the current generation.
  bool sync_damaged_ = false;        // Whether a sync batch of the current generation has a fault.
  bool sync_left_out_ = false;  // Whether a sync batch was dropped, perhaps of the next generation.
  // The number of the last generation, if it exceeds the limit and its rest must still be skipped.
  std::optional<uint64_t> overlong_;
  bool reported_threads_ = false;  // Whether the limit on threads was reported for the generation.
  Observer observer_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_TOLERANT_GENERATION_READER_H_
