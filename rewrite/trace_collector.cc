#include "rewrite/trace_collector.h"

#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "parser/reader/reader_access.h"
#include "parser/source/borrowed_source.h"

namespace gotrace::internal {
namespace {

// The maximum number of framing faults kept in the plan.
constexpr size_t kStrayKept = 5;

bool IsFraming(FaultId id) {
  return StageOf(id) == FaultStage::kFraming && id != FaultId::kTextInTrace;
}

// Returns whether the batches that were found can be sound despite the fault, because it is only
// about bytes between them or about missing parts.
bool LeavesBatchesSound(FaultId id) {
  switch (id) {
    case FaultId::kGenerationZero:
    case FaultId::kGenerationOrder:
    case FaultId::kGenerationMixed:
    case FaultId::kGenerationIncomplete:
    case FaultId::kEndOfGenerationEvent:
      return true;
    default:
      return IsFraming(id) || StageOf(id) == FaultStage::kTransport;
  }
}

}  // namespace

bool CollectedGeneration::IsSound(Version version) const {
  return sound_batches && sound_events && tables->frequency().has_value() &&
         (version < Version::kGo125 || tables->clock_snapshot().has_value()) &&
         marked_events + dropped_events + unresolved == 0;
}

absl::Status TraceCollector::Open(ByteSource* source, const ReaderLimits& limits) {
  GoToHeader(source);
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  options.limits = limits;
  options.on_fault = [this](const Fault& fault) { Note(fault); };
  ReaderHooks hooks;
  hooks.on_batch = [this](const Batch& batch, const std::optional<Fault>& fault) {
    generation_.sound_batches &= !fault.has_value() && !batch.shortened;
    generation_.batches.push_back(batch);
  };
  hooks.on_generation_end = [this](const GenerationTables& tables, const TableUse&) {
    EndGeneration(tables);
  };
  absl::StatusOr<Reader> reader = ReaderAccess::FromSource(std::make_unique<BorrowedSource>(source),
                                                           std::move(options), std::move(hooks));
  if (!reader.ok()) return reader.status();
  plan_.version = reader->version();
  reader_ = *std::move(reader);
  return absl::OkStatus();
}

absl::Status TraceCollector::ReadAll(std::function<void(CollectedGeneration)> on_generation) {
  on_generation_ = std::move(on_generation);
  while (!passed_limit_.has_value()) {
    const absl::Span<const Event> block = reader_->NextBlock();
    if (block.empty()) break;
    for (const Event& event : block) {
      events_.Add(event);
      regions_nest_ &= event.fault() != FaultId::kRegionNesting;
    }
  }
  if (passed_limit_.has_value()) return FaultStatus(*passed_limit_);
  const Losses& losses = reader_->losses();
  plan_.stray_bytes = losses.skipped_bytes;
  plan_.damaged_batches = losses.dropped_batches;
  plan_.unreadable_bytes = losses.dropped_bytes;
  plan_.text_pieces = losses.text_pieces;
  plan_.text_bytes = losses.text_bytes;
  return reader_->status();
}

void TraceCollector::GoToHeader(ByteSource* source) {
  // An error occurs again when the header is read.
  source->Fill(kMaxBytesBeforeHeader).IgnoreError();
  const size_t pos = FindHeader(source->window().substr(0, kMaxBytesBeforeHeader));
  if (pos != absl::string_view::npos) source->Skip(pos);
  plan_.header_offset = source->offset();
}

void TraceCollector::Note(const Fault& fault) {
  if (IsLimit(fault.id) && !passed_limit_.has_value()) passed_limit_ = fault;
  // The fault is about the file and not about a generation.
  if (StageOf(fault.id) == FaultStage::kTransport) {
    plan_.input_fault = fault;
    return;
  }
  // Only the text is removed.
  if (fault.id == FaultId::kTextInTrace) {
    if (!plan_.first_text.has_value()) plan_.first_text = fault;
    return;
  }
  lost_ |= fault.id != FaultId::kRegionNesting;
  if (fault.cut_off && !plan_.cut_off.has_value()) plan_.cut_off = fault;
  if (IsFraming(fault.id) && plan_.stray.size() < kStrayKept) plan_.stray.push_back(fault);
  if (!LeavesBatchesSound(fault.id)) generation_.sound_events = false;
  if (!generation_.first_fault.has_value()) generation_.first_fault = fault;
}

void TraceCollector::EndGeneration(const GenerationTables& tables) {
  const Losses& losses = reader_->losses();
  generation_.info = &reader_->generation();
  generation_.tables = &tables;
  generation_.events_read = events_.given();
  generation_.events = events_.Take();
  generation_.dropped_events = losses.dropped_events - losses_before_.dropped_events;
  generation_.marked_events = losses.marked_events - losses_before_.marked_events;
  generation_.unresolved = losses.unresolved - losses_before_.unresolved;
  generation_.flawless_so_far = losses.faults == 0;
  generation_.lost_so_far = lost_;
  losses_before_ = losses;
  CollectedGeneration done = std::exchange(generation_, CollectedGeneration());
  if (!passed_limit_.has_value()) on_generation_(std::move(done));
}

}  // namespace gotrace::internal
