// How a trace is repaired:
//
// 1. It is read strictly. If that succeeds, it stays as it is.
// 2. Otherwise TraceCollector reads it in ReadMode::kSalvage, and collects each generation with
//    what is wrong with it.
// 3. RepairPlanner decides what becomes of each generation. It writes all of them again, with
//    GenerationWriter, to find out what would have to change: where that is nothing, the batches
//    of the input are kept. If regions do not nest, steps 2 and 3 are done twice.
// 4. The output consists of pieces of the input and of generations that were written again. It is
//    read strictly, and generations with a fault are dropped.
// 5. If the frequency of the clock is wrong in a way that is known, it is corrected.
// 6. The output is read from the input, which must not have changed.
#include "gotrace/repair.h"

#include <algorithm>
#include <utility>

#include "gotrace/reader.h"
#include "parser/event/undivided_clock.h"
#include "parser/generation/generation_tables.h"
#include "parser/reader/reader_access.h"
#include "parser/source/borrowed_source.h"
#include "parser/source/steady_input.h"
#include "parser/source/stoppable_source.h"
#include "rewrite/region_rewriter.h"
#include "rewrite/repair_pieces.h"
#include "rewrite/repair_planner.h"
#include "rewrite/trace_collector.h"

namespace gotrace::internal {
namespace {

// How many bytes Repair() passes on at once.
constexpr size_t kCopyBlock = 1 << 16;

// The frequencies of a trace's generations.
struct Frequencies {
  std::vector<GenerationTables::Frequency> all;
  UndividedClock undivided;
};

// Reads a trace to its end. Returns its version, and stores the number of its events with and
// without kSync events, and its frequencies.
absl::StatusOr<Version> ReadStrictly(ByteSource* source, const ReaderLimits& limits,
                                     RepairPlan* plan, Frequencies* frequencies) {
  ReaderOptions options;
  options.limits = limits;
  int64_t begin = 0;  // Of the generation.
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables& tables, const TableUse&) {
    if (!tables.frequency().has_value()) return;
    frequencies->all.push_back(*tables.frequency());
    frequencies->undivided.AddGeneration(tables.frequency()->ticks_per_second, begin);
  };
  absl::StatusOr<Reader> reader = ReaderAccess::FromSource(std::make_unique<BorrowedSource>(source),
                                                           std::move(options), std::move(hooks));
  if (!reader.ok()) return reader.status();
  plan->events = 0;
  plan->events_with_syncs = 0;
  while (true) {
    const absl::Span<const Event> block = reader->NextBlock();
    if (block.empty()) break;
    // Only the first event of a block can be a kSync event.
    const bool is_sync = block.front().kind() == EventKind::kSync;
    if (is_sync) begin = block.front().time();
    plan->events_with_syncs += block.size();
    plan->events += block.size() - (is_sync ? 1 : 0);
  }
  if (!reader->status().ok()) return reader->status();
  return reader->version();
}

// Opens the input, and undoes its damage in transport. Each reading has the same bytes, or fails.
class UndoneInputs {
 public:
  // `open` must outlive this object, and may own the bytes of the sources.
  UndoneInputs(const OpenInput& open, const ReaderLimits& limits) : open_(open), limits_(limits) {}

  // Opens the input of a plan.
  UndoneInputs(const OpenInput& open, const RepairPlan& plan)
      : open_(open), steady_({plan.input_bytes, plan.input_hash}) {}

  absl::StatusOr<std::unique_ptr<ByteSource>> Open() {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open_();
    if (!source.ok()) return source.status();
    absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits_);
    if (!input.ok()) return input.status();
    notes_ = std::move(input->notes);
    return steady_.Watch(std::move(input->source));
  }

  // Return the findings of the sources so far.
  const std::vector<TransportNote>& notes() const { return notes_; }
  std::optional<InputBytes> bytes() const { return steady_.bytes(); }

