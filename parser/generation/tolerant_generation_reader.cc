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

// Reports what the finder did, which knows where it is in the input.
void TolerantGenerationReader::ReportFraming(Fault fault) {
  // Where text was removed, nothing is missing.
  damaged_ |= fault.id != FaultId::kTextInTrace;
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

void TolerantGenerationReader::LeaveOut(const Batch& batch) {
  ++losses_.dropped_batches;
  losses_.dropped_bytes += batch.payload.size();
}

// Goes to where the generation after the one ends of which there is more than the limit allows.
void TolerantGenerationReader::SkipRest() {
  Generation rest;
  rest.set_number(*std::exchange(overlong_, std::nullopt));
  for (Batch batch; ReadBatch(rest.number(), &batch); finder_.Release(source_.offset())) {
    if (batch.kind() == EventType::kEndOfGeneration && version_ >= Version::kGo126) return;
    if (Judge(rest, batch) == Belongs::kNext) {
      spill_ = batch;
      return;
    }
    LeaveOut(batch);
  }
}

std::unique_ptr<Generation> TolerantGenerationReader::Next() {
  finder_.Release(spill_.has_value() ? spill_->offset : source_.offset());
  if (overlong_.has_value()) SkipRest();
  damaged_ = false;
  incomplete_ = false;
  sync_damaged_ = false;
  told_threads_ = false;
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
    switch (Judge(*generation, batch)) {
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
        LeaveOut(batch);
        sync_left_out_ |= IsSyncBatch(batch, version_);
        break;
    }
  }
  if (generation->batch_count() == 0) {
    // Since 1.26 a trace may be empty.
    if (last_number_ == 0 && !damaged_ && version_ < Version::kGo126) ReportNoGeneration();
    return nullptr;
  }
  // As in strict mode: tables alone, at the end of a trace, are no generation.
  const bool has_events = !generation->threads().empty();
  if (!ended && !damaged_ && !has_events && version_ >= Version::kGo126) return nullptr;
  Finish(ended || overlong_.has_value(), generation.get());
  last_number_ = generation->number();
  return generation;
}

// Whether the number of the batch that comes first is to be believed.
bool TolerantGenerationReader::BeginsGeneration(const Batch& batch) {
  if (last_number_ == 0 || batch.generation == last_number_ + 1) return true;
  // Since 1.26 any number will do; for what the trace ends with nothing can confirm it.
  if (finder_.AtEnd()) return version_ >= Version::kGo126;
  return finder_.PeekGeneration() == batch.generation;
}

TolerantGenerationReader::Belongs TolerantGenerationReader::Judge(const Generation& generation,
                                                                  const Batch& batch) {
  const uint64_t number = generation.number();
  if (batch.generation == number && number != 0) return Belongs::kHere;
  if (batch.generation == 0) {
    ReportBatch(FaultId::kGenerationZero, batch, "expected a generation of 1 or more, found 0");
    return Belongs::kNowhere;
  }
  // A batch of another generation alone among this one's has a damaged number. One that is not the
  // next must be confirmed by another: to look for batches of a number that does not exist would
  // lose the rest of the trace.
  const std::optional<uint64_t> behind = finder_.PeekGeneration();
  const bool is_next = batch.generation == number + 1;
  const bool is_stray = is_next ? behind == number : behind != batch.generation;
  if (is_next && !is_stray && version_ < Version::kGo126) return Belongs::kNext;
  ReportBatch(
      is_next ? FaultId::kGenerationMixed : FaultId::kGenerationOrder, batch,
      absl::StrCat("expected a batch of generation ", number,
                   version_ >= Version::kGo126 ? " or its end" : " or the next", ", found one of ",
                   batch.generation, is_stray ? " among them, which is left out" : ""));
  return is_stray ? Belongs::kNowhere : Belongs::kNext;
}

void TolerantGenerationReader::Add(const Batch& batch, Generation* generation) {
  // It is told once. There may be millions, and a fault costs more than to leave out a batch.
  if (told_threads_ && generation->LacksThread(batch, version_)) return LeaveOut(batch);
  const absl::Status status = generation->Add(batch, version_);
  const std::optional<Fault> fault = FaultOf(status);
  const bool fits = !fault.has_value() || !IsLimit(fault->id);
  if (observer_ && fits) observer_(batch, fault);
  if (!fault.has_value()) return;
  LeaveOut(batch);
  if (fault->id == FaultId::kLimitGenerationBytes) overlong_ = generation->number();
  told_threads_ |= fault->id == FaultId::kLimitThreads;
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
  is_last_ = !ended;
  incomplete_ = !ended && (version_ >= Version::kGo126 || finder_.truncated());
  // That the trace ends inside a batch was told already.
  if (incomplete_ && !finder_.truncated()) {
    Report(IncompleteGeneration(generation->number(), end));
  }
  // The tables may be in what there was no room for, which was told too.
  incomplete_ |= overlong_.has_value();
  GenerationTables& tables = generation->tables();
  const bool has_sync = tables.clock().known();
  if (!has_sync) {
    // It was told of the sync batch that it was left out, here or before.
    sync_damaged_ |= std::exchange(sync_left_out_, false);
    TakeClock(end, generation);
  }
  last_clock_ = tables.clock();
  // What belongs into a sync batch that is missing was told with it.
  const absl::Status status = has_sync && !sync_damaged_ ? generation->Check(version_, end)
                                                         : tables.CheckStacks(generation->number());
  // In a generation that was cut off it is no wonder if tables lack something.
  if (!status.ok() && !incomplete_) {
    Fault fault = *FaultOf(status);
    // The runtime writes the last strings last.
    const bool is_cut = is_last_ && version_ < Version::kGo126 && fault.id == FaultId::kStackString;
    Report(is_cut ? CutOff(std::move(fault)) : std::move(fault));
  }
  losses_.unresolved += tables.AddMissingFrameStrings().size();
  tables.SortSamples();
}

// Clocks of one program run alike. Without any, a tick is told as a nanosecond.
void TolerantGenerationReader::TakeClock(uint64_t end, Generation* generation) {
  generation->tables().BorrowClock(last_clock_.known() ? last_clock_ : TraceClock(1'000'000'000));
  // What was cut off or damaged was told already, unless it makes the times wrong.
  if (last_clock_.known() && (incomplete_ || sync_damaged_)) return;
  // Up to Go 1.24 the runtime writes the frequency when the generation ends, before the tables.
  const bool is_cut = is_last_ && version_ < Version::kGo125 && !sync_damaged_;
  incomplete_ |= is_cut;
  Fault fault = {
      FaultId::kNoFrequency, Place(),
      absl::StrCat("expected a sync batch with a frequency, found none in the generation; times "
                   "are given ",
                   last_clock_.known() ? "with that of the generation before" : "in ticks")};
  fault.place.offset = end;
  fault.place.generation = generation->number();
  Report(is_cut ? CutOff(std::move(fault)) : std::move(fault));
}

}  // namespace gotrace::internal
