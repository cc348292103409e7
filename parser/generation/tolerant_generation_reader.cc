#include "parser/generation/tolerant_generation_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gotrace::internal {

TolerantGenerationReader::TolerantGenerationReader(ByteSource* source, Version version,
                                                   BatchFinder::Report report, Losses* losses,
                                                   const ReaderLimits& limits)
    : source_(*source),
      version_(version),
      report_(std::move(report)),
      losses_(*losses),
      limits_(limits),
      finder_(source, version, [this](Fault fault) { ReportFraming(std::move(fault)); }) {}

void TolerantGenerationReader::Report(Fault fault) {
  if (fault.place.offset.has_value()) fault.place.offset = InputOffset(*fault.place.offset);
  ReportFraming(std::move(fault));
}

// Reports a fault of the finder, whose offsets are already those of the input.
void TolerantGenerationReader::ReportFraming(Fault fault) {
  // Removing text loses nothing.
  integrity_.damaged |= fault.id != FaultId::kTextInTrace;
  report_(std::move(fault));
}

void TolerantGenerationReader::ReportBatch(FaultId id, const Batch& batch, std::string message) {
  Fault fault = {id, batch.place(), std::move(message)};
  fault.place.offset = batch.offset;
  Report(std::move(fault));
}

bool TolerantGenerationReader::ReadBatch(uint64_t generation, Batch* batch) {
  const bool found = finder_.Next(generation, batch);
  losses_.skipped_bytes = finder_.skipped_bytes();
  losses_.text_pieces = finder_.text_pieces();
  losses_.text_bytes = finder_.text_bytes();
  return found;
}

void TolerantGenerationReader::Drop(const Batch& batch) {
  ++losses_.dropped_batches;
  losses_.dropped_bytes += batch.payload.size();
}

// Skips the rest of a generation that exceeds the limit.
void TolerantGenerationReader::SkipRest() {
  Generation rest;
  rest.set_number(*std::exchange(overlong_, std::nullopt));
  for (Batch batch; ReadBatch(rest.number(), &batch); finder_.Release(source_.offset())) {
    if (batch.kind() == EventType::kEndOfGeneration && version_ >= Version::kGo126) return;
    if (Classify(rest, batch) == Belongs::kNext) {
      spill_ = batch;
      return;
    }
    Drop(batch);
  }
}

absl::StatusOr<std::unique_ptr<Generation>> TolerantGenerationReader::Next() {
  finder_.Release(spill_.has_value() ? spill_->offset : source_.offset());
  if (overlong_.has_value()) SkipRest();
  integrity_ = {};
  sync_damaged_ = false;
  reported_threads_ = false;
  auto generation = std::make_unique<Generation>(limits_);
  bool ended = false;
  Batch batch;
  if (spill_.has_value()) {
    batch = *std::exchange(spill_, std::nullopt);
    generation->set_number(batch.generation);
    Add(batch, generation.get());
  }
  while (!ended && !overlong_.has_value() && ReadBatch(generation->number(), &batch)) {
    if (batch.kind() == EventType::kEndOfGeneration && version_ >= Version::kGo126) {
      ended = generation->batch_count() > 0;
      if (!ended) {
        ReportBatch(FaultId::kEndOfGenerationEvent, batch,
                    "expected the first batch of a generation, found an end of generation");
      }
      continue;
    }
    if (generation->number() == 0 && batch.generation != 0) {
      generation->set_number(BeginsGeneration(batch) ? batch.generation : last_number_ + 1);
    }
    switch (Classify(*generation, batch)) {
      case Belongs::kHere:
        Add(batch, generation.get());
        break;
      case Belongs::kNext:
        if (generation->batch_count() == 0) {
          generation->set_number(batch.generation);
          Add(batch, generation.get());
          break;
        }
        spill_ = batch;
        ended = true;
        break;
      case Belongs::kNowhere:
        Drop(batch);
        sync_left_out_ |= IsSyncBatch(batch, version_);
        break;
    }
  }
  bool is_empty = generation->batch_count() == 0;
  if (version_ < Version::kGo126) {
    if (is_empty && last_number_ == 0 && !integrity_.damaged) ReportNoGeneration();
  } else if (!ended && !integrity_.damaged) {
    // An empty trace is allowed. As in strict mode, tables alone at the end are not a generation.
    is_empty |= generation->threads().empty();
  }
  if (is_empty) {
    const absl::Status& status = finder_.io_status();
    // A fault of compression was already reported.
    if (status.ok() || FaultOf(status).has_value()) return nullptr;
    return status;
  }
  Finish(ended || overlong_.has_value(), generation.get());
  generation->integrity() = integrity_;
  last_number_ = generation->number();
  return generation;
}

// Returns whether the batch can begin a generation: its number is plausible.
bool TolerantGenerationReader::BeginsGeneration(const Batch& batch) {
  if (last_number_ == 0 || batch.generation == last_number_ + 1) return true;
  // Since version 1.26 any number is valid. The last batch of the trace cannot be confirmed.
  if (finder_.AtEnd()) return version_ >= Version::kGo126;
  return finder_.PeekGeneration() == batch.generation;
}