 private:
  const OpenInput& open_;
  const ReaderLimits limits_;
  const SteadyInput steady_;
  std::vector<TransportNote> notes_;
};

// Reads the output as Go's reader would, counts its events, and stores its frequencies.
absl::Status Verify(UndoneInputs* inputs, const ReaderLimits& limits, RepairPlan* plan,
                    Frequencies* frequencies) {
  absl::StatusOr<std::unique_ptr<ByteSource>> input = inputs->Open();
  if (!input.ok()) return input.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      SourceFromStream(ReadPieces(plan->pieces, *std::move(input)));
  if (!source.ok()) return source.status();
  RepairPlan read;
  *frequencies = Frequencies();
  const absl::Status status = ReadStrictly(source->get(), limits, &read, frequencies).status();
  plan->events_with_syncs = read.events_with_syncs;
  // After a fault, the rest shows whether the input has changed.
  absl::Status rest = ReadToEnd(source->get());
  return rest.ok() ? status : rest;
}

// Corrects the frequencies of the output if they were not divided. Their length stays the same,
// since numbers may have more bytes than they need.
absl::Status DivideFrequencies(const Frequencies& frequencies, UndoneInputs* inputs,
                               const ReaderLimits& limits, RepairPlan* plan) {
  if (plan->version != Version::kGo122 || !frequencies.undivided.IsFound()) {
    return absl::OkStatus();
  }
  std::vector<Replacement> replacements;
  for (const auto& [frequency, offset] : frequencies.all) {
    std::string number;
    uint64_t rest = frequency / UndividedClock::kDivisor;
    for (uint64_t old = frequency; old >= 0x80; old >>= 7, rest >>= 7) {
      number.push_back(static_cast<char>(rest | 0x80));
    }
    number.push_back(static_cast<char>(rest));
    replacements.push_back({offset + 1, std::move(number)});
  }
  RepairPlan divided = *plan;
  if (!Replace(replacements, &divided.pieces)) return absl::OkStatus();
  Frequencies now;
  const absl::Status status = Verify(inputs, limits, &divided, &now);
  if (!status.ok() && !FaultOf(status).has_value()) return status;
  if (!status.ok() || now.undivided.IsFound()) return absl::OkStatus();
  plan->pieces = std::move(divided.pieces);
  plan->clock_divisor = UndividedClock::kDivisor;
  return absl::OkStatus();
}

// Replaces the trace of this plan with that of the other plan if that has more events. In either
// case, adds the other plan's generations and faults.
void Join(RepairPlan other, RepairPlan* plan) {
  RepairPlan& loser = other.events > plan->events ? *plan : other;
  for (RepairedGeneration& generation : loser.generations) {
    if (generation.events > 0) LeaveApart(&generation);
  }
  if (&loser == plan) {
    plan->version = other.version;
    plan->header_offset = other.header_offset;
    plan->pieces = std::move(other.pieces);
    plan->events = other.events;
    plan->output_bytes = other.output_bytes;
  }
  plan->generations.insert(plan->generations.end(), other.generations.begin(),
                           other.generations.end());
  if (other.cut_off.has_value()) plan->cut_off = std::move(other.cut_off);
  plan->stray.insert(plan->stray.end(), other.stray.begin(), other.stray.end());
  plan->stray_bytes += other.stray_bytes;
  plan->damaged_batches += other.damaged_batches;
  plan->unreadable_bytes += other.unreadable_bytes;
  if (!plan->first_text.has_value()) plan->first_text = std::move(other.first_text);
  plan->text_pieces += other.text_pieces;
  plan->text_bytes += other.text_bytes;
  if (other.input_fault.has_value()) plan->input_fault = std::move(other.input_fault);
}

bool PassesLimit(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  return fault.has_value() && IsLimit(fault->id);
}

// Reads everything after the last trace.
absl::Status ReadRest(ByteSource* source, RepairPlan* plan) {
  const absl::Status status = ReadToEnd(source);
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value()) return status;
  // Damaged compression there does not affect the traces before it.
  plan->input_fault = fault;
  return absl::OkStatus();
}

