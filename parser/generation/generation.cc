#include "parser/generation/generation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/fault.h"

namespace gotrace::internal {
namespace {

absl::Status BatchFault(FaultId id, const Batch& batch, std::string message) {
  Fault fault = {id, batch.place(), std::move(message)};
  fault.place.offset = batch.offset;
  return FaultStatus(std::move(fault));
}

absl::Status ZeroGeneration(const Batch& batch) {
  if (batch.kind() == EventType::kEndOfGeneration && batch.payload_offset == batch.offset) {
    Fault fault = {FaultId::kEndOfGenerationEvent, Place(),
                   "expected a batch, found an end of generation, which exists since version "
                   "1.26"};
    fault.place.offset = batch.offset;
    return FaultStatus(std::move(fault));
  }
  return BatchFault(FaultId::kGenerationZero, batch, "expected a generation of 1 or more, found 0");
}

// For an incomplete generation at the end of the trace: marks the fault as cut off if the missing
// part is something that the runtime writes last (the frequency up to Go 1.24, and the strings of
// the stacks).
absl::Status SayIfCut(Version version, const Generation& generation, absl::Status status) {
  std::optional<Fault> fault = FaultOf(status);
  const bool has_late_frequency = version < Version::kGo125 || generation.batch_count() == 0;
  const bool is_late =
      fault.has_value() && (fault->id == FaultId::kStackString ||
                            (fault->id == FaultId::kNoFrequency && has_late_frequency));
  return is_late ? FaultStatus(CutOff(*std::move(fault))) : status;
}

// Whether the status says that the trace continues after the bytes that can be read. Bytes that are
// not a batch do not say so: they may be a program's output that was appended.
bool EndsTooEarly(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value()) return !status.ok();
  return fault->cut_off || StageOf(fault->id) == FaultStage::kTransport;
}

}  // namespace

bool IsSyncBatch(const Batch& batch, Version version) {
  return batch.kind() == (version >= Version::kGo125 ? EventType::kSync : EventType::kFrequency);
}

bool IsEventBatch(const Batch& batch, Version version) {
  switch (batch.kind()) {
    case EventType::kStrings:
    case EventType::kStacks:
    case EventType::kCPUSamples:
    case EventType::kEndOfGeneration:
      return false;
    default:
      return batch.experiment == 0 && !IsSyncBatch(batch, version);
  }
}

Fault IncompleteGeneration(std::optional<uint64_t> number, uint64_t end) {
  Fault fault = {FaultId::kGenerationIncomplete, Place(),
                 "expected an end of generation, found the end of the trace"};
  fault.place.offset = end;
  fault.place.generation = number;
  return CutOff(std::move(fault));
}

Generation::Generation(const ReaderLimits& limits)
    : max_bytes_(std::min(limits.generation_bytes, ReaderLimits::kMaxGenerationBytes)),
      max_threads_(limits.threads) {}

absl::Status Generation::Add(const Batch& batch, Version version) {
  const uint64_t size = batch.payload_offset - batch.offset + batch.payload.size();
  if (size > max_bytes_ - bytes_) {
    return BatchFault(FaultId::kLimitGenerationBytes, batch,
                      LimitMessage(FaultId::kLimitGenerationBytes, max_bytes_, max_bytes_));
  }
  bytes_ += size;
  if (batch_count_++ == 0) begin_offset_ = batch.offset;
  end_offset_ = batch.payload_offset + batch.payload.size();
  if (min_ticks_ == 0 || batch.time < min_ticks_) min_ticks_ = batch.time;
  if (IsEventBatch(batch, version)) return AddEventBatch(batch);
  if (IsSyncBatch(batch, version)) return tables_.AddSync(batch, version);
  switch (batch.kind()) {
    case EventType::kStrings:
      return tables_.AddStrings(batch);
    case EventType::kStacks:
      return tables_.AddStacks(batch);
    case EventType::kCPUSamples:
      return tables_.AddCpuSamples(batch);
    case EventType::kEndOfGeneration:
      return BatchFault(FaultId::kEndOfGenerationEvent, batch,
                        "expected events in a batch, found an end of generation");
    default:
      tables_.AddExperimental(batch);
      return absl::OkStatus();
  }
}

absl::Status Generation::AddEventBatch(const Batch& batch) {
  const auto thread_at = thread_index_.find(batch.thread);
  const bool is_new = thread_at == thread_index_.end();
  if (is_new && threads_.size() >= max_threads_) {
    return BatchFault(FaultId::kLimitThreads, batch,
                      LimitMessage(FaultId::kLimitThreads, max_threads_, max_threads_));
  }
  // A batch without events matters only if it is its thread's first.
  if (!is_new && batch.payload.empty()) return absl::OkStatus();
  const uint32_t index = static_cast<uint32_t>(event_batches_.size());
  EventBatch& added = event_batches_.emplace_back();
  added.payload = batch.payload.data();
  added.size = static_cast<uint32_t>(batch.payload.size());
  added.time = batch.time;
  added.offset = batch.offset;
  added.payload_offset = batch.payload_offset;
  if (is_new) {
    thread_index_.emplace(batch.thread, static_cast<uint32_t>(threads_.size()));
    threads_.push_back({batch.thread, index, index});
    return absl::OkStatus();
  }
  ThreadBatches& thread = threads_[thread_at->second];
  event_batches_[thread.last].next = index;
  thread.last = index;
  return absl::OkStatus();
}

