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
#include "gotrace/read_mode.h"
#include "gotrace/version.h"
#include "parser/event/trace_clock.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"

namespace gotrace::internal {

// Like GenerationReader, but goes on after faults of framing, generations and tables: what is
// damaged is left out, and the rest is given. A sound trace gives the same generations.
class TolerantGenerationReader {
 public:
  // The source must stand behind the header. It and `losses` must outlive the reader. `report` is
  // told each fault.
  TolerantGenerationReader(ByteSource* source, Version version, BatchFinder::Report report,
                           Losses* losses, const ReaderLimits& limits = {});

  // Told each batch of the generation that there is room for, in order, while Next() reads, and the
  // fault in its tables if it has one. An end of generation is no batch.
  using Observer = std::function<void(const Batch&, const std::optional<Fault>&)>;
  void Observe(Observer observer) { observer_ = std::move(observer); }

  // Reads the next generation; nullptr at the end of the trace. The source's bytes of the one
  // before are released: nothing may view them any more.
  std::unique_ptr<Generation> Next();

  // Whether something of the last generation is missing, so that what follows cannot be held
  // against it.
  bool damaged() const { return damaged_; }

  // Whether the last generation may lack tables that were never written, since the trace ends in
  // it.
  bool incomplete() const { return incomplete_; }

  // Whether the last generation ends only because the trace does, without a sign of its own.
  bool is_last() const { return is_last_; }

  // Tells that tables of the last generation were found missing, since the trace ends in it.
  void SetIncomplete() { incomplete_ = true; }

  uint64_t offset() const { return source_.offset(); }

  // See BatchFinder.
  uint64_t InputOffset(uint64_t offset) const { return finder_.InputOffset(offset); }

  // Where the generation begins that Next() would read.
  uint64_t next_offset() const { return spill_.has_value() ? spill_->offset : offset(); }

  // Where another trace begins, at which this one ends; the source then stays there.
  std::optional<uint64_t> next_trace() const { return finder_.next_trace(); }

  // The first error of I/O.
  const absl::Status& io_status() const { return finder_.io_status(); }

 private:
  enum class Belongs { kHere, kNext, kNowhere };

  bool ReadBatch(uint64_t generation, Batch* batch);
  bool BeginsGeneration(const Batch& batch);
  void LeaveOut(const Batch& batch);
  void SkipRest();
  Belongs Judge(const Generation& generation, const Batch& batch);
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
  uint64_t last_number_ = 0;  // Of the last generation given.
  bool damaged_ = false;
  bool incomplete_ = false;
  bool is_last_ = false;
  bool sync_damaged_ = false;   // Whether a sync batch of the generation at hand has a fault.
  bool sync_left_out_ = false;  // Whether one was left out, maybe of the next generation.
  // The last generation given, if it has more than the limit allows, which is still to be skipped.
  std::optional<uint64_t> overlong_;
  bool told_threads_ = false;  // Whether it was told that the generation has too many threads.
  Observer observer_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_TOLERANT_GENERATION_READER_H_