// The regions of each trace in the input.
using Regions = std::vector<std::unique_ptr<RegionRewriter>>;

// Plans the next trace of the source. Clears `*regions_nest` if its regions do not nest, and sets
// `*next` to the offset of another trace after it, if any.
absl::Status PlanTrace(ByteSource* source, const ReaderLimits& limits, RegionRewriter* regions,
                       RepairPlan* plan, bool* regions_nest, std::optional<uint64_t>* next) {
  TraceCollector collector(plan);
  if (absl::Status status = collector.Open(source, limits); !status.ok()) return status;
  RepairPlanner planner(regions, plan);
  absl::Status status = collector.ReadAll(
      [&](CollectedGeneration generation) { planner.Add(std::move(generation)); });
  if (!status.ok()) return status;
  planner.Finish();
  *regions_nest &= collector.regions_nest();
  *next = collector.next_trace();
  return status;
}

// Plans each of the consecutive traces in the input, and keeps the best plan. `regions` is nullptr,
// or empty and will be filled, or was filled by an earlier call. Clears `*regions_nest` if the
// regions of any trace do not nest.
absl::Status PlanTraces(ByteSource* source, const ReaderLimits& limits, Regions* regions,
                        RepairPlan* plan, bool* regions_nest) {
  plan->events = 0;
  bool is_first = true;
  size_t index = 0;
  for (std::optional<uint64_t> next = 0; next.has_value(); ++index) {
    RepairPlan part;
    if (regions != nullptr && index == regions->size()) {
      regions->push_back(std::make_unique<RegionRewriter>());
    }
    RegionRewriter* const its_regions = regions == nullptr ? nullptr : (*regions)[index].get();
    if (absl::Status status = PlanTrace(source, limits, its_regions, &part, regions_nest, &next);
        !status.ok()) {
      // The first trace may be followed by data that is not a trace. I/O errors and exceeded limits
      // are returned: there may be more of the trace after them.
      const bool may_end = FaultOf(status).has_value() && !PassesLimit(status);
      if (is_first || !may_end) return status;
      break;
    }
    if (std::exchange(is_first, false)) {
      *plan = std::move(part);
    } else {
      Join(std::move(part), plan);
    }
  }
  return ReadRest(source, plan);
}

// Plans the traces of the input. If regions do not nest, this needs a second pass, because where a
// region is written depends on all events after its begin.
absl::Status PlanInput(UndoneInputs* inputs, const ReaderLimits& limits, bool regions_nest,
                       RepairPlan* plan) {
  Regions regions;
  const auto plan_traces = [&](Regions* regions) {
    *plan = RepairPlan();
    const absl::StatusOr<std::unique_ptr<ByteSource>> source = inputs->Open();
    return source.ok() ? PlanTraces(source->get(), limits, regions, plan, &regions_nest)
                       : source.status();
  };
  if (regions_nest) {
    absl::Status status = plan_traces(nullptr);
    if (!status.ok() || regions_nest) return status;
  }
  if (absl::Status status = plan_traces(&regions); !status.ok()) return status;
  bool has_changes = false;
  for (const std::unique_ptr<RegionRewriter>& trace : regions) {
    trace->Plan();
    has_changes |= trace->has_changes();
  }
  return has_changes ? plan_traces(&regions) : absl::OkStatus();
}

// Returns a function that opens the same input, which can be stopped. Both arguments must outlive
// it.
OpenInput Stoppable(const OpenInput& open, const std::function<bool()>& keep_going) {
  return [&open, &keep_going]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
    if (!source.ok()) return source;
    return StoppableSource::Wrap(*std::move(source), keep_going);
  };
}

}  // namespace
}  // namespace gotrace::internal