absl::Status Generation::Check(Version version, uint64_t end_offset) const {
  Fault fault;
  fault.place.offset = end_offset;
  if (number_ != 0) fault.place.generation = number_;
  if (!tables_.clock().known()) {
    fault.id = FaultId::kNoFrequency;
    fault.message = "expected a sync batch with a frequency, found none in the generation";
    return FaultStatus(std::move(fault));
  }
  if (version >= Version::kGo125 && !tables_.clock_snapshot().has_value()) {
    fault.id = FaultId::kNoClockSnapshot;
    fault.message = "expected a sync batch with a clock snapshot, found none in the generation";
    return FaultStatus(std::move(fault));
  }
  return tables_.CheckStacks(number_);
}

absl::Status Generation::Finish(Version version, uint64_t end_offset) {
  if (absl::Status status = Check(version, end_offset); !status.ok()) return status;
  tables_.SortSamples();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Generation>> GenerationReader::Next() {
  source_.Release(spill_.has_value() ? spill_->offset : source_.offset());
  return version_ >= Version::kGo126 ? NextWithEnd() : NextWithSpill();
}

absl::StatusOr<std::unique_ptr<Generation>> GenerationReader::NextWithSpill() {
  if (!after_.ok()) return after_;
  if (!first_ && !spill_.has_value()) return nullptr;
  first_ = false;
  auto generation = std::make_unique<Generation>(limits_);
  bool any = false;
  if (spill_.has_value()) {
    any = true;
    generation->set_number(spill_->generation);
    const Batch batch = *std::exchange(spill_, std::nullopt);
    if (absl::Status status = generation->Add(batch, version_); !status.ok()) {
      return status;
    }
  }
  while (true) {
    Batch batch;
    const absl::StatusOr<bool> more = ReadBatch(&source_, &batch);
    if (!more.ok()) {
      // The generation may be complete, if the fault is after it.
      if (!any) return more.status();
      after_ = more.status();
      break;
    }
    if (!*more) break;
    if (batch.generation == 0) return ZeroGeneration(batch);
    if (!any) generation->set_number(batch.generation);
    any = true;
    if (batch.generation == generation->number() + 1) {
      spill_ = batch;
      break;
    }
    if (batch.generation != generation->number()) {
      return BatchFault(
          FaultId::kGenerationOrder, batch,
          absl::StrCat("expected a batch of generation ", generation->number(), " or ",
                       generation->number() + 1, ", found one of ", batch.generation));
    }
    if (absl::Status status = generation->Add(batch, version_); !status.ok()) {
      return status;
    }
  }
  const uint64_t end_offset = spill_.has_value() ? spill_->offset : source_.offset();
  if (absl::Status status = generation->Finish(version_, end_offset); !status.ok()) {
    // The missing part was at or after the place where the trace cannot be read, so the error of
    // reading is better.
    if (!after_.ok()) return after_;
    return spill_.has_value() ? status : SayIfCut(version_, *generation, std::move(status));
  }
  Generation::Integrity& integrity = generation->integrity();
  const bool ends_too_early = EndsTooEarly(after_);
  if (ends_too_early) integrity.cut = after_;
  integrity.is_last = !spill_.has_value() && (after_.ok() || ends_too_early);
  return generation;
}

absl::StatusOr<std::unique_ptr<Generation>> GenerationReader::NextWithEnd() {
  auto generation = std::make_unique<Generation>(limits_);
  uint64_t end_offset = 0;
  while (true) {
    Batch batch;
    const absl::StatusOr<bool> more = ReadBatch(&source_, &batch);
    if (!more.ok()) return more.status();
    end_offset = batch.offset;
    if (!*more) {
      // Go's reader ignores a generation without event batches.
      if (generation->threads().empty()) return nullptr;
      return FaultStatus(IncompleteGeneration(generation->number(), batch.offset));
    }
    if (generation->number() == 0) generation->set_number(batch.generation);
    if (batch.kind() == EventType::kEndOfGeneration) break;
    if (batch.generation == 0) return ZeroGeneration(batch);
    if (batch.generation != generation->number()) {
      return BatchFault(FaultId::kGenerationMixed, batch,
                        absl::StrCat("expected a batch of generation ", generation->number(),
                                     " or its end, found one of ", batch.generation));
    }
    if (absl::Status status = generation->Add(batch, version_); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = generation->Finish(version_, end_offset); !status.ok()) {
    return status;
  }
  return generation;
}

}  // namespace gotrace::internal