TolerantGenerationReader::Belongs TolerantGenerationReader::Classify(const Generation& generation,
                                                                     const Batch& batch) {
  const uint64_t number = generation.number();
  if (batch.generation == number && number != 0) return Belongs::kHere;
  if (batch.generation == 0) {
    ReportBatch(FaultId::kGenerationZero, batch, "expected a generation of 1 or more, found 0");
    return Belongs::kNowhere;
  }
  // A single batch of another generation among batches of this one has a damaged number. A number
  // other than the next must be confirmed by another batch: searching for batches of a number that
  // does not exist would lose the rest of the trace.
  const std::optional<uint64_t> following = finder_.PeekGeneration();
  const bool is_next = batch.generation == number + 1;
  const bool is_stray = is_next ? following == number : following != batch.generation;
  if (is_next && !is_stray && version_ < Version::kGo126) return Belongs::kNext;
  ReportBatch(
      is_next ? FaultId::kGenerationMixed : FaultId::kGenerationOrder, batch,
      absl::StrCat("expected a batch of generation ", number,
                   version_ >= Version::kGo126 ? " or its end" : " or the next", ", found one of ",
                   batch.generation, is_stray ? " among them, which is skipped" : ""));
  return is_stray ? Belongs::kNowhere : Belongs::kNext;
}

void TolerantGenerationReader::Add(const Batch& batch, Generation* generation) {
  // Reported once: there may be millions of such batches, and a fault costs more than dropping one.
  if (reported_threads_ && generation->LacksThread(batch, version_)) return Drop(batch);
  const absl::Status status = generation->Add(batch, version_);
  const std::optional<Fault> fault = FaultOf(status);
  const bool fits = !fault.has_value() || !IsLimit(fault->id);
  if (observer_ && fits) observer_(batch, fault);
  if (!fault.has_value()) return;
  Drop(batch);
  if (fault->id == FaultId::kLimitGenerationBytes) overlong_ = generation->number();
  reported_threads_ |= fault->id == FaultId::kLimitThreads;
  sync_damaged_ |= IsSyncBatch(batch, version_);
  Report(*fault);
}

void TolerantGenerationReader::ReportNoGeneration() {
  Fault fault = {FaultId::kNoFrequency, Place(),
                 "expected a generation with a frequency, found nothing after the header: the "
                 "program probably ended without calling trace.Stop"};
  fault.place.offset = source_.offset();
  Report(CutOff(std::move(fault)));
}

void TolerantGenerationReader::Finish(bool ended, Generation* generation) {
  const uint64_t end = spill_.has_value() ? spill_->offset : source_.offset();
  integrity_.is_last = !ended;
  integrity_.incomplete = !ended && (version_ >= Version::kGo126 || finder_.truncated());
  // The finder has already reported a trace that ends inside a batch.
  if (integrity_.incomplete && !finder_.truncated()) {
    Report(IncompleteGeneration(generation->number(), end));
  }
  // The tables may be in the part that exceeded the limit, which was reported too.
  integrity_.incomplete |= overlong_.has_value();
  GenerationTables& tables = generation->tables();
  const bool has_sync = tables.clock().known();
  if (!has_sync) {
    // It was already reported that the sync batch was dropped, here or before.
    sync_damaged_ |= std::exchange(sync_left_out_, false);
    TakeClock(end, generation);
  }
  last_clock_ = tables.clock();
  // A missing sync batch was already reported, so its contents are not checked.
  const absl::Status status = has_sync && !sync_damaged_ ? generation->Check(version_, end)
                                                         : tables.CheckStacks(generation->number());
  // Missing table entries are expected in a generation that is cut off.
  if (!status.ok() && !integrity_.incomplete) {
    Fault fault = *FaultOf(status);
    // The runtime writes the last strings last.
    const bool is_cut =
        integrity_.is_last && version_ < Version::kGo126 && fault.id == FaultId::kStackString;
    Report(is_cut ? CutOff(std::move(fault)) : std::move(fault));
  }
  losses_.unresolved += tables.AddMissingFrameStrings().size();
  tables.SortSamples();
}

// Uses the clock of the previous generation, since all clocks of a program have the same frequency.
// If there is none, a tick becomes a nanosecond.
void TolerantGenerationReader::TakeClock(uint64_t end, Generation* generation) {
  generation->tables().BorrowClock(last_clock_.known() ? last_clock_ : TraceClock(1'000'000'000));
  // A cut or damage was already reported, so a fault is needed only if it makes the times wrong.
  if (last_clock_.known() && (integrity_.incomplete || sync_damaged_)) return;
  // Up to Go 1.24 the runtime writes the frequency when the generation ends, before the tables.
  const bool is_cut = integrity_.is_last && version_ < Version::kGo125 && !sync_damaged_;
  integrity_.incomplete |= is_cut;
  Fault fault = {
      FaultId::kNoFrequency, Place(),
      absl::StrCat("expected a sync batch with a frequency, found none in the generation; ",
                   last_clock_.known() ? "using the frequency of the generation before"
                                       : "times are in ticks")};
  fault.place.offset = end;
  fault.place.generation = generation->number();
  Report(is_cut ? CutOff(std::move(fault)) : std::move(fault));
}

}  // namespace gotrace::internal