namespace gotrace {

RegionChanges& RegionChanges::operator+=(const RegionChanges& other) {
  ends_delayed += other.ends_delayed;
  max_delay_ns = std::max(max_delay_ns, other.max_delay_ns);
  regions_moved += other.regions_moved;
  goroutines_added += other.goroutines_added;
  ends_dropped += other.ends_dropped;
  return *this;
}

absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open_input, const RepairOptions& options) {
  const ReaderLimits& limits = options.limits;
  const OpenInput open = internal::Stoppable(open_input, options.keep_going);
  RepairPlan plan;
  internal::UndoneInputs inputs(open, limits);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = inputs.Open();
  if (!source.ok()) return source.status();
  internal::Frequencies frequencies;
  const absl::StatusOr<Version> version =
      internal::ReadStrictly(source->get(), limits, &plan, &frequencies);
  if ((!version.ok() && !FaultOf(version.status()).has_value()) ||
      internal::PassesLimit(version.status())) {
    return version.status();
  }
  plan.trace_is_sound = version.ok();
  if (plan.trace_is_sound) {
    if (absl::Status status = internal::ReadToEnd(source->get()); !status.ok()) return status;
    plan.version = *version;
    plan.output_bytes = inputs.bytes()->size;
    plan.pieces.push_back({0, plan.output_bytes, ""});
  } else {
    const bool regions_nest = FaultOf(version.status())->id != FaultId::kRegionNesting;
    if (absl::Status status = internal::PlanInput(&inputs, limits, regions_nest, &plan);
        !status.ok()) {
      return status;
    }
  }
  while (!plan.trace_is_sound && !plan.pieces.empty()) {
    const absl::Status status = internal::Verify(&inputs, limits, &plan, &frequencies);
    if (status.ok()) break;
    const std::optional<Fault> fault = FaultOf(status);
    if (!fault.has_value()) return status;
    internal::KeepBefore(*fault, &plan);
  }
  if (!plan.pieces.empty()) {
    absl::Status status = internal::DivideFrequencies(frequencies, &inputs, limits, &plan);
    if (!status.ok()) return status;
  }
  plan.notes = inputs.notes();
  plan.input_bytes = inputs.bytes()->size;
  plan.input_hash = inputs.bytes()->hash;
  for (const RepairedGeneration& generation : plan.generations) plan.regions += generation.regions;
  return plan;
}

absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = internal::UndoneInputs(open, plan).Open();
  if (!source.ok()) return source.status();
  return internal::ReadPieces(plan.pieces, *std::move(source));
}

absl::Status Repair(const OpenInput& open, RepairSink sink, RepairPlan* plan,
                    const RepairOptions& options) {
  RepairPlan own_plan;
  if (plan == nullptr) plan = &own_plan;
  absl::StatusOr<RepairPlan> planned = PlanRepair(open, options);
  if (!planned.ok()) return planned.status();
  *plan = *std::move(planned);
  if (plan->pieces.empty()) {
    return absl::DataLossError("no generation of the trace can be saved");
  }
  const OpenInput stoppable = internal::Stoppable(open, options.keep_going);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(*plan, stoppable);
  if (!stream.ok()) return stream.status();
  std::string block(internal::kCopyBlock, '\0');
  while (true) {
    const absl::StatusOr<size_t> size = (*stream)->Read(block.data(), block.size());
    if (!size.ok()) return size.status();
    if (*size == 0) return absl::OkStatus();
    if (absl::Status status = sink(absl::string_view(block).substr(0, *size)); !status.ok()) {
      return status;
    }
  }
}

absl::StatusOr<std::string> RepairBytes(absl::string_view bytes, RepairPlan* plan,
                                        const RepairOptions& options) {
  std::string repaired;
  const auto append = [&](absl::string_view part) {
    repaired.append(part.data(), part.size());
    return absl::OkStatus();
  };
  absl::Status status =
      Repair([&] { return SourceFromBytes(bytes, options.limits); }, append, plan, options);
  if (!status.ok()) return status;
  return repaired;
}

}  // namespace gotrace
