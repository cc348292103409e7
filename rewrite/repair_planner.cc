#include "rewrite/repair_planner.h"

#include <optional>
#include <string>
#include <utility>

#include "rewrite/repair_pieces.h"
#include "rewrite/table_source.h"

namespace gotrace::internal {
namespace {

// Returns the time of the earliest batch, in ticks.
uint64_t FirstTime(const std::vector<Batch>& batches) {
  uint64_t first = 0;
  for (const Batch& batch : batches) {
    if (first == 0 || batch.time < first) first = batch.time;
  }
  return first;
}

std::optional<uint64_t> FrequencyOf(const GenerationTables& tables) {
  if (!tables.frequency().has_value()) return std::nullopt;
  return tables.frequency()->ticks_per_second;
}

}  // namespace

void LeaveApart(RepairedGeneration* generation) {
  generation->fate = GenerationFate::kApart;
  generation->events = generation->output_end = 0;
  generation->regions = RegionChanges();
}

void RepairPlanner::Add(CollectedGeneration generation) {
  RepairedGeneration found;
  found.number = generation.info->number;
  found.begin_offset = generation.info->begin_offset;
  found.end_offset = generation.info->end_offset;
  found.fault = generation.first_fault;
  const std::optional<uint64_t> frequency = FrequencyOf(*generation.tables);
  Plan(std::move(generation), &found);
  plan_.generations.push_back(std::move(found));
  if (frequency.has_value()) clocks_.NoteFrequency(*frequency);
}

void RepairPlanner::Plan(CollectedGeneration generation, RepairedGeneration* found) {
  const GenerationTables& tables = *generation.tables;
  if (generation.info->ends_with_trace && !generation.info->has_event_batches) {
    found->fate = GenerationFate::kEmpty;
    return;
  }
  if (!run_.generations.empty() && found->number == run_.last_number) {
    // A generation that appears twice is kept once.
    LeaveApart(found);
    return;
  }
  if (found->number < run_.last_number) EndRun();
  const OwnTables own(tables);
  GenerationContent content(own);
  content.SetEvents(std::move(generation.events));
  content.begin = tables.clock().ToNs(FirstTime(generation.batches));
  content.samples = tables.cpu_samples();
  content.experimental_batches = ExperimentalBatches(tables);
  found->clock = clocks_.Set(FrequencyOf(tables), tables.clock_snapshot(), &content);
  const bool has_new_regions = ChangeRegions(generation.lost_so_far, &content, found);
  const bool takes_any_number = run_.generations.empty() || plan_.version >= Version::kGo126;
  const uint64_t number = takes_any_number ? found->number : run_.last_new_number + 1;
  content.number = number;
  OutputGeneration output;
  output.index = plan_.generations.size();
  std::string bytes;
  const WrittenGeneration written = run_.writer->Write(std::move(content), &bytes);
  // As long as nothing is wrong, Go's reader accepts whatever the Reader accepts.
  const bool was_sound = generation.flawless_so_far && !changed_regions_;
  const bool is_sound =
      was_sound || (!has_new_regions && generation.IsSound(plan_.version) && !written.changed);
  if (number != found->number) found->new_number = number;
  if (is_sound) {
    found->fate = GenerationFate::kKept;
    // After a fault, the Reader may not know a P that a goroutine loses as it ends.
    found->events = generation.flawless_so_far ? generation.events_read
                                               : written.events - written.statuses_added;
    found->clock = RepairedGeneration::Clock::kOwn;
    AddBatches(generation.batches, number, plan_.version, &output.pieces);
  } else {
    found->fate = GenerationFate::kRewritten;
    found->events = written.events;
    found->events_left_out = written.events_left_out + generation.dropped_events;
    found->events_added = written.events_added;
    found->statuses_added = written.statuses_added;
    found->entries_added = written.strings_added + generation.unresolved;
    AddBytes(std::move(bytes), &output.pieces);
  }
  run_.events += found->events;
  run_.last_number = found->number;
  run_.last_new_number = number;
  run_.generations.push_back(std::move(output));
}

// Returns whether it changed anything.
bool RepairPlanner::ChangeRegions(bool lost, GenerationContent* content,
                                  RepairedGeneration* found) {
  if (regions_ == nullptr) return false;
  if (!regions_->planned()) {
    regions_->Collect(content, lost);
    return false;
  }
  const std::optional<RegionChanges> changes = regions_->Apply(content);
  if (!changes.has_value()) return false;
  found->regions = *changes;
  return changed_regions_ = true;
}

// Keeps the run with the most events.
void RepairPlanner::EndRun() {
  if (run_.events > best_.events) std::swap(run_, best_);
  for (const OutputGeneration& generation : run_.generations) {
    LeaveApart(&plan_.generations[generation.index]);
  }
  run_ = Run(plan_.version);
  if (regions_ != nullptr) regions_->BeginRun();
}

void RepairPlanner::Finish() {
  EndRun();
  if (best_.generations.empty()) return;
  plan_.output_bytes = kHeaderSize;
  AddInput(plan_.header_offset, plan_.header_offset + kHeaderSize, &plan_.pieces);
  for (OutputGeneration& generation : best_.generations) {
    plan_.events += plan_.generations[generation.index].events;
    for (RepairPiece& piece : generation.pieces) {
      plan_.output_bytes += SizeOf(piece);
      AddPiece(std::move(piece), &plan_.pieces);
    }
    plan_.generations[generation.index].output_end = plan_.output_bytes;
  }
}

}  // namespace gotrace::internal
